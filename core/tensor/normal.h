/* Seeded numbers that anybody can make again: splitmix64 (Steele, Lea, Flood 2014) and, from it, N(0, 1) by Box and
 * Muller 1958. */
#ifndef CORE_TENSOR_NORMAL_H
#define CORE_TENSOR_NORMAL_H

#include <stddef.h>
#include <stdint.h>

/* Initialise with {seed}. */
struct normal {
    uint64_t state;
};

/* The next 64 bits: state += 0x9E3779B97F4A7C15, then mixed. */
uint64_t normal_bits(struct normal *normal);

/* How splitmix64 mixes its state. */
uint64_t normal_mix(uint64_t state);

/* `count` numbers, two of each pair of draws: u1 = ((bits >> 11) + 1) 2^-53, u2 = (bits >> 11) 2^-53, r = sqrt(-2 ln
 * u1): r cos(2 pi u2), then r sin(2 pi u2). The sine of the last pair is dropped where `count` is odd. Equal to other
 * implementations to rounding (libm). */
void normal_fill(struct normal *normal, double *out, size_t count);

#endif
