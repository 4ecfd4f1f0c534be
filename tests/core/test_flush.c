/* Subnormal numbers: large heads take them for 0, nobody else does, and no thread stays that way. */
#include "core/attention.h"
#include "core/forward/flush.h"
#include "core/tensor/blas.h"
#include "tests/core/trial.h"

#include <check.h>
#include <float.h>
#include <math.h>

static void start(void)
{
    struct error err = {0};
    ck_assert_msg(blas_start(&err), "%s", err.faults[0].text);
}

START_TEST(the_control_word_is_put_back)
{
    uint64_t before = flush_control();
    uint64_t saved = flush_begin();
    volatile float tiny = FLT_MIN;
    float flushed = tiny / 2;
    flush_end(saved);
    ck_assert(saved == before && flush_control() == before);
#if defined __x86_64__ || defined __aarch64__
    ck_assert(flushed == 0);
#endif
    ck_assert(tiny / 2 > 0);
}
END_TEST

static void note_control(void *context, size_t index, size_t slot)
{
    (void)slot;
    ((uint64_t *)context)[index] = flush_control();
}

static double run_subnormal_values(size_t n, size_t m, enum dtype dtype, struct pool *pool)
{
    struct draw draw = {1};
    struct trial trial;
    trial_start(&trial, trial_shape_plain(dtype, n, m, 4, 4), &draw);
    for (size_t at = 0; at < m * 4; at++)
        trial_set(trial.request.v, at, dtype == DTYPE_FLOAT32 ? 1e-40 : 1e-310);
    trial_run(&trial, pool);
    double found = trial_value(&trial, QUANTITY_OUTPUT, 0);
    trial_end(&trial);
    return found;
}

/* Values below the normal numbers tell which way a head went. */
START_TEST(large_heads_flush_and_small_ones_do_not)
{
    struct pool *pool = pool_start(2, 4);
    uint64_t before = flush_control(), control[64];
    ck_assert(run_subnormal_values(3, 5, (enum dtype)_i, pool) > 0);
#if defined __x86_64__ || defined __aarch64__
    ck_assert(run_subnormal_values(300, 700, (enum dtype)_i, pool) == 0);
#endif
    pool_run(pool, 64, note_control, control);
    for (size_t x = 0; x < 64; x++)
        ck_assert_uint_eq(control[x], before);
    pool_stop(pool);
}
END_TEST

static double run_far_key(size_t n, size_t m)
{
    struct draw draw = {3};
    struct trial trial;
    trial_start(&trial, trial_shape_plain(DTYPE_FLOAT32, n, m, 4, 4), &draw);
    trial.request.mask.bias = trial_tensor(&trial, 2, (const size_t[]){1, m}, &draw);
    for (size_t at = 0; at < m; at++)
        trial_set(trial.request.mask.bias, at, at == 0 ? -95 : 0); /* e^-95 is about 5e-42 */
    trial_run(&trial, NULL);
    double found = trial_value(&trial, QUANTITY_WEIGHTS, 0);
    ck_assert_double_gt(trial_value(&trial, QUANTITY_WEIGHTS, 1), 0);
    trial_end(&trial);
    return found;
}

/* So do the steps of whole rows. */
START_TEST(steps_of_large_heads_flush_too)
{
    uint64_t before = flush_control();
    ck_assert(run_far_key(2, 3) > 0);
#if defined __x86_64__ || defined __aarch64__
    ck_assert(run_far_key(60, 200) == 0);
#endif
    ck_assert_uint_eq(flush_control(), before);
}
END_TEST

/* A bias of -100 makes weights of e^-100: as good as hidden, within the tolerance of the exact result. */
START_TEST(tiny_weights_change_nothing)
{
    struct draw draw = {2};
    struct trial trial;
    struct reference ref;
    trial_start(&trial, trial_shape_plain((enum dtype)_i, 60, 200, 16, 8), &draw);
    trial.request.mask.bias = trial_tensor(&trial, 2, (const size_t[]){60, 200}, &draw);
    for (size_t at = 0; at < (size_t)60 * 200; at++)
        trial_set(trial.request.mask.bias, at, draw_chance(&draw, 60) ? -100 : 0);
    trial_run(&trial, NULL);
    reference_run(&ref, &trial.request);
    double room = trial_tolerance(&trial) * trial_largest_value(&trial);
    for (size_t at = 0; at < (size_t)60 * 8; at++)
        ck_assert_double_le(fabs(trial_value(&trial, QUANTITY_OUTPUT, at) - ref.of[QUANTITY_OUTPUT][at]), room);
    reference_free(&ref);
    trial_end(&trial);
}
END_TEST

Suite *flush_suite(void);

Suite *flush_suite(void)
{
    TCase *tests = tcase_create("subnormal numbers");
    tcase_add_checked_fixture(tests, start, NULL);
    tcase_add_test(tests, the_control_word_is_put_back);
    tcase_add_loop_test(tests, large_heads_flush_and_small_ones_do_not, 0, 2); /* float64, float32 */
    tcase_add_test(tests, steps_of_large_heads_flush_too);
    tcase_add_loop_test(tests, tiny_weights_change_nothing, 0, 2);
    Suite *suite = suite_create("flush");
    suite_add_tcase(suite, tests);
    return suite;
}
