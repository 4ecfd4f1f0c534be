/* Printing the shortest decimal that reads back, by Giulietti's Schubfach.
 *
 * Raffaello Giulietti, The Schubfach way to render doubles, 2021: among the multiples of 10^k, where 10^k is the
 * largest power of ten not wider than the gap between a number's neighbours, at most one lies in its rounding interval
 * with a zero at its end, and at most two others next to the number. tests/numbers/powers.py proves that 128 bits of
 * 10^-k are enough for doubles; for floats, whose 2^32 values can all be tried, `make numbers` shows that 64 are. */
#include "api/numbers/number.h"

#include "api/numbers/number_digits.h"
#include "api/numbers/number_powers.h"

#include <stdint.h>
#include <string.h>

/* digits * 10^exponent; the digits may end in zeros. */
struct decimal {
    uint64_t digits;
    int exponent;
};

/* Four times: the number, the ends of its rounding interval, all in units of 10^k; the last bit stands for all that
 * is below it. `odd`: the ends do not belong to the interval. */
struct interval {
    uint64_t low, value, high;
    uint64_t odd;
};

/* Which case holds is as good as random, so it is decided by masks: a branch would be guessed wrong half of the time.
 */
INLINE uint64_t choose_digits(struct interval in)
{
    uint64_t s = in.value >> 2;
    uint64_t ten = s / 10 * 10;
    unsigned ten_below = in.low + in.odd <= 4 * ten;
    unsigned ten_above = 4 * ten + 40 + in.odd <= in.high;
    unsigned below = in.low + in.odd <= 4 * s;
    unsigned above = 4 * s + 4 + in.odd <= in.high;
    unsigned nearer_above = in.value + (s & 1) > 4 * s + 2;
    unsigned only = below ^ above;
    uint64_t one = s + ((only & above) | (~only & nearer_above));
    uint64_t use_ten = -(uint64_t)(ten_below ^ ten_above);
    return one ^ ((one ^ (ten + 10 * ten_above)) & use_ten);
}

/* n * power / 2^64, the last bit standing for the rest; the power is at most one unit too large, so up to n is no rest.
 */
INLINE uint64_t scale_float32(uint64_t n, uint64_t power)
{
    uint128 product = (uint128)n * power;
    return (uint64_t)(product >> 64) | ((uint64_t)product > n);
}

INLINE uint64_t scale_float64(uint64_t n, struct number_power power)
{
    uint128 low = (uint128)n * power.low;
    uint128 product = (uint128)n * power.high + (uint64_t)(low >> 64);
    return (uint64_t)(product >> 64) | ((uint64_t)product != 0 || (uint64_t)low > n);
}

/* floor(log10(2^q)), or of 3/4 of it when the interval is narrower below (the number is a power of two). */
INLINE int find_k(int q, bool narrow)
{
    return (q * 1262611 - (narrow ? 524031 : 0)) >> 22;
}

/* The one float whose shortest decimal, 7.038531e-26, is another float to whoever reads it as a double first: that
 * double lies halfway between the two. It takes a digit more. */
#define TWICE_ROUNDED 0x15ae43fd
static const struct decimal twice_rounded = {70385307, -33};

INLINE struct decimal shorten_float32(uint32_t bits)
{
    uint32_t fraction = bits & 0x7fffff;
    int field = (int)(bits >> 23 & 0xff);
    uint64_t c = fraction | (uint32_t)(field != 0) << 23;
    int q = field - 150 + (field == 0);
    bool narrow = fraction == 0 && field > 1;
    int k = find_k(q, narrow);
    int shift = q + number_power_log2(-k) + 1;
    uint64_t power = number_powers[-k - NUMBER_POWERS_FIRST].high + 1;
    struct interval in = {.low = scale_float32((4 * c - 2 + narrow) << shift, power),
                          .value = scale_float32((4 * c) << shift, power),
                          .high = scale_float32((4 * c + 2) << shift, power),
                          .odd = c & 1};
    return (struct decimal){choose_digits(in), k};
}

static __attribute__((noinline)) struct decimal shorten_float64(uint64_t bits)
{
    uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
    int field = (int)(bits >> 52 & 0x7ff);
    uint64_t c = fraction | (uint64_t)(field != 0) << 52;
    int q = field - 1075 + (field == 0);
    bool narrow = fraction == 0 && field > 1;
    int k = find_k(q, narrow);
    int shift = q + number_power_log2(-k) + 1;
    struct number_power power = number_powers[-k - NUMBER_POWERS_FIRST];
    power.low++;
    struct interval in = {.low = scale_float64((4 * c - 2 + narrow) << shift, power),
                          .value = scale_float64((4 * c) << shift, power),
                          .high = scale_float64((4 * c + 2) << shift, power),
                          .odd = c & 1};
    return (struct decimal){choose_digits(in), k};
}

/* How many digits n > 0 has. 1233 / 4096 is log10(2) closely enough for 64 bits. */
INLINE int count_digits(uint64_t n)
{
    int guess = (64 - __builtin_clzll(n)) * 1233 >> 12;
    return guess + (n >= tens[guess]);
}

static char *print_exponent(char *out, int exponent)
{
    *out++ = 'e';
    *out++ = exponent < 0 ? '-' : '+';
    int size = exponent < 0 ? -exponent : exponent;
    if (size >= 100)
        *out++ = (char)('0' + size / 100);
    if (size >= 10)
        *out++ = (char)('0' + size / 10 % 10);
    *out++ = (char)('0' + size % 10);
    return out;
}

static char *print_scientific(char *out, const char *digits, int count, int exponent)
{
    *out++ = digits[0];
    if (count > 1)
        *out++ = '.';
    memcpy(out, digits + 1, (size_t)count - 1);
    return print_exponent(out + count - 1, exponent);
}

#define PLAIN_FIRST (-5) /* decimal exponents of numbers without one in their text */
#define PLAIN_LAST 20

/* 2^53 or more: readers take digits alone for an integer, which may not fit what they have for those. */
static char *print_large(char *out, const char *digits, int count, int exponent)
{
    int with_exponent = count + (count > 1) + 4; /* "." and "e+20" */
    int with_point = exponent + 1 + 2;           /* ".0" */
    if (with_exponent >= with_point) {
        memset(out, '0', (size_t)exponent + 1);
        memcpy(out, digits, (size_t)count);
        memcpy(out + exponent + 1, ".0", 2);
        return out + with_point;
    }
    return print_scientific(out, digits, count, exponent);
}

/* Any form: `count` digits, the first of which counts 10^exponent. */
static char *print_any(char *out, const char *digits, int count, int exponent, bool large)
{
    if (exponent < PLAIN_FIRST || exponent > PLAIN_LAST)
        return print_scientific(out, digits, count, exponent);
    if (large)
        return print_large(out, digits, count, exponent);
    for (int i = exponent < 0 ? exponent : 0; i < count || i <= exponent; i++) {
        *out++ = i >= 0 && i < count ? digits[i] : '0';
        if ((i == exponent && i < count - 1))
            *out++ = '.';
    }
    return out;
}

/* Digits of a normal float that is no power of two: v = (i + f / 2^64) * 10^k. Its interval reaches at least half a
 * unit to both sides, so the nearest whole number is always in it, and all that is left to ask is whether a multiple of
 * ten is. What the power lacks changes both sides of a comparison by less than SLACK: within that they are equal (and
 * then the interval's end belongs to it if c is even). For all floats this gives what choose_digits gives: `make
 * numbers`. */
#define SLACK (UINT64_C(1) << 25)
#define TEN (UINT64_C(10) << 60)

/* Up to eight digits and the one after them. */
struct split {
    uint32_t tens, ones;
};

INLINE struct split round_digits(uint32_t c, const struct number_float32 *step)
{
    uint64_t odd = c & 1;
    uint128 product = (uint128)((uint64_t)c << step->shift) * step->power;
    uint32_t i = (uint32_t)(product >> 64);
    uint64_t f = (uint64_t)product;
    uint32_t ten = i / 10;
    uint32_t ones = i - ten * 10;
    uint64_t past_ten = (uint64_t)ones << 60 | f >> 4;
    uint64_t reach = step->reach + SLACK - 2 * SLACK * odd;
    uint32_t above = past_ten >= TEN - reach;
    uint32_t keep = ((past_ten <= reach) - 1U) & (above - 1U); /* all bits, when no multiple of ten will do */
    ones += f >= (UINT64_C(1) << 63) + 16 * SLACK - 32 * SLACK * (i & 1);
    above |= keep & (ones == 10);
    return (struct split){ten + above, ones & keep & (above - 1)};
}

/* Where nine digits go when the first counts 10^exponent: before the point those of `mask`, the others `later` bytes
 * further on, over zeros and a point. `lead` characters stand before the point. */
struct form {
    uint64_t mask, zeros;
    int later, lead;
};

#define FORM_FIRST (-5)
#define FORM_LAST 6

static const struct form forms[] = {
    {0x0000000000000000, 0x3030303030302e30, 6, 1}, /* 10^-5 */
    {0x0000000000000000, 0x3030303030302e30, 5, 1}, /* 10^-4 */
    {0x0000000000000000, 0x3030303030302e30, 4, 1}, /* 10^-3 */
    {0x0000000000000000, 0x3030303030302e30, 3, 1}, /* 10^-2 */
    {0x0000000000000000, 0x3030303030302e30, 2, 1}, /* 10^-1 */
    {0x00000000000000ff, 0x3030303030302e30, 1, 1}, /* 10^0 */
    {0x000000000000ffff, 0x30303030302e3030, 1, 2}, /* 10^1 */
    {0x0000000000ffffff, 0x303030302e303030, 1, 3}, /* 10^2 */
    {0x00000000ffffffff, 0x3030302e30303030, 1, 4}, /* 10^3 */
    {0x000000ffffffffff, 0x30302e3030303030, 1, 5}, /* 10^4 */
    {0x0000ffffffffffff, 0x302e303030303030, 1, 6}, /* 10^5 */
    {0x00ffffffffffffff, 0x2e30303030303030, 1, 7}, /* 10^6 */
};

/* Digits stand behind the point: the first eight, the first in the lowest byte, once more with the point. */
INLINE char *put_point(char *out, const struct form *form, uint64_t eight, int used)
{
    uint64_t before = eight & form->mask;
    uint64_t text = before + ((eight - before) << (8 * form->later)) + form->zeros;
    memcpy(out, &text, sizeof text);
    int length = used + form->later; /* the point included */
    return out + (length > form->lead + 1 ? length : form->lead);
}

/* The first in the lowest byte of `eight` and the last on its own, of which `used` are wanted. */
INLINE char *print_nine(char *out, uint64_t eight, uint32_t last, int used, int exponent)
{
    const struct form *form = &forms[exponent - FORM_FIRST];
    uint64_t stored = eight + '0' * ONES;
    memcpy(out + form->later, &stored, sizeof stored);
    out[form->later + 8] = (char)('0' + last);
    return put_point(out, form, eight, used);
}

static __attribute__((noinline)) char *print_rest_float32(char *out, uint32_t bits)
{
    if (bits << 1 == 0) {
        *out = '0';
        return out + 1;
    }
    struct decimal decimal = bits << 1 == TWICE_ROUNDED << 1 ? twice_rounded : shorten_float32(bits);
    int count = count_digits(decimal.digits);
    uint32_t nine = (uint32_t)(decimal.digits * tens[9 - count]);
    uint64_t rest = spread_eight(nine % 100000000);
    char text[9] = {(char)('0' + nine / 100000000)};
    int used = 1 + count_used(rest);
    rest += '0' * ONES;
    memcpy(text + 1, &rest, sizeof rest);
    return print_any(out, text, used, decimal.exponent + count - 1, (bits >> 23 & 0xff) >= 127 + 53);
}

char *number_print_float32(char *out, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    *out = '-';
    out += bits >> 31;
    uint32_t fraction = bits & 0x7fffff;
    uint32_t index = (bits >> 23 & 0xff) - 150 - (uint32_t)NUMBER_FLOAT32_FIRST;
    if (index > NUMBER_FLOAT32_LAST - NUMBER_FLOAT32_FIRST || fraction == 0)
        return print_rest_float32(out, bits);
    const struct number_float32 *step = &number_float32[index];
    struct split split = round_digits(fraction | 1 << 23, step);
    uint64_t backwards = spread_backwards(split.tens);
    unsigned missing = (unsigned)(split.tens < 10000000) + (split.tens < 1000000); /* of nine digits */
    uint64_t eight = __builtin_bswap64(backwards) >> (8 * missing) | (uint64_t)split.ones << 8 << (56 - 8 * missing);
    unsigned zeros = (unsigned)__builtin_ctzll(backwards) / 8 + 1; /* at the end, when the ninth is one */
    unsigned used = 9 - missing - (zeros & ((split.ones != 0) - 1U));
    return print_nine(out, eight, split.ones, (int)used, step->k + 8 - (int)missing);
}

/* Digits of a normal double that is no power of two, 16 or 17, as round_digits finds them. What the powers and the
 * shifts lack is less than FLOAT64_SLACK / 2^60: false where that, or which end belongs to the interval, might decide.
 */
#define FLOAT64_SLACK 4U

INLINE unsigned is_near(uint64_t a, uint64_t b, uint64_t slack)
{
    return a - b + slack <= 2 * slack;
}

INLINE bool round_float64(uint64_t bits, struct decimal *decimal)
{
    uint64_t c = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
    int q = (int)(bits >> 52 & 0x7ff) - 1075;
    int k = find_k(q, false);
    int shift = q + number_power_log2(-k) + 1;
    const struct number_power *power = &number_powers[-k - NUMBER_POWERS_FIRST];
    uint64_t low = (uint64_t)((uint128)(c << shift) * power->low >> 64);
    uint128 product = (uint128)(c << shift) * power->high + low;
    uint64_t i = (uint64_t)(product >> 64);
    uint64_t f = (uint64_t)product;
    uint64_t ten = i / 10 * 10;
    uint64_t past_ten = (i - ten) << 60 | f >> 4;
    uint64_t reach = power->high >> (5 - shift);
    unsigned above = past_ten > TEN - reach;
    unsigned below = past_ten < reach;
    uint64_t one = i + (f >> 63);
    ten = above ? ten + 10 : ten;
    *decimal = (struct decimal){(below | above) != 0 ? ten : one, k};
    return (is_near(past_ten, reach, FLOAT64_SLACK) | is_near(past_ten, TEN - reach, FLOAT64_SLACK) |
            is_near(f, UINT64_C(1) << 63, 16 * FLOAT64_SLACK)) == 0;
}

static __attribute__((noinline)) char *print_far_float64(char *out, uint64_t seventeen, int exponent, bool large)
{
    char text[17];
    struct spread spread = spread_all(seventeen);
    store_spread(text, &spread);
    return print_any(out, text, spread.used, exponent, large);
}

static __attribute__((noinline)) char *print_rest_float64(char *out, uint64_t bits)
{
    char text[17];
    if (bits << 1 == 0) {
        *out = '0';
        return out + 1;
    }
    struct decimal decimal = shorten_float64(bits);
    int count = count_digits(decimal.digits);
    struct spread spread = spread_all(decimal.digits * tens[17 - count]);
    store_spread(text, &spread);
    return print_any(out, text, spread.used, decimal.exponent + count - 1, (bits >> 52 & 0x7ff) >= 1023 + 53);
}

char *number_print_float64(char *out, double value)
{
    uint64_t bits;
    struct decimal decimal;
    memcpy(&bits, &value, sizeof bits);
    *out = '-';
    out += bits >> 63;
    if ((bits >> 52 & 0x7ff) == 0 || bits << 12 == 0 || !round_float64(bits, &decimal))
        return print_rest_float64(out, bits);
    bool all = decimal.digits >= tens[16];
    int exponent = decimal.exponent + 15 + all;
    uint64_t seventeen = all ? decimal.digits : 10 * decimal.digits;
    if (exponent < FORM_FIRST || exponent > FORM_LAST)
        return print_far_float64(out, seventeen, exponent, (bits >> 52 & 0x7ff) >= 1023 + 53);
    const struct form *form = &forms[exponent - FORM_FIRST];
    struct spread spread = spread_all(seventeen);
    store_spread(out + form->later, &spread);
    return put_point(out, form, spread.first | spread.middle << 8, spread.used);
}
