/* Printing numbers: the shortest decimal by Giulietti's Schubfach, fixed places by 128-bit arithmetic.
 *
 * Raffaello Giulietti, The Schubfach way to render doubles, 2021: among the multiples of 10^k, where 10^k is the
 * largest power of ten not wider than the gap between a number's neighbours, at most one lies in its rounding interval
 * with a zero at its end, and at most two others next to the number. number_powers.py proves that 128 bits of 10^-k
 * are enough for doubles; for floats, whose 2^32 values can all be tried, `make numbers` shows that 64 are. */
#include "api/number.h"

#include "api/number_powers.h"

#include <stdint.h>
#include <string.h>

__extension__ typedef unsigned __int128 uint128;

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the first digit is the lowest byte of a word");

#define ONES UINT64_C(0x0101010101010101)
#define INLINE static inline __attribute__((always_inline))

static const uint64_t tens[] = {1,
                                10,
                                100,
                                1000,
                                10000,
                                100000,
                                1000000,
                                10000000,
                                100000000,
                                1000000000,
                                10000000000,
                                100000000000,
                                1000000000000,
                                10000000000000,
                                100000000000000,
                                1000000000000000,
                                10000000000000000,
                                100000000000000000};

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

INLINE struct decimal shorten_float64(uint64_t bits)
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

/* The eight digits of n < 10^8 as bytes 0 .. 9, the first in the lowest: halves, quarters, eighths, side by side. */
INLINE uint64_t spread_eight(uint32_t n)
{
    uint64_t halves = n / 10000 | (uint64_t)(n % 10000) << 32;
    uint64_t hundreds = (halves * 5243 >> 19) & UINT64_C(0x0000007f0000007f);
    uint64_t pairs = hundreds | (halves - hundreds * 100) << 16;
    uint64_t ones = (pairs * 103 >> 10) & UINT64_C(0x000f000f000f000f);
    return ones | (pairs - ones * 10) << 8;
}

/* Without the zero bytes at the end. */
INLINE int count_used(uint64_t bytes)
{
    return bytes == 0 ? 0 : 8 - __builtin_clzll(bytes) / 8;
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

/* Any form: `count` digits, the first of which counts 10^exponent. */
static char *print_any(char *out, const char *digits, int count, int exponent)
{
    if (exponent < -5 || exponent > 20) {
        *out++ = digits[0];
        if (count > 1)
            *out++ = '.';
        memcpy(out, digits + 1, (size_t)count - 1);
        return print_exponent(out + count - 1, exponent);
    }
    for (int i = exponent < 0 ? exponent : 0; i < count || i <= exponent; i++) {
        *out++ = i >= 0 && i < count ? digits[i] : '0';
        if ((i == exponent && i < count - 1))
            *out++ = '.';
    }
    return out;
}

/* Digits of a normal float that is no power of two: v = V * 10^k, V = i + f / 2^64. Its interval reaches at least half
 * a unit to both sides, so the nearest whole number is always in it, and all that is left to ask is whether a multiple
 * of ten is. What the power lacks changes V and the reach by less than SLACK: within that they are equal (and then the
 * interval's end belongs to it if c is even). For all floats this gives what choose_digits gives: `make numbers`. */
#define SLACK (UINT64_C(1) << 25)
#define TEN (UINT64_C(10) << 60)

INLINE uint64_t round_digits(uint64_t c, uint64_t power, int shift)
{
    uint128 product = (uint128)(c << shift) * power;
    uint32_t i = (uint32_t)(product >> 64);
    uint64_t f = (uint64_t)product;
    uint32_t ten = i / 10 * 10;
    uint64_t past_ten = (uint64_t)(i - ten) << 60 | f >> 4;
    uint64_t reach = (power >> (5 - shift)) + SLACK - 2 * SLACK * (c & 1);
    uint32_t nearest = i + (f >= (UINT64_C(1) << 63) + 16 * SLACK - 32 * SLACK * (i & 1));
    uint32_t above = past_ten >= TEN - reach;
    uint32_t use_ten = -(uint32_t)(above | (past_ten <= reach));
    return nearest ^ ((nearest ^ (ten + 10 * above)) & use_ten);
}

/* Nine digits, first the lowest byte of `eight` and last on its own, of which `used` are wanted, the first counting
 * 10^exponent, -5 .. 6. All are stored behind the point's place; then the first bytes once more, with the point. */
INLINE char *print_nine(char *out, uint64_t eight, unsigned last, int used, int exponent)
{
    int zeros = -exponent & (exponent >> 31); /* no branch: half of all numbers are below 1 */
    int lead = 8 * (exponent + zeros + 1);
    uint64_t text = eight << (8 * zeros);
    uint64_t after = text >> lead << lead;
    uint64_t stored = eight + '0' * ONES;
    text = text + 0xff * after + '0' * ONES - ((uint64_t)('0' - '.') << lead);
    memcpy(out + 1 + zeros, &stored, sizeof stored);
    out[9 + zeros] = (char)('0' + last);
    memcpy(out, &text, sizeof text);
    int digits = used + zeros;
    return out + (8 * digits > lead ? digits + 1 : lead / 8);
}

static __attribute__((noinline)) char *print_rest_float32(char *out, uint32_t bits)
{
    if (bits << 1 == 0) {
        *out = '0';
        return out + 1;
    }
    struct decimal decimal = shorten_float32(bits);
    int count = count_digits(decimal.digits);
    uint32_t nine = (uint32_t)(decimal.digits * tens[9 - count]);
    uint64_t rest = spread_eight(nine % 100000000);
    char text[9] = {(char)('0' + nine / 100000000)};
    int used = 1 + count_used(rest);
    rest += '0' * ONES;
    memcpy(text + 1, &rest, sizeof rest);
    return print_any(out, text, used, decimal.exponent + count - 1);
}

char *number_print_float32(char *out, float value)
{
    static const uint32_t to_nine[] = {100, 10, 1};
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    *out = '-';
    out += bits >> 31;
    uint32_t fraction = bits & 0x7fffff;
    int q = (int)(bits >> 23 & 0xff) - 150;
    int k = find_k(q, false);
    if (q < -39 || q > -1 || fraction == 0)
        return print_rest_float32(out, bits);
    uint64_t power = number_powers[-k - NUMBER_POWERS_FIRST].high + 1;
    uint32_t digits = (uint32_t)round_digits(fraction | 1 << 23, power, q + number_power_log2(-k) + 1);
    unsigned more = (unsigned)(digits >= 10000000) + (digits >= 100000000); /* than seven digits */
    uint32_t nine = digits * to_nine[more];
    uint32_t first = nine / 100000000;
    uint64_t rest = spread_eight(nine - first * 100000000);
    int used = 1 + (70 - __builtin_clzll(2 * rest + 1)) / 8;
    return print_nine(out, rest << 8 | first, (unsigned)(rest >> 56), used, k + 6 + (int)more);
}

/* Seventeen digits, the first of which counts 10^exponent. */
struct spread {
    uint64_t first, middle, last; /* bytes '0' .. '9', the first digit in the lowest */
    int used;
};

INLINE struct spread spread_all(uint64_t seventeen)
{
    uint64_t sixteen = seventeen % tens[16];
    uint64_t middle = spread_eight((uint32_t)(sixteen / 100000000));
    uint64_t last = spread_eight((uint32_t)(sixteen % 100000000));
    return (struct spread){.first = '0' + seventeen / tens[16],
                           .middle = middle + '0' * ONES,
                           .last = last + '0' * ONES,
                           .used = 1 + (last ? 8 + count_used(last) : count_used(middle))};
}

INLINE void store_spread(char *out, const struct spread *spread)
{
    *out = (char)spread->first;
    memcpy(out + 1, &spread->middle, sizeof spread->middle);
    memcpy(out + 9, &spread->last, sizeof spread->last);
}

/* The digits are stored one byte late, then those before the point once more, in their place, with the point. */
INLINE char *print_around_point(char *out, const struct spread *spread, int lead)
{
    int cut = 8 * lead;
    uint64_t digits = spread->first | spread->middle << 8;
    uint64_t after = digits >> cut << cut << 8;
    uint64_t text = (digits & ((UINT64_C(1) << cut) - 1)) | (uint64_t)'.' << cut | after;
    store_spread(out + 1, spread);
    memcpy(out, &text, sizeof text);
    return out + (spread->used > lead ? spread->used + 1 : lead);
}

char *number_print_float64(char *out, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    *out = '-';
    out += bits >> 63;
    if (bits << 1 == 0) {
        *out = '0';
        return out + 1;
    }
    struct decimal decimal = shorten_float64(bits);
    int count = count_digits(decimal.digits);
    int exponent = decimal.exponent + count - 1;
    struct spread spread = spread_all(decimal.digits * tens[17 - count]);
    if (exponent >= 0 && exponent <= 6)
        return print_around_point(out, &spread, exponent + 1);
    if (exponent >= -5 && exponent < 0) {
        memcpy(out, "0.000000", 8);
        store_spread(out + 1 - exponent, &spread);
        return out + 1 - exponent + spread.used;
    }
    char text[17];
    store_spread(text, &spread);
    return print_any(out, text, spread.used, exponent);
}

static char *print_whole(char *out, uint64_t n)
{
    char reversed[20];
    int count = 0;
    for (; n > 0 || count == 0; n /= 10)
        reversed[count++] = (char)('0' + n % 10);
    while (count > 0)
        *out++ = reversed[--count];
    return out;
}

#define LIMB UINT64_C(1000000000000000000)
#define LIMBS 18 /* of 18 digits: 2^1024 has 309 */

/* c * 2^q */
static char *print_large(char *out, uint64_t c, int q)
{
    uint64_t limbs[LIMBS] = {c};
    int used = 1;
    for (; q > 0; q -= 32) {
        int step = q < 32 ? q : 32;
        uint64_t carry = 0;
        for (int i = 0; i < used; i++) {
            uint128 limb = ((uint128)limbs[i] << step) + carry;
            limbs[i] = (uint64_t)(limb % LIMB);
            carry = (uint64_t)(limb / LIMB);
        }
        if (carry > 0)
            limbs[used++] = carry;
    }
    out = print_whole(out, limbs[--used]);
    while (used-- > 0) {
        char *end = out + 18;
        for (uint64_t limb = limbs[used]; end > out; limb /= 10)
            *--end = (char)('0' + limb % 10);
        out += 18;
    }
    return out;
}

/* Places of digits = c * 10^places / 2^s, rounded half to even: everything that decides is in the 128 bits. */
static uint64_t round_fraction(uint64_t c, int s, uint64_t whole, int places)
{
    if (s > 127)
        return 0; /* c * 10^17 < 2^110 is less than half */
    uint128 product = (uint128)c * tens[places];
    uint128 half = (uint128)1 << (s - 1);
    uint128 rest = product & (half + (half - 1));
    uint64_t digits = (uint64_t)(product >> s);
    bool odd = ((places == 0 ? whole : digits) & 1) != 0;
    return digits + (rest > half || (rest == half && odd));
}

static char *print_fraction(char *out, uint64_t digits, int places)
{
    struct spread spread = spread_all(digits * tens[17 - places]);
    *out = '.';
    store_spread(out + 1, &spread);
    return out + 1 + spread.used;
}

char *number_print_rounded(char *out, double value, int decimals)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    *out = '-';
    out += bits >> 63;
    int field = (int)(bits >> 52 & 0x7ff);
    uint64_t c = (bits & ((UINT64_C(1) << 52) - 1)) | (uint64_t)(field != 0) << 52;
    int q = field - 1075 + (field == 0);
    if (q > 10)
        return print_large(out, c, q);
    if (q >= 0)
        return print_whole(out, c << q);
    uint64_t whole = q > -64 ? c >> -q : 0;
    uint64_t fraction = q > -64 ? c - (whole << -q) : c;
    uint64_t digits = round_fraction(fraction, -q, whole, decimals);
    if (digits == tens[decimals]) {
        whole++;
        digits = 0;
    }
    out = print_whole(out, whole);
    return digits == 0 ? out : print_fraction(out, digits, decimals);
}
