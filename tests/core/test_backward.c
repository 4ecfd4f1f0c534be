/* The way back against complex steps, over every layout, mask and option; its identities; the numbers of the design. */
#include "core/tensor/blas.h"
#include "tests/core/reference_step.h"
#include "tests/core/slope.h"

#include <check.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define REQUESTS 600
#define REQUESTS_PER_TEST 60
#define MOVES 3 /* numbers of each gradient that are moved, chosen at random; one in large heads */

static void start(void)
{
    struct error err = {0};
    ck_assert_msg(blas_start(&err), "%s", err.faults[0].text);
}

static double largest(const struct slope *slope, enum gradient gradient)
{
    double max = 0;
    for (size_t at = 0; at < gradient_count(&slope->trial.attention, gradient); at++)
        max = fmax(max, fabs(slope_value(slope, gradient, at)));
    return max;
}

static bool moves(const struct slope *slope, enum gradient gradient)
{
    return (slope->rows[gradient] != NULL || slope->results.of[gradient] != NULL) && gradient != GRADIENT_ROW_DOT &&
           gradient_kind(gradient) != GRADIENT_TERM;
}

/* A bias that hides cannot move. */
static bool is_fixed(const struct slope *slope, enum gradient gradient, size_t at)
{
    return gradient == GRADIENT_BIAS && isinf(reference_element(slope->trial.request.mask.bias, at));
}

static void check_moves(const struct slope *slope, enum gradient gradient, double unit, struct draw *draw,
                        uint64_t seed)
{
    const struct attention *a = &slope->trial.attention;
    size_t count = gradient_count(a, gradient);
    size_t most = a->queries * a->keys > 4000 ? 1 : MOVES;
    for (size_t move = 0; move < most; move++) {
        size_t at = draw_size(draw, 0, count - 1);
        if (is_fixed(slope, gradient, at))
            continue;
        double expected = reference_derivative(a, slope->upstream, (struct reference_move){gradient, at});
        double found = slope_value(slope, gradient, at);
        if (!(fabs(found - expected) <= 1e-13 * unit))
            ck_abort_msg("seed %" PRIu64 ": d %s[%zu] is %.17g, not %.17g (unit %g)", seed, gradient_name(gradient), at,
                         found, expected, unit);
    }
}

/* dL/dx of any number x by core = Im L(x + ih) / h. The unit of the error is the largest gradient of the request that
 * the rounding of a step can reach. */
static void check_request(uint64_t seed)
{
    struct draw draw = {seed};
    struct slope slope;
    slope_random(&slope, &draw, DTYPE_FLOAT64);
    slope_run(&slope, NULL, &draw);
    double unit = 1;
    for (size_t x = 0; x < GRADIENT_COUNT; x++)
        if (moves(&slope, (enum gradient)x))
            unit = fmax(unit, largest(&slope, (enum gradient)x));
    for (size_t x = 0; x < GRADIENT_COUNT; x++)
        if (moves(&slope, (enum gradient)x))
            check_moves(&slope, (enum gradient)x, unit, &draw, seed);
    trial_end(&slope.trial);
}

START_TEST(complex_steps_agree)
{
    for (uint64_t seed = 0; seed < REQUESTS_PER_TEST; seed++)
        check_request((uint64_t)_i * REQUESTS_PER_TEST + seed);
}
END_TEST

/* The same where tiles and BLAS compute: several tiles of rows and of keys, parts of keys. */
START_TEST(complex_steps_agree_in_large_heads)
{
    struct draw draw = {(uint64_t)_i + 7};
    struct slope slope;
    for (bool large = false; !large;) {
        slope = (struct slope){.upstream = NULL};
        struct trial_shape shape = trial_shape_random(&draw, DTYPE_FLOAT64);
        shape.queries += 126 * (size_t)(_i % 2);
        shape.keys += 60 + (_i % 2 ? 0 : 1070U);
        shape.heads = shape.packed || shape.rank > 2 ? 2 : 1;
        shape.batch = shape.kv_heads = 1;
        trial_start(&slope.trial, shape, &draw);
        slope.trial.request.heads = shape.packed ? shape.heads : 0;
        slope.trial.request.kv_heads = shape.packed ? shape.kv_heads : 0;
        trial_mask_random(&slope.trial, &draw);
        trial_options_random(&slope.trial, &draw);
        large = slope.trial.shape.queries * slope.trial.shape.keys >= 4000;
        if (!large)
            trial_end(&slope.trial);
    }
    slope_run(&slope, NULL, &draw);
    double unit = 1;
    for (size_t x = 0; x < GRADIENT_COUNT; x++)
        if (moves(&slope, (enum gradient)x))
            unit = fmax(unit, largest(&slope, (enum gradient)x));
    for (size_t x = 0; x < GRADIENT_COUNT; x++)
        if (moves(&slope, (enum gradient)x))
            check_moves(&slope, (enum gradient)x, unit, &draw, (uint64_t)_i);
    trial_end(&slope.trial);
}
END_TEST

/* --- identities --- */

static double weight(const struct slope *slope, size_t row, size_t j)
{
    return trial_value(&slope->trial, QUANTITY_WEIGHTS, row * slope->trial.attention.keys + j);
}

/* Every quantity of the forward way beside the gradients. */
static void run_both(struct slope *slope, struct draw *draw)
{
    slope_run(slope, NULL, draw);
    trial_run(&slope->trial, NULL);
}

/* sum_j d masked_ij = a_i D_i, a_i the sink's weight (0 without one), and D_i = sum_j A_ij dA_ij. */
static void check_row(const struct slope *slope, size_t row, uint64_t seed)
{
    const struct attention *a = &slope->trial.attention;
    const double *sinks = slope->trial.request.sinks.values;
    double sum = 0, mean = 0, size = 1, dot = slope_value(slope, GRADIENT_ROW_DOT, row);
    double l = slope->back.log_sum_exp[row];
    double rest = sinks == NULL ? 0 : exp(sinks[row / a->queries % a->heads] - l);
    bool empty = isinf(trial_value(&slope->trial, QUANTITY_LOG_SUM_EXP, row)) != 0;
    for (size_t j = 0; j < a->keys; j++) {
        double d = slope_value(slope, GRADIENT_WEIGHTS, row * a->keys + j);
        sum += slope_value(slope, GRADIENT_MASKED, row * a->keys + j);
        mean += weight(slope, row, j) * d;
        size = fmax(size, fabs(d));
    }
    if (fabs(mean - dot) > 1e-13 * size || (!empty && fabs(sum - rest * dot) > 1e-13 * size))
        ck_abort_msg("seed %" PRIu64 ", row %zu: sum of d masked %g, a D %g; sum A dA %g, D %g", seed, row, sum,
                     rest * dot, mean, dot);
}

START_TEST(rows_of_the_softmax_add_up)
{
    struct draw draw = {(uint64_t)_i + 1000};
    struct slope slope;
    slope_random(&slope, &draw, DTYPE_FLOAT64);
    while (slope.trial.request.variant == VARIANT_LINEAR) {
        trial_end(&slope.trial);
        slope_random(&slope, &draw, DTYPE_FLOAT64);
    }
    run_both(&slope, &draw);
    const struct attention *a = &slope.trial.attention;
    for (size_t row = 0; row < a->batch * a->heads * a->queries; row++)
        check_row(&slope, row, (uint64_t)_i);
    trial_end(&slope.trial);
}
END_TEST

static double sum_products(const struct slope *slope, enum gradient gradient, struct tensor t)
{
    double sum = 0;
    for (size_t at = 0; at < gradient_count(&slope->trial.attention, gradient); at++) {
        size_t offset = 0, rest = at;
        for (size_t axis = 4; axis-- > 0; rest /= t.shape[axis])
            offset += rest % t.shape[axis] * t.stride[axis];
        sum += slope_value(slope, gradient, at) * reference_element(t, offset);
    }
    return sum;
}

/* sum q dq = sum k dk = sum scores dscores, q and k as they entered the scores: each is how L grows with their size. */
START_TEST(queries_keys_and_scores_grow_together)
{
    struct draw draw = {(uint64_t)_i + 2000};
    struct slope slope;
    slope_random(&slope, &draw, DTYPE_FLOAT64);
    run_both(&slope, &draw);
    const struct attention *a = &slope.trial.attention;
    double q = sum_products(&slope, GRADIENT_INPUTS_Q, a->q), k = sum_products(&slope, GRADIENT_INPUTS_K, a->k);
    double s = 0, size = 1;
    for (size_t at = 0; at < gradient_count(a, GRADIENT_SCORES); at++) {
        double term = slope_value(&slope, GRADIENT_SCORES, at) * trial_value(&slope.trial, QUANTITY_SCORES, at);
        s += term;
        size += fabs(term);
    }
    ck_assert_double_eq_tol(q, s, 1e-13 * size);
    ck_assert_double_eq_tol(k, s, 1e-13 * size);
    trial_end(&slope.trial);
}
END_TEST

/* d masked_l = sum_j d weights_j (d weights_j / d masked_l), and each term d product = d score. */
START_TEST(the_jacobian_leads_from_weights_to_masked)
{
    struct draw draw = {(uint64_t)_i + 3000};
    struct slope slope;
    slope_random(&slope, &draw, DTYPE_FLOAT64);
    while (slope.trial.request.variant == VARIANT_LINEAR) {
        trial_end(&slope.trial);
        slope_random(&slope, &draw, DTYPE_FLOAT64);
    }
    run_both(&slope, &draw);
    const struct attention *a = &slope.trial.attention;
    size_t m = a->keys;
    for (size_t at = 0; at < gradient_count(a, GRADIENT_MASKED); at++) {
        double sum = 0, size = 1;
        for (size_t j = 0; j < m; j++) {
            double d = slope_value(&slope, GRADIENT_WEIGHTS, at / m * m + j);
            sum += d * slope_value(&slope, GRADIENT_JACOBIAN, (at / m * m + j) * m + at % m);
            size = fmax(size, fabs(d));
        }
        if (fabs(sum - slope_value(&slope, GRADIENT_MASKED, at)) > 1e-13 * size)
            ck_abort_msg("seed %d: d masked at %zu is %g, by the jacobian %g", _i, at,
                         slope_value(&slope, GRADIENT_MASKED, at), sum);
    }
    for (size_t at = 0; at < gradient_count(a, GRADIENT_PRODUCTS); at++)
        if (slope_value(&slope, GRADIENT_PRODUCTS, at) != slope_value(&slope, GRADIENT_SCORES, at / a->d_k))
            ck_abort_msg("d product at %zu is not d score", at);
    trial_end(&slope.trial);
}
END_TEST

/* Chosen, not multiplied: +0 to the bit wherever a key is hidden. */
START_TEST(hidden_cells_get_exactly_nothing)
{
    static const enum gradient steps[] = {GRADIENT_DROPPED, GRADIENT_WEIGHTS, GRADIENT_MASKED, GRADIENT_BIASED,
                                          GRADIENT_CAPPED,  GRADIENT_SCALED,  GRADIENT_SCORES};
    struct draw draw = {(uint64_t)_i + 4000};
    struct slope slope;
    const enum dtype dtype = _i % 2 ? DTYPE_FLOAT32 : DTYPE_FLOAT64;
    slope_random(&slope, &draw, dtype);
    while (slope.trial.request.variant != VARIANT_SOFTMAX) {
        trial_end(&slope.trial);
        slope_random(&slope, &draw, dtype);
    }
    run_both(&slope, &draw);
    for (size_t s = 0; s < sizeof steps / sizeof *steps; s++)
        for (size_t at = 0; slope.rows[steps[s]] && at < gradient_count(&slope.trial.attention, steps[s]); at++) {
            double d = slope_value(&slope, steps[s], at);
            bool hidden = trial_value(&slope.trial, QUANTITY_ALLOWED, at) == 0;
            if ((hidden && d != 0) || (d == 0 && signbit(d)))
                ck_abort_msg("seed %d: d %s at %zu is %g", _i, gradient_name(steps[s]), at, d);
        }
    trial_end(&slope.trial);
}
END_TEST

/* --- who computes does not matter --- */

static void assert_same(const struct slope *one, const struct slope *other, size_t workers)
{
    const struct attention *a = &one->trial.attention;
    for (size_t x = 0; x < GRADIENT_COUNT; x++) {
        const void *left = one->results.of[x], *right = other->results.of[x];
        size_t size = left ? gradient_count(a, (enum gradient)x) * dtype_size(a->dtype) : 0;
        ck_assert_msg(size == 0 || memcmp(left, right, size) == 0, "%s differs with %zu workers",
                      gradient_name((enum gradient)x), workers);
    }
}

/* Large heads with every option; the bits must not depend on the number of workers. */
START_TEST(bits_do_not_depend_on_workers)
{
    static const size_t workers[] = {1, 2, 5};
    struct slope slopes[2];
    for (size_t run = 0; run < 4; run++) {
        struct draw draw = {42};
        struct slope *slope = &slopes[run > 0];
        struct trial_shape shape = trial_shape_plain(_i % 2 ? DTYPE_FLOAT32 : DTYPE_FLOAT64, 300, 1100, 24, 20);
        shape.rank = 3;
        shape.heads = 4;
        shape.kv_heads = _i < 2 ? 1 : 4;
        *slope = (struct slope){.upstream = NULL};
        trial_start(&slope->trial, shape, &draw);
        slope->trial.request.mask.causal = true;
        slope->trial.request.mask.align_end = true;
        slope->trial.request.mask.alibi = true;
        slope->trial.request.softcap = 3;
        slope->trial.request.mask.bias = trial_tensor(&slope->trial, 2, (const size_t[]){300, 1}, &draw);
        slope->trial.request.sinks = trial_reals(&slope->trial, 4, &draw);
        struct pool *pool = run > 0 ? pool_start(workers[run - 1], 1) : NULL;
        slope_run(slope, pool, &draw);
        if (pool)
            pool_stop(pool);
        if (run == 0)
            continue;
        assert_same(&slopes[0], slope, workers[run - 1]);
        trial_end(&slope->trial);
    }
    trial_end(&slopes[0].trial);
}
END_TEST

/* --- numbers of the design, by an implementation of its own --- */

static void start_numbers(struct slope *slope, size_t n, size_t m, size_t d, const double *q, const double *k,
                          const double *v, double *upstream)
{
    struct draw draw = {1};
    *slope = (struct slope){.upstream = upstream};
    trial_start(&slope->trial, trial_shape_plain(DTYPE_FLOAT64, n, m, d, d), &draw);
    for (size_t at = 0; at < n * d; at++)
        trial_set(slope->trial.request.q, at, q[at]);
    for (size_t at = 0; at < m * d; at++) {
        trial_set(slope->trial.request.k, at, k[at]);
        trial_set(slope->trial.request.v, at, v[at]);
    }
}

static void assert_numbers(const struct slope *slope, enum gradient gradient, size_t count, const double *expected)
{
    for (size_t at = 0; at < count; at++)
        ck_assert_msg(fabs(slope_value(slope, gradient, at) - expected[at]) < 6e-9, "d %s at %zu is %.9g, not %.9g",
                      gradient_name(gradient), at, slope_value(slope, gradient, at), expected[at]);
}

START_TEST(numbers_of_the_cat)
{
    const double q[] = {.3, -.2, .5, .1, 1.1, -.8, .2, .3}, k[] = {-.4, -.3, .2, 1.2, 1.6, -.7, -.4, -.5};
    const double v[] = {-.5, -.4, .1, 1.1, 1.2, -.3, -.2, -.6};
    double upstream[8] = {[4] = 1};
    struct draw draw = {1};
    struct slope slope;
    start_numbers(&slope, 2, 2, 4, q, k, v, upstream);
    slope.trial.request.mask.causal = true;
    slope_run(&slope, NULL, &draw);
    assert_numbers(&slope, GRADIENT_ROW_DOT, 2, (const double[]){0, .7241845});
    assert_numbers(&slope, GRADIENT_MASKED, 4, (const double[]){0, 0, -.3426388, .3426388});
    assert_numbers(&slope, GRADIENT_SCORES, 4, (const double[]){0, 0, -.1713194, .1713194});
    assert_numbers(&slope, GRADIENT_SCALE, 1, (const double[]){.64758734});
    assert_numbers(&slope, GRADIENT_Q, 8, (const double[]){0, 0, 0, 0, .3426388, -.06852776, -.10279164, -.29124298});
    assert_numbers(
        &slope, GRADIENT_K, 8,
        (const double[]){-.18845134, .13705552, -.03426388, -.05139582, .18845134, -.13705552, .03426388, .05139582});
    assert_numbers(&slope, GRADIENT_V, 8, (const double[]){.27989147, 0, 0, 0, .72010853, 0, 0, 0});
    trial_end(&slope.trial);
}
END_TEST

START_TEST(numbers_of_softcap_bias_and_sink)
{
    const double q[] = {1, 0, 0, 2}, k[] = {1, 0, 0, 1, 1, 1}, v[] = {1, 2, 3, 4, 5, 6}, sink[] = {0};
    const double bias[] = {0, -1, .5, 0, 0, 0};
    double upstream[4] = {1, 0, 0, 1};
    struct draw draw = {1};
    struct slope slope;
    start_numbers(&slope, 2, 3, 2, q, k, v, upstream);
    slope.trial.request.softcap = 1;
    slope.trial.request.sinks = (struct reals){sink, 1};
    slope.trial.request.mask.bias = trial_tensor(&slope.trial, 2, (const size_t[]){2, 3}, &draw);
    for (size_t at = 0; at < 6; at++)
        trial_set(slope.trial.request.mask.bias, at, bias[at]);
    slope_run(&slope, NULL, &draw);
    assert_numbers(&slope, GRADIENT_WEIGHTS, 6, (const double[]){1, 3, 5, 2, 4, 6});
    assert_numbers(&slope, GRADIENT_ROW_DOT, 2, (const double[]){2.90141782, 3.83422759});
    assert_numbers(&slope, GRADIENT_BIAS, 6,
                   (const double[]){-.560426, .00581461, 1.01979749, -.26728649, .05872959, .76728649});
    assert_numbers(&slope, GRADIENT_SCALED, 6,
                   (const double[]){-.35267063, .00581461, .64174864, -.26728649, .0123785, .16172181});
    assert_numbers(&slope, GRADIENT_SCALE, 1, (const double[]){.63727864});
    assert_numbers(&slope, GRADIENT_Q, 4, (const double[]){.20440902, .45789636, -.0746455, .12310751});
    assert_numbers(&slope, GRADIENT_K, 6,
                   (const double[]){-.24937579, -.37800018, .00411155, .01750584, .45378482, .22870918});
    assert_numbers(&slope, GRADIENT_V, 6,
                   (const double[]){.29474111, .14572155, .05898234, .35427845, .48594594, .35427845});
    assert_numbers(&slope, GRADIENT_SINKS, 1, (const double[]){-1.02391569});
    trial_end(&slope.trial);
}
END_TEST

/* --- what does not fit --- */

START_TEST(overflow_is_named)
{
    struct draw draw = {5};
    struct slope slope = {.upstream = NULL};
    struct error err = {0};
    double upstream[2 * 3] = {0, 0, 0, 0, 3e38, 0};
    trial_start(&slope.trial, trial_shape_plain(DTYPE_FLOAT32, 2, 4, 2, 3), &draw);
    slope.upstream = upstream;
    for (size_t at = 0; at < 12; at++)
        trial_set(slope.trial.request.v, at, 100);
    ck_assert(!slope_try(&slope, NULL, &draw, &err));
    ck_assert_int_eq(err.code, ERROR_INVALID);
    ck_assert_str_eq(err.faults[0].name, "backward");
    ck_assert_msg(strstr(err.faults[0].text, "overflows float32") && strstr(err.faults[0].text, "query 1"), "%s",
                  err.faults[0].text);
    trial_end(&slope.trial);
}
END_TEST

START_TEST(cancelled_when_nobody_waits)
{
    struct draw draw = {6};
    struct slope slope = {.upstream = NULL};
    struct error err = {0};
    atomic_bool cancel = true;
    trial_start(&slope.trial, trial_shape_plain(DTYPE_FLOAT32, 200, 300, 8, 8), &draw);
    slope_run(&slope, NULL, &draw);
    ck_assert(!backward_run(&slope.back, &slope.results, NULL, &cancel, slope.trial.arena, &err));
    ck_assert_int_eq(err.code, ERROR_CANCELLED);
    trial_end(&slope.trial);
}
END_TEST

Suite *backward_suite(void);

Suite *backward_suite(void)
{
    TCase *tests = tcase_create("backward");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, start, NULL);
    tcase_add_loop_test(tests, complex_steps_agree, 0, REQUESTS / REQUESTS_PER_TEST);
    tcase_add_loop_test(tests, complex_steps_agree_in_large_heads, 0, 8);
    tcase_add_loop_test(tests, rows_of_the_softmax_add_up, 0, 50);
    tcase_add_loop_test(tests, queries_keys_and_scores_grow_together, 0, 50);
    tcase_add_loop_test(tests, the_jacobian_leads_from_weights_to_masked, 0, 50);
    tcase_add_loop_test(tests, hidden_cells_get_exactly_nothing, 0, 50);
    tcase_add_loop_test(tests, bits_do_not_depend_on_workers, 0, 4);
    tcase_add_test(tests, numbers_of_the_cat);
    tcase_add_test(tests, numbers_of_softcap_bias_and_sink);
    tcase_add_test(tests, overflow_is_named);
    tcase_add_test(tests, cancelled_when_nobody_waits);
    Suite *suite = suite_create("backward");
    suite_add_tcase(suite, tests);
    return suite;
}
