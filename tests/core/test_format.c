/* Seeded numbers, and rounding to the formats of kernels, against what NumPy and ml_dtypes say (number_tables.py). */
#include "core/tensor/format.h"
#include "core/tensor/normal.h"
#include "tests/core/number_tables.h"

#include <check.h>
#include <math.h>
#include <string.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* The sequence that is published for this seed, and the same one made by NumPy. */
START_TEST(bits_are_those_of_splitmix64)
{
    struct normal normal = {1234567};
    for (size_t x = 0; x < COUNT(splitmix_1234567); x++)
        ck_assert_uint_eq(normal_bits(&normal), splitmix_1234567[x]);
}
END_TEST

static void assert_normal(struct normal *normal, const double *wanted, size_t count)
{
    double found[8];
    normal_fill(normal, found, count);
    for (size_t x = 0; x < count; x++)
        ck_assert_double_eq_tol(found[x], wanted[x], 1e-15 * fmax(1, fabs(wanted[x])));
}

/* An odd count drops the last sine: the next numbers begin a pair of their own. */
START_TEST(normal_numbers_are_those_of_numpy)
{
    struct normal normal = {7};
    assert_normal(&normal, normal_7, COUNT(normal_7));
    assert_normal(&normal, normal_7_after, COUNT(normal_7_after));
}
END_TEST

/* mean 0, variance 1 and fourth moment 3, each within four standard errors */
START_TEST(normal_numbers_have_the_moments_of_the_normal_distribution)
{
    enum { NUMBERS = 200000 };
    static double x[NUMBERS];
    struct normal normal = {0};
    double sum[3] = {0};
    normal_fill(&normal, x, NUMBERS);
    for (size_t i = 0; i < NUMBERS; i++) {
        sum[0] += x[i];
        sum[1] += x[i] * x[i];
        sum[2] += pow(x[i], 4);
    }
    ck_assert_double_eq_tol(sum[0] / NUMBERS, 0, 4 / sqrt(NUMBERS));
    ck_assert_double_eq_tol(sum[1] / NUMBERS, 1, 4 * sqrt(2.0 / NUMBERS));
    ck_assert_double_eq_tol(sum[2] / NUMBERS, 3, 4 * sqrt(96.0 / NUMBERS));
}
END_TEST

static void assert_becomes(enum format format, double x, double wanted)
{
    ck_assert_msg(format_round(format, x) == wanted, "%s: %a became %a, not %a", format_name(format), x,
                  format_round(format, x), wanted);
    ck_assert_msg(format_round(format, -x) == -wanted, "%s: %a is not rounded like its negative", format_name(format),
                  x);
}

/* What a float8 format holds stays, its byte is its code, and midpoints go to the code that the table names. */
static void check_float8(enum format format, const double *values, size_t count, const unsigned char *middles)
{
    for (size_t code = 0; code < count; code++) {
        assert_becomes(format, values[code], values[code]);
        ck_assert_uint_eq(format_code(format, values[code]), code);
        ck_assert_uint_eq(format_code(format, -values[code]), code + 128);
    }
    for (size_t code = 0; code + 1 < count; code++) {
        double middle = (values[code] + values[code + 1]) / 2;
        assert_becomes(format, middle, values[middles[code]]);
        assert_becomes(format, nextafter(middle, 0), values[code]);
        assert_becomes(format, nextafter(middle, HUGE_VAL), values[code + 1]);
    }
    assert_becomes(format, 2 * values[count - 1], values[count - 1]);
    assert_becomes(format, HUGE_VAL, values[count - 1]);
}

START_TEST(float8_agrees_with_all_codes_and_midpoints)
{
    ck_assert_uint_eq(COUNT(float8_e4m3_middles), 126);
    ck_assert_uint_eq(COUNT(float8_e5m2_middles), 123);
    check_float8(FORMAT_FLOAT8_E4M3, float8_e4m3_values, COUNT(float8_e4m3_values), float8_e4m3_middles);
    check_float8(FORMAT_FLOAT8_E5M2, float8_e5m2_values, COUNT(float8_e5m2_values), float8_e5m2_middles);
}
END_TEST

/* The number with that code in a format of 16 bits, `kept` of them for the significand. */
static double decode16(unsigned code, int kept, int least)
{
    unsigned exponent = code >> kept;
    unsigned significand = (code & ((1U << kept) - 1)) + (exponent ? 1U << kept : 0);
    return ldexp(significand, least - kept + (exponent ? (int)exponent - 1 : 0));
}

/* The code of a number that the format holds. */
static unsigned encode16(double x, int kept, int least)
{
    int exponent = x < ldexp(1, least) ? least : ilogb(x);
    return ((unsigned)(exponent - least) << kept) + (unsigned)ldexp(x, kept - exponent);
}

/* Every midpoint of two neighbours and the float32 on either side of it: the codes that come out, as one digest. */
static uint64_t digest16(enum format format, int kept, int least, unsigned finite)
{
    uint64_t hashed = 0xCBF29CE484222325U;
    for (unsigned code = 0; code + 1 < finite; code++) {
        float middle = (float)((decode16(code, kept, least) + decode16(code + 1, kept, least)) / 2);
        const float around[3] = {nextafterf(middle, 0), middle, nextafterf(middle, HUGE_VALF)};
        assert_becomes(format, decode16(code, kept, least), decode16(code, kept, least));
        for (size_t x = 0; x < 3; x++)
            hashed = (hashed ^ encode16(format_round(format, (double)around[x]), kept, least)) * 0x100000001B3U;
    }
    return hashed;
}

START_TEST(sixteen_bits_agree_with_all_codes_and_midpoints)
{
    ck_assert_uint_eq(digest16(FORMAT_FLOAT16, 10, -14, 0x7C00), FLOAT16_DIGEST);
    ck_assert_uint_eq(digest16(FORMAT_BFLOAT16, 7, -126, 0x7F80), BFLOAT16_DIGEST);
}
END_TEST

START_TEST(sixteen_bits_and_more_overflow_to_infinity)
{
    const enum format formats[] = {FORMAT_FLOAT32, FORMAT_TFLOAT32, FORMAT_FLOAT16, FORMAT_BFLOAT16};
    for (size_t x = 0; x < COUNT(formats); x++) {
        double largest = format_largest(formats[x]);
        double half = largest * format_ulp(formats[x]) / 4; /* below half a unit of the last place */
        assert_becomes(formats[x], largest + half, largest);
        assert_becomes(formats[x], largest * (1 + format_ulp(formats[x]) / 2), HUGE_VAL);
        ck_assert(isnan(format_round(formats[x], NAN)));
    }
    assert_becomes(FORMAT_FLOAT16, 65519, 65504);
    assert_becomes(FORMAT_FLOAT16, 65520, HUGE_VAL);
}
END_TEST

/* float32 rounds as the compiler's own conversion does; tfloat32 as float32 with its last 13 bits taken off */
START_TEST(float32_and_tfloat32_round_to_nearest_even)
{
    struct normal normal = {3};
    for (size_t x = 0; x < 100000; x++) {
        double drawn;
        normal_fill(&normal, &drawn, 1);
        drawn = ldexp(drawn, (int)(x % 280) - 160);
        ck_assert(format_round(FORMAT_FLOAT32, drawn) == (double)(float)drawn);
        double coarse = format_round(FORMAT_TFLOAT32, drawn);
        ck_assert(coarse == (double)(float)coarse);
        ck_assert(fabs(coarse - drawn) <= fmax(ldexp(1, ilogb(drawn) - 11), 0x1p-137));
    }
    assert_becomes(FORMAT_TFLOAT32, 1 + 0x1p-11, 1);
    assert_becomes(FORMAT_TFLOAT32, 1 + 0x3p-11, 1 + 0x1p-9);
    ck_assert(signbit(format_round(FORMAT_FLOAT8_E4M3, -1e-9)));
}
END_TEST

static float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static bool becomes(uint32_t bits, uint32_t wanted)
{
    return format_round(FORMAT_TFLOAT32, (double)float_of(bits)) == (double)float_of(wanted);
}

/* All codes of tfloat32, as float32 spells them (its last 13 bits are 0), every midpoint and its neighbours: half of
 * the last bit that stays, and one bit less where that bit is even, is added to the code before the 13 go. Counted,
 * because a call of ck_assert takes longer than a rounding. */
START_TEST(tfloat32_agrees_with_all_codes_and_midpoints)
{
    const uint32_t step = 1U << 13;
    size_t wrong = 0, codes = 0;
    for (uint32_t code = 0; code < 0x7F800000U - step; code += step, codes++) {
        wrong += !becomes(code, code);
        for (uint32_t bits = code + step / 2 - 1; bits <= code + step / 2 + 1; bits++)
            wrong += !becomes(bits, (bits + step / 2 - 1 + (bits >> 13 & 1)) & ~(step - 1));
    }
    ck_assert_uint_eq(codes, 255 * 1024 - 1);
    ck_assert_uint_eq(wrong, 0);
}
END_TEST

START_TEST(the_published_roundings)
{
    const double x[] = {0.3, 1.6, 1.2, 0.7, 0.1, 2.09, 448, 464, 465, 0.001, 1e-7};
    const double float16[] = {0.300048828125,
                              1.599609375,
                              1.2001953125,
                              0.7001953125,
                              0.0999755859375,
                              2.08984375,
                              448,
                              464,
                              465,
                              0.0010004043579101562,
                              1.1920928955078125e-07};
    const double bfloat16[] = {0.30078125, 1.6015625, 1.203125, 0.69921875,          0.10009765625,         2.09375,
                               448,        464,       464,      0.00099945068359375, 1.0011717677116394e-07};
    const double e4m3[] = {0.3125, 1.625, 1.25, 0.6875, 0.1015625, 2, 448, 448, 448, 0.001953125, 0};
    const double e5m2[] = {0.3125, 1.5, 1.25, 0.75, 0.09375, 2, 448, 448, 448, 0.0009765625, 0};
    for (size_t i = 0; i < COUNT(x); i++) {
        assert_becomes(FORMAT_FLOAT16, x[i], float16[i]);
        assert_becomes(FORMAT_BFLOAT16, x[i], bfloat16[i]);
        assert_becomes(FORMAT_FLOAT8_E4M3, x[i], e4m3[i]);
        assert_becomes(FORMAT_FLOAT8_E5M2, x[i], e5m2[i]);
    }
}
END_TEST

Suite *format_suite(void);
Suite *format_suite(void)
{
    Suite *suite = suite_create("format");
    TCase *tc = tcase_create("format");
    tcase_add_test(tc, bits_are_those_of_splitmix64);
    tcase_add_test(tc, normal_numbers_are_those_of_numpy);
    tcase_add_test(tc, normal_numbers_have_the_moments_of_the_normal_distribution);
    tcase_add_test(tc, float8_agrees_with_all_codes_and_midpoints);
    tcase_add_test(tc, sixteen_bits_agree_with_all_codes_and_midpoints);
    tcase_add_test(tc, sixteen_bits_and_more_overflow_to_infinity);
    tcase_add_test(tc, float32_and_tfloat32_round_to_nearest_even);
    tcase_add_test(tc, tfloat32_agrees_with_all_codes_and_midpoints);
    tcase_add_test(tc, the_published_roundings);
    suite_add_tcase(suite, tc);
    return suite;
}
