/* Random numbers that are the same everywhere: splitmix64 (Steele, Lea, Flood 2014). */
#ifndef TESTS_CORE_DRAW_H
#define TESTS_CORE_DRAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Initialise with {seed}. */
struct draw {
    uint64_t state;
};

uint64_t draw_bits(struct draw *draw);
double draw_unit(struct draw *draw);                                /* in [0, 1) */
double draw_real(struct draw *draw);                                /* roughly normal, variance 1 */
size_t draw_size(struct draw *draw, size_t low, size_t high);       /* low .. high */
int64_t draw_integer(struct draw *draw, int64_t low, int64_t high); /* low .. high */
bool draw_chance(struct draw *draw, unsigned percent);

#endif
