/* Requests past the size where the matrix of weights is no longer kept: tiles, split keys, every option across them. */
#include "core/attention.h"
#include "core/tensor/blas.h"
#include "tests/core/trial.h"

#include <check.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

static void start(void)
{
    struct error err = {0};
    ck_assert_msg(blas_start(&err), "%s", err.faults[0].text);
}

/* Any layout and heads, with n queries and m keys in all. */
static struct trial_shape shape_of(struct draw *draw, enum dtype dtype, size_t n, size_t m)
{
    struct trial_shape shape = trial_shape_random(draw, dtype);
    shape.queries = n;
    shape.batch = shape.batch > 2 ? 2 : shape.batch;
    shape.kv_heads = shape.kv_heads > 2 ? 2 : shape.kv_heads;
    shape.heads = shape.heads > 1 ? 2 * shape.kv_heads : 1;
    shape.kv_heads = shape.heads > 1 ? shape.kv_heads : 1;
    shape.d_k = 2 * draw_size(draw, 4, 14);
    shape.d_v = draw_size(draw, 1, 20);
    shape.past = shape.past > 0 ? m / 2 : 0;
    shape.keys = m - shape.past;
    return shape;
}

/* `values` is d_v; 0: any. */
static void assert_equal_to_reference(uint64_t seed, enum dtype dtype, size_t n, size_t m, size_t values,
                                      struct pool *pool)
{
    struct draw draw = {seed};
    struct trial trial;
    struct reference ref;
    struct error err = {0};
    struct trial_shape shape = shape_of(&draw, dtype, n, m);
    shape.d_v = values ? values : shape.d_v;
    trial_start(&trial, shape, &draw);
    trial_mask_random(&trial, &draw);
    trial_options_random(&trial, &draw);
    bool good = trial_try(&trial, pool, &err);
    ck_assert_msg(good, "seed %" PRIu64 ": %s: %s", seed, err.faults[0].name, err.faults[0].text);
    reference_run(&ref, &trial.request);
    trial_compare(&trial, &ref, seed);
    reference_free(&ref);
    trial_end(&trial);
}

/* Several blocks of rows and several tiles of keys. */
START_TEST(tiles_equal_the_reference)
{
    struct pool *pool = pool_start(2, 4);
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct draw draw = {seed + 1000};
        size_t m = draw_size(&draw, 400, 1100), n = draw_size(&draw, 60, 140);
        assert_equal_to_reference(seed, (enum dtype)_i, n, m, 0, pool);
    }
    pool_stop(pool);
}
END_TEST

/* Values as wide as the vectors: float32 goes through our own products, where the processor has them. */
START_TEST(own_products_equal_the_reference)
{
    struct pool *pool = pool_start(2, 4);
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct draw draw = {seed + 3000};
        size_t m = draw_size(&draw, 100, 800), n = draw_size(&draw, 16, 140);
        assert_equal_to_reference(seed + 50, DTYPE_FLOAT32, n, m, 16 * (1 + seed % 3), pool);
    }
    pool_stop(pool);
}
END_TEST

/* One decoding step, or a few: keys are split and the parts joined. */
START_TEST(split_keys_equal_the_reference)
{
    struct pool *pool = pool_start(2, 4);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct draw draw = {seed + 2000};
        size_t m = draw_size(&draw, 2000, 4500), n = draw_size(&draw, 1, 3);
        assert_equal_to_reference(seed, (enum dtype)_i, n, m, 0, pool);
    }
    pool_stop(pool);
}
END_TEST

/* n = 64 rows over m = 4096 keys: the error must not grow with the number of keys. */
START_TEST(many_keys_stay_exact)
{
    struct draw draw = {41};
    struct trial trial;
    struct reference ref;
    trial_start(&trial, trial_shape_plain((enum dtype)_i, 64, 4096, 64, 16), &draw);
    trial_run(&trial, NULL);
    reference_run(&ref, &trial.request);
    double room = trial_tolerance(&trial) * trial_largest_value(&trial);
    for (size_t at = 0; at < 64 * 16; at++)
        if (!(fabs(trial_value(&trial, QUANTITY_OUTPUT, at) - ref.of[QUANTITY_OUTPUT][at]) <= room))
            ck_abort_msg("output %zu is %.17g, not %.17g", at, trial_value(&trial, QUANTITY_OUTPUT, at),
                         ref.of[QUANTITY_OUTPUT][at]);
    reference_free(&ref);
    trial_end(&trial);
}
END_TEST

/* The largest score comes last, or first, or the scores are far apart: the running maximum moves, or never does. */
START_TEST(rising_and_falling_scores_equal_the_reference)
{
    const double slopes[] = {0.05, -0.05, 30, -30};
    for (size_t x = 0; x < 4; x++) {
        struct draw draw = {x};
        struct trial trial;
        struct reference ref;
        trial_start(&trial, trial_shape_plain((enum dtype)_i, 9, 1500, 8, 4), &draw);
        trial.request.mask.bias = trial_tensor(&trial, 2, (const size_t[]){1, 1500}, &draw);
        for (size_t j = 0; j < 1500; j++)
            trial_set(trial.request.mask.bias, j, slopes[x] * (double)j / 8);
        trial_run(&trial, NULL);
        reference_run(&ref, &trial.request);
        double room = (trial.shape.dtype == DTYPE_FLOAT32 ? 2e-4 : 1e-12) * trial_largest_value(&trial);
        for (size_t at = 0; at < 9 * 4; at++) /* scores up to 5600: their own rounding shows */
            if (!(fabs(trial_value(&trial, QUANTITY_OUTPUT, at) - ref.of[QUANTITY_OUTPUT][at]) <= room))
                ck_abort_msg("slope %g: output %zu is %.9g, not %.9g", slopes[x], at,
                             trial_value(&trial, QUANTITY_OUTPUT, at), ref.of[QUANTITY_OUTPUT][at]);
        reference_free(&ref);
        trial_end(&trial);
    }
}
END_TEST

/* The mean of numbers near the end of the dtype is no overflow, though their sum is. */
START_TEST(a_mean_of_huge_values_is_finite)
{
    struct draw draw = {7};
    struct trial trial;
    double huge = _i == DTYPE_FLOAT32 ? 3e38 : 1.7e308;
    trial_start(&trial, trial_shape_plain((enum dtype)_i, 70, 600, 8, 3), &draw);
    for (size_t at = 0; at < 600 * 3; at++)
        trial_set(trial.request.v, at, huge);
    trial_run(&trial, NULL);
    for (size_t at = 0; at < 70 * 3; at++)
        ck_assert_msg(fabs(trial_value(&trial, QUANTITY_OUTPUT, at) / huge - 1) < 1e-5, "output %zu is %g", at,
                      trial_value(&trial, QUANTITY_OUTPUT, at));
    trial_end(&trial);
}
END_TEST

/* Empty rows are found in tiles too, and listed; the others are computed when zeros are asked for. */
START_TEST(empty_rows_between_full_ones)
{
    struct draw draw = {7};
    struct trial trial;
    struct error err = {0};
    trial_start(&trial, trial_shape_plain((enum dtype)_i, 130, 1300, 8, 3), &draw);
    trial.request.mask.allow = trial_booleans(&trial, 2, (const size_t[]){130, 1}, 100, &draw);
    trial_set(trial.request.mask.allow, 3, 0);
    trial_set(trial.request.mask.allow, 129, 0);
    ck_assert(!trial_try(&trial, NULL, &err));
    ck_assert_ptr_nonnull(strstr(err.faults[0].text, "query 3, query 129"));
    trial.request.mask.empty_rows_zero = true;
    trial_run(&trial, NULL);
    for (size_t i = 0; i < 130; i++) {
        bool empty = i == 3 || i == 129;
        ck_assert((trial_value(&trial, QUANTITY_OUTPUT, i * 3) == 0) == empty);
        ck_assert((isinf(trial_value(&trial, QUANTITY_LOG_SUM_EXP, i)) != 0) == empty);
    }
    trial_end(&trial);
}
END_TEST

Suite *fused_suite(void);

Suite *fused_suite(void)
{
    TCase *tests = tcase_create("large");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, start, NULL);
    tcase_add_loop_test(tests, tiles_equal_the_reference, 0, 2); /* float64, float32 */
    tcase_add_test(tests, own_products_equal_the_reference);
    tcase_add_loop_test(tests, split_keys_equal_the_reference, 0, 2);
    tcase_add_loop_test(tests, many_keys_stay_exact, 0, 2);
    tcase_add_loop_test(tests, rising_and_falling_scores_equal_the_reference, 0, 2);
    tcase_add_loop_test(tests, a_mean_of_huge_values_is_finite, 0, 2);
    tcase_add_loop_test(tests, empty_rows_between_full_ones, 0, 2);
    Suite *suite = suite_create("fused");
    suite_add_tcase(suite, tests);
    return suite;
}
