/* Numbers in text for people: so many decimals, aligned. */
#ifndef API_NUMBERS_DECIMAL_TEXT_H
#define API_NUMBERS_DECIMAL_TEXT_H

#include "core/tensor/tensor.h"

#include <stddef.h>

#define DECIMAL_TEXT_SIZE 48

/* `value` with exactly `decimals` places, trailing zeros kept; beyond 1e9 in magnitude with an exponent; "-inf" and "-"
 * (NaN). A negative number that rounds to zero has no sign. */
char *decimal_text_print(char out[DECIMAL_TEXT_SIZE], double value, int decimals);

/* The shortest text of a number of that dtype, as the request had it. */
char *decimal_text_exact(char out[DECIMAL_TEXT_SIZE], double value, enum dtype dtype);

#endif
