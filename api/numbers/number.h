/* Numbers as text, exact in both directions, independent of the locale. */
#ifndef API_NUMBERS_NUMBER_H
#define API_NUMBERS_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define NUMBER_TEXT_MAX 64 /* room that any number_print_* call may use: 16 digits, a point, 17 decimals, scratch */

/* Bytes of the shortest decimal of each type at most ("-120000000000000000000"), and of a rounded number without its
 * decimals (-1e308, a sign and a point). */
#define NUMBER_FLOAT32_MAX 23
#define NUMBER_FLOAT64_MAX 26
#define NUMBER_FLOAT32_WHOLE_MAX 41
#define NUMBER_FLOAT64_WHOLE_MAX 311

/* Reads one JSON number (RFC 8259 section 6) that starts at `start`, not past `end`: the value that strtod gives, the
 * sign of zero kept. Returns the byte after it, or NULL when no number stands there. A value beyond double is infinite
 * (the caller decides what that means). Grammar: "-"? (0 | [1-9][0-9]*) ("." [0-9]+)? ([eE] [+-]? [0-9]+)?; what
 * follows the number is not looked at, except that "01" or "1." are no numbers. */
const char *number_read(const char *start, const char *end, double *value);

/* The float nearest to the number at `start`, which number_read takes: rounded once, infinite past the largest float.
 * It differs from the float nearest to number_read's double at most where that lies halfway between two floats. Slow.
 */
float number_read_float32(const char *start, const char *end);

/* Whether a double lies halfway between two floats, or between the largest and what the next would be. */
static inline bool number_is_halfway(double value)
{
    uint64_t bits;
    double size = value < 0 ? -value : value;
    memcpy(&bits, &value, sizeof bits);
    if (size >= 0x1p-126 || size < 0x1p-150) /* normal floats; less than half of the smallest */
        return (bits & 0x1fffffff) == 0x10000000;
    double units = size * 0x1p149;
    return units - (double)(uint32_t)units == 0.5;
}

/* The shortest decimal that reads back to the same double (float64) or, read at once or by way of a double, to the same
 * float (float32), nearest to the true value among those; written without a terminating NUL; returns the end. Finite
 * values only. At most 32 bytes. Form: plain digits while the decimal exponent is -5 .. 20 ("0.00001", "120", "-0"; no
 * trailing ".0"), else "1e-7", "1.5e+21" as JavaScript prints them; from 2^53 on the shorter of "9007199254740992.0"
 * and "1e+20", since readers take digits alone for an integer. */
char *number_print_float64(char *out, double value);
char *number_print_float32(char *out, float value);

/* `value` rounded to `decimals` (0 .. 17) places, half to even on the true binary value, trailing zeros and a trailing
 * point dropped ("0.5", "2", "-0"), from 2^53 on as number_print_float64 does; at most NUMBER_TEXT_MAX bytes. Finite
 * values only. */
char *number_print_rounded(char *out, double value, int decimals);

#endif
