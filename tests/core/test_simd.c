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

/* --- products --- */

#define FEATURES 48
#define KEYS 75
#define SPARE 7 /* numbers between the rows of what goes in */

struct operands {
    float left[SIMD_PRODUCT_ROWS * (KEYS + SPARE)], right[(KEYS + SPARE) * (KEYS + SPARE)];
    float packed[(KEYS + 32) * KEYS], out[SIMD_PRODUCT_ROWS * KEYS + 1], again[KEYS];
};

/* Small integers: every sum is exact, in any order. */
static void fill_operands(struct operands *x)
{
    for (size_t i = 0; i < sizeof x->left / sizeof *x->left; i++)
        x->left[i] = (float)((i * 7) % 13) - 6;
    for (size_t i = 0; i < sizeof x->right / sizeof *x->right; i++)
        x->right[i] = (float)((i * 5) % 11) - 5;
    for (size_t i = 0; i < sizeof x->out / sizeof *x->out; i++)
        x->out[i] = 3;
}

static void assert_scores(const struct simd_product *product, struct operands *x, size_t rows, size_t keys, size_t d)
{
    const struct simd_rows q = {x->left, d + SPARE}, k = {x->right, d + SPARE};
    fill_operands(x);
    product->pack(k, keys, d, x->packed);
    product->score(rows, q, x->packed, keys, d, 0.5F, x->out);
    for (size_t at = 0; at < rows * keys; at++) {
        float sum = 0;
        for (size_t t = 0; t < d; t++)
            sum += q.at[at / keys * q.stride + t] * k.at[at % keys * k.stride + t];
        ck_assert_msg(x->out[at] == sum / 2, "%zu x %zu x %zu: score %zu", rows, keys, d, at);
    }
    ck_assert(x->out[rows * keys] == 3);
    size_t from = (keys - 1) / product->panel * product->panel;
    product->score(1, q, x->packed + from * d, keys - from, d, 0.5F, x->again);
    ck_assert(memcmp(x->again, x->out + from, (keys - from) * sizeof *x->again) == 0);
}

static void assert_mix(const struct simd_product *product, struct operands *x, size_t rows, size_t keys, size_t d)
{
    const struct simd_rows v = {x->right, d + SPARE};
    fill_operands(x);
    product->mix(rows, x->left, v, keys, d, x->out);
    for (size_t at = 0; at < rows * d; at++) {
        float sum = 3;
        for (size_t j = 0; j < keys; j++)
            sum += x->left[at / d * keys + j] * v.at[j * v.stride + at % d];
        ck_assert_msg(x->out[at] == sum, "%zu x %zu x %zu: mix %zu", rows, keys, d, at);
    }
    ck_assert(x->out[rows * d] == 3);
}

/* For all rows at a time and numbers of keys around the panels', against plain loops, and no number past them written.
 */
START_TEST(products_equal_plain_loops)
{
    static struct operands x;
    for (size_t set = 0; simd_at(set); set++)
        for (size_t rows = 1; simd_at(set)->product && rows <= SIMD_PRODUCT_ROWS; rows++)
            for (size_t keys = 1; keys <= KEYS; keys += 1 + keys % 3) {
                assert_scores(simd_at(set)->product, &x, rows, keys, 1 + (rows * 3 + keys) % FEATURES);
                for (size_t d = simd_at(set)->product->lanes; d <= FEATURES; d += simd_at(set)->product->lanes)
                    assert_mix(simd_at(set)->product, &x, rows, keys, d);
            }
}
END_TEST

static void mix_thirds(const struct simd_product *product, size_t rows, float *w, struct simd_rows v, float *sums)
{
    for (size_t at = 0; at < rows * KEYS; at++)
        w[at] = 1 / (float)(3 + at % KEYS);
    memset(sums, 0, rows * 16 * sizeof *sums);
    product->mix(rows, w, v, KEYS, 16, sums);
}

/* Rows that are alike, computed beside 0 to 11 others: sums that round have the same bits everywhere. */
START_TEST(a_row_has_the_same_bits_beside_any_others)
{
    float w[SIMD_PRODUCT_ROWS * KEYS], v[KEYS * 16], sums[SIMD_PRODUCT_ROWS * 16], first[16];
    for (size_t at = 0; at < sizeof v / sizeof *v; at++)
        v[at] = 1 / (float)(7 + at % 29);
    for (size_t set = 0; simd_at(set); set++)
        for (size_t rows = 1; simd_at(set)->product && rows <= SIMD_PRODUCT_ROWS; rows++) {
            mix_thirds(simd_at(set)->product, rows, w, (struct simd_rows){v, 16}, sums);
            if (rows == 1)
                memcpy(first, sums, sizeof first);
            for (size_t i = 0; i < rows; i++)
                ck_assert(memcmp(sums + i * 16, first, sizeof first) == 0);
        }
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
    tcase_add_test(tests, products_equal_plain_loops);
    tcase_add_test(tests, a_row_has_the_same_bits_beside_any_others);
    suite_add_tcase(suite, tests);
    return suite;
}
