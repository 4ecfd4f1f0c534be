/* Slow, obviously right judges of number_*: the C library's printf and strtod, which round exactly. */
#ifndef TESTS_API_NUMBER_CHECK_H
#define TESTS_API_NUMBER_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* number_read gives strtod's value, bit for bit, and ends where the text ends. */
bool number_check_read(const char *text, size_t length);

/* The print is in the form of number.h, has the fewest digits that read back, and is the nearest of those. Any bits
 * that are a finite value. */
bool number_check_float64(double value);
bool number_check_float32(float value);

/* As the one above with fewer library calls, for all of them: the print reads back, no shorter one does, no other of
 * that length is nearer. */
bool number_check_float32_quickly(float value);

/* The print is what "%.*f" says, less zeros at the end. */
bool number_check_rounded(double value, int decimals);

/* Pseudo-random numbers (SplitMix64, Steele, Lea and Flood 2014). */
uint64_t number_check_random(uint64_t *state);

/* Random values: any bits, or near what people send. Finite. */
double number_check_draw_float64(uint64_t *state);

/* A random or adversarial JSON number; `text` has room for NUMBER_CHECK_TEXT. Returns its length. */
#define NUMBER_CHECK_TEXT 2048
size_t number_check_draw_text(uint64_t *state, char *text);

#endif
