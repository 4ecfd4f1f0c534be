/* Numbers as text, exact in both directions, independent of the locale. */
#ifndef API_NUMBERS_NUMBER_H
#define API_NUMBERS_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

#define NUMBER_TEXT_MAX 400 /* room that any number_print_* call may use: a fixed print of 1e308 with 17 decimals */

/* Reads one JSON number (RFC 8259 section 6) that starts at `start`, not past `end`: the value that strtod gives, the
 * sign of zero kept. Returns the byte after it, or NULL when no number stands there. A value beyond double is infinite
 * (the caller decides what that means). Grammar: "-"? (0 | [1-9][0-9]*) ("." [0-9]+)? ([eE] [+-]? [0-9]+)?; what
 * follows the number is not looked at, except that "01" or "1." are no numbers. */
const char *number_read(const char *start, const char *end, double *value);

/* The shortest decimal that reads back to the same double (float64) or, read at once or by way of a double, to the same
 * float (float32), nearest to the true value among those; written without a terminating NUL; returns the end. Finite
 * values only. At most 32 bytes. Form: plain digits while the decimal exponent is -5 .. 20 ("0.00001", "120", "-0"; no
 * trailing ".0"), else "1e-7", "1.5e+21" as JavaScript prints them. */
char *number_print_float64(char *out, double value);
char *number_print_float32(char *out, float value);

/* `value` rounded to `decimals` (0 .. 17) places, half to even on the true binary value, trailing zeros and a trailing
 * point dropped ("0.5", "2", "-0"); at most NUMBER_TEXT_MAX bytes. Finite values only. */
char *number_print_rounded(char *out, double value, int decimals);

#endif
