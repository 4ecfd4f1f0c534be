/* Numbers in text for people: so many decimals, aligned. */
#ifndef API_FIGURE_H
#define API_FIGURE_H

#include "core/tensor.h"

#include <stddef.h>

#define FIGURE_TEXT 48

/* `value` with exactly `decimals` places, trailing zeros kept; beyond 1e9 in magnitude with an exponent; "-inf" and "-"
 * (NaN). A negative number that rounds to zero has no sign. */
char *figure_print(char out[FIGURE_TEXT], double value, int decimals);

/* The shortest text of a number of that dtype, as the request had it. */
char *figure_exact(char out[FIGURE_TEXT], double value, enum dtype dtype);

/* Element `at` of numbers of a dtype (booleans: 0 or 1). */
double figure_at(enum dtype dtype, const void *values, size_t at);

#endif
