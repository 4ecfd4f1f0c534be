/* The vector passes, of every instruction set that this machine runs. */
#include "core/simd/simd.h"

#include <check.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#define COUNT 1000

/* The distance of neighbours around e^x in the type; `digits` of its mantissa, `least` exponent of its normal numbers.
 */
static double unit_of(long double exact, int digits, int least)
{
    int exponent;
    frexpl(exact, &exponent);
    return ldexp(1, (exponent < least ? least : exponent) - digits);
}

/* |exp(x) - e^x| < 2 ULP for every 20000th float from -104 to -0 */
START_TEST(float32_exp_is_within_two_units)
{
    const uint32_t last = 0xc2d00000U; /* -104 */
    for (size_t set = 0; simd_at(set); set++)
        for (uint32_t bits = 0x80000000U; bits <= last; bits += 20U * COUNT * COUNT) {
            float x[COUNT];
            float e[COUNT];
            for (size_t i = 0; i < COUNT; i++) {
                uint32_t word = bits + (uint32_t)i * 20 * COUNT;
                memcpy(&x[i], &word, sizeof word);
            }
            memcpy(e, x, sizeof e);
            simd_at(set)->exp_float32(e, COUNT, 0);
            for (size_t i = 0; i < COUNT && x[i] >= -104; i++) {
                double exact = exp((double)x[i]);
                ck_assert_msg(fabs((double)e[i] - exact) < 2 * unit_of((long double)exact, 24, -125), "%s: e^%a is %a",
                              simd_at(set)->name, (double)x[i], (double)e[i]);
            }
        }
}
END_TEST

/* |exp(x) - e^x| < 2 ULP on a grid of doubles from -745 to 0, fine near 0 */
START_TEST(float64_exp_is_within_two_units)
{
    for (size_t set = 0; simd_at(set); set++)
        for (size_t part = 0; part < 80; part++) {
            double x[COUNT];
            double e[COUNT];
            for (size_t i = 0; i < COUNT; i++)
                x[i] = -745.0 * (double)(part * COUNT + i) / (80.0 * COUNT) / (i % 2 ? 1000 : 1);
            memcpy(e, x, sizeof e);
            simd_at(set)->exp_float64(e, COUNT, 0);
            for (size_t i = 0; i < COUNT; i++) {
                long double exact = expl((long double)x[i]);
                ck_assert_msg(fabsl((long double)e[i] - exact) < 2 * (long double)unit_of(exact, 53, -1021),
                              "%s: e^%a is %a", simd_at(set)->name, x[i], e[i]);
            }
        }
}
END_TEST

START_TEST(exp_keeps_the_ends)
{
    for (size_t set = 0; simd_at(set); set++) {
        float f[] = {-INFINITY, NAN, 0, -1000, -104};
        double d[] = {-INFINITY, (double)NAN, 0, -1e6, -746};
        simd_at(set)->exp_float32(f, 5, 0);
        simd_at(set)->exp_float64(d, 5, 0);
        ck_assert(f[0] == 0 && isnan(f[1]) && f[2] == 1 && f[3] == 0 && f[4] == 0);
        ck_assert(d[0] == 0 && isnan(d[1]) && d[2] == 1 && d[3] == 0 && d[4] == 0);
    }
}
END_TEST

/* sum_j e^(s_j - shift), and no byte past the n numbers touched, for every length around the vectors' */
START_TEST(every_length_is_summed_and_nothing_else)
{
    for (size_t set = 0; simd_at(set); set++)
        for (size_t n = 1; n <= 70; n++) {
            float f[72];
            double d[72];
            double sum = 0;
            for (size_t i = 0; i < 72; i++) {
                d[i] = -(double)((i * 37) % 19) / 8;
                f[i] = (float)d[i];
                sum += i < n ? exp(d[i] - 0.5) : 0;
            }
            ck_assert_double_eq_tol((double)simd_at(set)->exp_float32(f, n, 0.5F), sum, 1e-5);
            ck_assert_double_eq_tol(simd_at(set)->exp_float64(d, n, 0.5), sum, 1e-13);
            ck_assert(d[n] == -(double)((n * 37) % 19) / 8 && (double)f[n] == d[n]);
        }
}
END_TEST

static void assert_most(const struct simd *lanes, size_t n, size_t where)
{
    float f[70];
    double d[70];
    for (size_t i = 0; i < n; i++)
        f[i] = (float)(d[i] = i == where ? -1 : -2 - (double)i);
    ck_assert(lanes->max_float32(f, n) == -1 && lanes->max_float64(d, n) == -1);
    for (size_t i = 0; i < n; i++)
        f[i] = (float)(d[i] = i == where ? (where % 2 ? -99 : 99) : i % 3 ? -(double)i : 1 + (double)i / 2);
    ck_assert(lanes->size_float32(f, n) == 99 && lanes->size_float64(d, n) == 99);
    d[where] = -DBL_MAX;
    f[where] = -FLT_MAX;
    ck_assert(lanes->size_float32(f, n) == FLT_MAX && lanes->size_float64(d, n) == DBL_MAX);
    f[where] = NAN;
    d[where] = (double)NAN;
    ck_assert(isnan(lanes->size_float32(f, n)) && isnan(lanes->size_float64(d, n)));
}

START_TEST(max_and_size_find_the_largest)
{
    for (size_t set = 0; simd_at(set); set++)
        for (size_t n = 1; n <= 70; n++)
            for (size_t where = 0; where < n; where++)
                assert_most(simd_at(set), n, where);
}
END_TEST

Suite *simd_suite(void);

Suite *simd_suite(void)
{
    Suite *suite = suite_create("simd");
    TCase *tests = tcase_create("passes");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, float32_exp_is_within_two_units);
    tcase_add_test(tests, float64_exp_is_within_two_units);
    tcase_add_test(tests, exp_keeps_the_ends);
    tcase_add_test(tests, every_length_is_summed_and_nothing_else);
    tcase_add_test(tests, max_and_size_find_the_largest);
    suite_add_tcase(suite, tests);
    return suite;
}
