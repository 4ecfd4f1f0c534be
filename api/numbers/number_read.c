/* Reading numbers: digits eight at a time, then one multiplication by a 128-bit power of ten; where that cannot decide
 * the last bit (about one number in 10^18, or an exact tie), strtod does.
 *
 * The method is Clinger's for short numbers (How to read floating point numbers accurately, 1990) and, for the others,
 * that of Eisel and Lemire (Number parsing at a gigabyte per second, 2021). */
#include "api/numbers/number.h"

#include "api/numbers/number_powers.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 uint128;

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the first digit is the lowest byte of a word");

#define NOINLINE __attribute__((noinline)) /* keeps what is seldom needed out of the registers of what is */

#define ONES UINT64_C(0x0101010101010101)
#define MANTISSA_BITS 52
#define EXPONENT_BIAS 1075 /* of a mantissa that is a whole number of 53 bits */
#define WORD_DIGITS 19     /* decimal digits that always fit 64 bits */

static inline double from_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Signs are as good as random: no branch. */
static inline double with_sign(double value, bool negative)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return from_bits(bits | (uint64_t)negative << 63);
}

/* w * 10^p = (u + less than 2) * 2^scale, u of 127 or 128 bits. The 53 leading bits of u, rounded to nearest, are those
 * of the true value unless u lies within 2 below a middle between two doubles. False: undecided, or subnormal. */
static NOINLINE bool multiply_power(uint64_t w, int p, double *value)
{
    struct number_power power = number_powers[p - NUMBER_POWERS_FIRST];
    int zeros = __builtin_clzll(w);
    w <<= zeros;
    uint128 u = (uint128)w * power.high + (uint64_t)(((uint128)w * power.low) >> 64);
    int top = (int)(u >> 127);
    int shift = 127 - MANTISSA_BITS - 1 + top;
    uint64_t mantissa = (uint64_t)(u >> shift);
    uint128 rest = u & (((uint128)1 << shift) - 1);
    uint128 half = (uint128)1 << (shift - 1);
    int exponent = shift + number_power_log2(p) - 63 - zeros + EXPONENT_BIAS;
    if (rest - (half - 1) < 2 || exponent <= 0)
        return false;
    /* Rounding up to 2^53 carries into the exponent, which is what it should do. */
    uint64_t bits = ((uint64_t)exponent << MANTISSA_BITS) + (mantissa - (UINT64_C(1) << MANTISSA_BITS)) + (rest > half);
    *value = exponent >= 2047 ? HUGE_VAL : from_bits(bits);
    return true;
}

#define WHOLE_MAX (UINT64_C(1) << 53) /* whole numbers up to here are doubles without error */
#define TENS_MAX 22                   /* and powers of ten up to this one */

static const double tens[TENS_MAX + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                          1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* The double nearest to w * 10^exponent; false: undecided. */
static bool convert(uint64_t w, int64_t exponent, double *value)
{
    if (w <= WHOLE_MAX && exponent <= 0 && exponent >= -TENS_MAX)
        *value = (double)w / tens[-exponent];          /* one operation, so it rounds correctly */
    else if (w == 0 || exponent < NUMBER_POWERS_FIRST) /* below half of the smallest double: 2^64 * 10^-344 */
        *value = 0;
    else if (exponent > 308)
        *value = HUGE_VAL;
    else
        return multiply_power(w, (int)exponent, value);
    return true;
}

/* High bits mark the bytes that are no digits; `digits` becomes the bytes less '0'. */
static inline uint64_t find_others(uint64_t *digits)
{
    *digits ^= '0' * ONES;
    return (((*digits & 0x7f * ONES) + (0x80 - 10) * ONES) | *digits) & 0x80 * ONES;
}

/* Eight digits, the first in the lowest byte. */
static inline uint64_t join_eight(uint64_t digits)
{
    const uint64_t mask = UINT64_C(0x000000ff000000ff);
    digits = digits * 10 + (digits >> 8);
    uint64_t upper = (digits & mask) * (100 + (UINT64_C(1000000) << 32));
    uint64_t lower = ((digits >> 16) & mask) * (1 + (UINT64_C(10000) << 32));
    return (upper + lower) >> 32;
}

static inline uint64_t load_eight(const char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static inline unsigned digit_at(const char *at)
{
    return (unsigned char)(*at - '0');
}

/* The digits at `at`, up to 24, behind those in *w, which is right while there are no more than WORD_DIGITS. */
static inline const char *join_digits(const char *at, uint64_t *w)
{
    static const uint64_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
    for (int words = 0; words < 3; words++, at += 8) {
        uint64_t digits = load_eight(at);
        uint64_t others = find_others(&digits);
        if (others) {
            int count = __builtin_ctzll(others) / 8;
            *w = *w * powers[count] + join_eight(digits << (56 - 8 * count) << 8);
            return at + count;
        }
        *w = *w * 100000000 + join_eight(digits);
    }
    return at;
}

#define EXPONENT_FAR INT64_C(1000000000000000000) /* further than any text is long */

/* After the "e"; NULL when no exponent stands there. */
static const char *read_exponent(const char *at, const char *end, int64_t *exponent)
{
    bool negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    const char *start = at;
    int64_t value = 0;
    for (; at < end && digit_at(at) <= 9; at++)
        value = value < EXPONENT_FAR / 100 ? value * 10 + digit_at(at) : value;
    *exponent += negative ? -value : value;
    return at == start ? NULL : at;
}

/* Where the parts of a number lie; without a point the fraction is empty. */
struct parts {
    const char *whole, *whole_end, *fraction, *fraction_end;
    int64_t exponent;
};

static const char *skip_digits(const char *at, const char *end)
{
    while (at < end && digit_at(at) <= 9)
        at++;
    return at;
}

static const char *split(const char *at, const char *end, struct parts *parts)
{
    *parts = (struct parts){.whole = at};
    parts->whole_end = skip_digits(at, end);
    parts->fraction = parts->fraction_end = parts->whole_end;
    if (parts->whole_end == at || (*at == '0' && parts->whole_end > at + 1))
        return NULL;
    at = parts->whole_end;
    if (at < end && *at == '.') {
        parts->fraction = at + 1;
        parts->fraction_end = at = skip_digits(at + 1, end);
        if (at == parts->fraction)
            return NULL;
    }
    if (at < end && (*at == 'e' || *at == 'E'))
        return read_exponent(at + 1, end, &parts->exponent);
    return at;
}

/* The digits of all parts from the first that is not zero: the first `room` go to `digits`, *count says how many
 * were taken, *cut whether one left out is not zero. Returns the exponent of the last one taken. */
static int64_t collect(const struct parts *parts, char *digits, size_t room, size_t *count, bool *cut)
{
    int64_t exponent = parts->exponent - (parts->fraction_end - parts->fraction);
    const char *at = parts->whole;
    *count = 0;
    *cut = false;
    for (; at < parts->fraction_end; at++) {
        if (at == parts->whole_end && at < parts->fraction)
            continue; /* the point */
        if (*count == room) {
            *cut |= *at != '0';
            exponent++;
        } else if (*count > 0 || *at != '0')
            digits[(*count)++] = *at;
    }
    return exponent;
}

/* A middle between two doubles has at most 767 significant digits, so what stands behind 800 matters only by being
 * there. Without a point the text means the same in every locale. */
#define EXACT_DIGITS 800

#define EXACT_TEXT (EXACT_DIGITS + 40)

/* Writes what strtod and strtof round as they would the number itself. */
static void write_exactly(const struct parts *parts, char *text)
{
    size_t count;
    bool cut;
    int64_t exponent = collect(parts, text, EXACT_DIGITS, &count, &cut);
    if (cut) {
        text[count++] = '1';
        exponent--;
    }
    char *out = text + count;
    if (count == 0)
        *out++ = '0';
    *out++ = 'e';
    *out++ = exponent < 0 ? '-' : '+';
    uint64_t size = (uint64_t)(exponent < 0 ? -exponent : exponent);
    char reversed[24];
    int digits = 0;
    for (; size > 0 || digits == 0; size /= 10)
        reversed[digits++] = (char)('0' + size % 10);
    while (digits > 0)
        *out++ = reversed[--digits];
    *out = '\0';
}

static double convert_exactly(const struct parts *parts)
{
    char text[EXACT_TEXT];
    write_exactly(parts, text);
    return strtod(text, NULL);
}

float number_read_float32(const char *start, const char *end)
{
    char text[EXACT_TEXT];
    struct parts parts;
    bool negative = *start == '-';
    split(start + negative, end, &parts);
    write_exactly(&parts, text);
    float size = strtof(text, NULL);
    return negative ? -size : size;
}

static bool convert_parts(const struct parts *parts, double *value)
{
    char digits[WORD_DIGITS];
    size_t count;
    bool cut;
    uint64_t w = 0;
    double above;
    int64_t exponent = collect(parts, digits, WORD_DIGITS, &count, &cut);
    for (size_t i = 0; i < count; i++)
        w = w * 10 + (uint64_t)(digits[i] - '0');
    if (!convert(w, exponent, value))
        return false;
    return !cut || (convert(w + 1, exponent, &above) && above == *value);
}

static NOINLINE const char *read_any(const char *at, const char *end, double *value)
{
    struct parts parts;
    bool negative = at < end && *at == '-';
    const char *after = split(at + negative, end, &parts);
    if (!after)
        return NULL;
    double size;
    if (!convert_parts(&parts, &size))
        size = convert_exactly(&parts);
    *value = with_sign(size, negative);
    return after;
}

/* The number at `start`, whose digits w end at `at` with -exponent of them behind the point: what comes after them, and
 * what one operation does not convert. It takes over by a tail call, and so does read_any: number_read needs no stack.
 */
static NOINLINE const char *finish(const char *start, const char *end, double *value, const char *at, uint64_t w,
                                   int64_t exponent)
{
    const char *after = at;
    double size;
    if ((*at | 0x20) == 'e')
        after = read_exponent(at + 1, end, &exponent);
    if (!after || !convert(w, exponent, &size))
        return read_any(start, end, value);
    *value = with_sign(size, *start == '-');
    return after;
}

#define SHORT_BYTES 64 /* that are looked at without asking where the text ends */
#define SHORT_WHOLE 10 /* digits before the point that are taken then */

const char *number_read(const char *start, const char *end, double *value)
{
    if (end - start < SHORT_BYTES)
        return read_any(start, end, value);
    bool negative = *start == '-';
    const char *first = start + negative;
    const char *at = first + 1;
    uint64_t w = digit_at(first);
    if (w > 9)
        return NULL;
    if (*at != '.') {
        for (; w != 0 && digit_at(at) <= 9 && at - first < SHORT_WHOLE; at++)
            w = w * 10 + digit_at(at);
        if (digit_at(at) <= 9)
            return read_any(start, end, value);
    }
    int64_t places = 0;
    if (*at == '.') {
        const char *point = at + 1;
        at = join_digits(point, &w);
        places = at - point;
        if (places == 0 || at - first > WORD_DIGITS + 1)
            return read_any(start, end, value);
    }
    if ((*at | 0x20) == 'e' || w > WHOLE_MAX || places > TENS_MAX)
        return finish(start, end, value, at, w, -places);
    *value = with_sign((double)(int64_t)w / tens[places], negative);
    return at;
}
