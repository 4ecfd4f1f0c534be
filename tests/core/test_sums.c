/* Long rows of floats: sums err like sqrt(m) units at most, and an index stays exact. */
#include "core/attention.h"
#include "core/simd/simd.h"
#include "core/tensor/blas.h"
#include "tests/core/trial.h"

#include <check.h>
#include <float.h>
#include <math.h>
#include <string.h>

#define UNIT ((double)FLT_EPSILON / 2)

static void start(void)
{
    struct error err = {0};
    ck_assert_msg(blas_start(&err), "%s", err.faults[0].text);
}

/* One row, d = 1, scale 1, q = 1: the scores are k. Weights e^-16.65 vanish beside a 1 wherever they meet it in float.
 */
static void start_row(struct trial *trial, enum variant variant, size_t m, size_t largest, double value)
{
    struct draw draw = {1};
    trial_start(trial, trial_shape_plain(DTYPE_FLOAT32, 1, m, 1, 1), &draw);
    trial->request.has_scale = true;
    trial->request.scale = 1;
    trial->request.variant = variant;
    trial_set(trial->request.q, 0, 1);
    for (size_t j = 0; j < m; j++) {
        trial_set(trial->request.k, j, j == largest ? 0 : -16.65);
        trial_set(trial->request.v, j, value);
    }
}

static void run(struct trial *trial, const enum quantity *wanted, size_t count)
{
    struct error err = {0};
    struct attention *a = &trial->attention;
    ck_assert(attention_check(a, &trial->request, &err) && attention_prepare(a, trial->arena, NULL, &err));
    trial->results = (struct attention_results){.of = {NULL}};
    trial->results.of[QUANTITY_OUTPUT] = trial_room(trial, QUANTITY_OUTPUT);
    for (size_t x = 0; x < count; x++)
        trial->results.of[wanted[x]] = trial_room(trial, wanted[x]);
    bool good = attention_run(a, &trial->results, NULL, NULL, trial->arena, &err);
    ck_assert_msg(good, "%s", err.faults[0].text);
}

static double error_of(const struct trial *trial, enum quantity quantity, size_t at, double exact)
{
    return fabs(trial_value(trial, quantity, at) / exact - 1) / UNIT;
}

static void assert_sums(enum variant variant, size_t m, size_t largest, double value)
{
    static const enum quantity wanted[] = {QUANTITY_ROW_SUM, QUANTITY_WEIGHTS, QUANTITY_WEIGHT_SUM,
                                           QUANTITY_LOG_SUM_EXP};
    struct trial trial;
    double sum = 1 + (double)(m - 1) * exp((double)-16.65F), room = sqrt((double)m);
    start_row(&trial, variant, m, largest, value);
    run(&trial, wanted, 4);
    double weights = 0;
    for (size_t j = 0; j < m; j++)
        weights += trial_value(&trial, QUANTITY_WEIGHTS, j);
    ck_assert_double_le(error_of(&trial, QUANTITY_ROW_SUM, 0, sum), room);
    ck_assert_double_le(error_of(&trial, QUANTITY_WEIGHTS, largest, 1 / sum), room);
    ck_assert_double_le(fabs(weights - 1) / UNIT, room);
    ck_assert_double_le(error_of(&trial, QUANTITY_WEIGHT_SUM, 0, 1), room);
    ck_assert_double_le(fabs(trial_value(&trial, QUANTITY_LOG_SUM_EXP, 0) - log(sum)) / UNIT, room);
    ck_assert_double_le(error_of(&trial, QUANTITY_OUTPUT, 0, value), room + SIMD_ROW); /* BLAS sums a tile */
    trial_end(&trial);
}

/* Every path: small heads, tiles, split keys, what follows when values are so large that their sums overflow. */
START_TEST(rows_are_summed_within_sqrt_m_units)
{
    const size_t lengths[] = {10000, 100000, 1000000};
    const double values[] = {1, 3e38};
    for (size_t x = 0; x < 3; x++)
        for (size_t value = 0; value < 2; value++)
            for (size_t place = 0; place < 3; place++)
                assert_sums((enum variant)_i, lengths[x], place * (lengths[x] - 1) / 2, values[value]);
}
END_TEST

/* The first float that is no index is 2^24 + 1. */
START_TEST(the_largest_weight_is_found_at_every_index)
{
    static const enum quantity wanted[] = {QUANTITY_ARGMAX_KEY};
    struct trial trial;
    size_t key = ((size_t)1 << 24) + 1;
    start_row(&trial, VARIANT_SOFTMAX, key + 3, key, 1);
    run(&trial, wanted, 1);
    ck_assert_double_eq(trial_value(&trial, QUANTITY_ARGMAX_KEY, 0), (double)key);
    trial_end(&trial);
}
END_TEST

Suite *sums_suite(void);

Suite *sums_suite(void)
{
    TCase *tests = tcase_create("long rows");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, start, NULL);
    tcase_add_test(tests, the_largest_weight_is_found_at_every_index);
    tcase_add_loop_test(tests, rows_are_summed_within_sqrt_m_units, VARIANT_SOFTMAX, VARIANT_SOFTMAX + 1);
    tcase_add_loop_test(tests, rows_are_summed_within_sqrt_m_units, VARIANT_MASK_AFTER_SOFTMAX,
                        VARIANT_MASK_AFTER_SOFTMAX + 1);
    Suite *suite = suite_create("sums");
    suite_add_tcase(suite, tests);
    return suite;
}
