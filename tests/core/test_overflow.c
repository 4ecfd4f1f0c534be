/* Numbers near the end of the dtype: what overflows where it is visible is refused with the name of its step, on every
 * path, and nothing else is. */
#include "core/attention.h"
#include "core/tensor/blas.h"
#include "tests/core/trial.h"

#include <check.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void start(void)
{
    struct error err = {0};
    ck_assert_msg(blas_start(&err), "%s", err.faults[0].text);
}

static double largest_of(enum dtype dtype)
{
    return dtype == DTYPE_FLOAT32 ? (double)FLT_MAX : DBL_MAX;
}

static enum dtype dtype_of(int loop)
{
    return loop % 2 ? DTYPE_FLOAT32 : DTYPE_FLOAT64;
}

/* n = 3 rows, m = 5 keys or, for the paths of large heads, 70 and 600; q = k = v = 1. */
static void start_ones(struct trial *trial, enum dtype dtype, bool large, size_t d)
{
    struct draw draw = {1};
    trial_start(trial, trial_shape_plain(dtype, large ? 70 : 3, large ? 600 : 5, d, d), &draw);
    const struct tensor all[] = {trial->request.q, trial->request.k, trial->request.v};
    for (size_t x = 0; x < 3; x++)
        for (size_t at = 0; at < tensor_count(all[x]); at++)
            trial_set(all[x], at, 1);
}

static void fill_row(struct tensor t, size_t row, double value)
{
    for (size_t at = 0; at < t.shape[1]; at++)
        trial_set(t, row * t.shape[1] + at, value);
}

/* attention_run with the output alone must say what it says with everything. */
static bool try_output_alone(struct trial *trial, struct error *err)
{
    struct attention_results wanted = {.of = {NULL}};
    if (!attention_check(&trial->attention, &trial->request, err) ||
        !attention_prepare(&trial->attention, trial->arena, NULL, err))
        return false;
    wanted.of[QUANTITY_OUTPUT] = trial_room(trial, QUANTITY_OUTPUT);
    return attention_run(&trial->attention, &wanted, NULL, NULL, trial->arena, err);
}

static void assert_refused(struct trial *trial, const char *step, const char *row)
{
    struct error all = {0}, alone = {0};
    ck_assert_msg(!trial_try(trial, NULL, &all), "accepted: %s of %s", step, row);
    ck_assert_int_eq(all.code, ERROR_INVALID);
    ck_assert_msg(strstr(all.faults[0].text, step) && strstr(all.faults[0].text, row), "not %s of %s: %s", step, row,
                  all.faults[0].text);
    ck_assert(!try_output_alone(trial, &alone));
    ck_assert_str_eq(all.faults[0].text, alone.faults[0].text);
    trial_end(trial);
}

/* Everything that is visible is finite. */
static void assert_accepted(struct trial *trial)
{
    struct error err = {0};
    trial_run(trial, NULL);
    ck_assert_msg(try_output_alone(trial, &err), "%s", err.faults[0].text);
}

static void assert_finite(const struct trial *trial, enum quantity quantity, size_t count)
{
    for (size_t at = 0; at < count; at++)
        ck_assert_msg(isfinite(trial_value(trial, quantity, at)), "%s %zu is %g", quantity_name(quantity), at,
                      trial_value(trial, quantity, at));
}

/* q.k overflows, whatever the scale makes of it: even 0, and softcap does not hide it. */
START_TEST(a_score_is_refused)
{
    const double root = sqrt(largest_of(dtype_of(_i))), scales[] = {1, 1e-30, 0, 1e-46};
    for (size_t x = 0; x < 4; x++)
        for (int capped = 0; capped < 2; capped++) {
            struct trial trial;
            start_ones(&trial, dtype_of(_i), _i >= 2, 16);
            fill_row(trial.request.q, 2, root);
            fill_row(trial.request.k, 4, -root);
            trial.request.has_scale = true;
            trial.request.scale = scales[x];
            trial.request.softcap = capped * 30;
            assert_refused(&trial, "scores", "query 2.");
        }
}
END_TEST

/* A term counts, though the sum of all terms is 0. */
START_TEST(a_term_is_refused)
{
    struct trial trial;
    start_ones(&trial, dtype_of(_i), _i >= 2, 4);
    fill_row(trial.request.q, 1, 2 * sqrt(largest_of(dtype_of(_i))));
    trial_set(trial.request.k, 0, sqrt(largest_of(dtype_of(_i))));
    trial_set(trial.request.k, 1, -sqrt(largest_of(dtype_of(_i))));
    assert_refused(&trial, "scores", "query 1.");
}
END_TEST

/* What overflows on the way to a sum that does not is no overflow: half of it three times, and as often less. */
START_TEST(a_score_that_fits_is_computed)
{
    struct trial trial;
    double half = dtype_of(_i) == DTYPE_FLOAT32 ? 0x1p127 : 0x1p1023;
    start_ones(&trial, dtype_of(_i), _i >= 2, 6);
    for (size_t t = 0; t < 6; t++)
        trial_set(trial.request.k, t, t < 3 ? half : -half);
    trial.request.has_scale = true;
    trial.request.scale = 1;
    assert_accepted(&trial);
    ck_assert_double_eq(trial_value(&trial, QUANTITY_SCORES, 0), 0);
    ck_assert_double_eq(trial_value(&trial, QUANTITY_SCORES, 1), 6);
    trial_end(&trial);
}
END_TEST

START_TEST(a_scaled_score_is_refused)
{
    struct trial trial;
    start_ones(&trial, dtype_of(_i), _i >= 2, 1);
    fill_row(trial.request.q, 2, largest_of(dtype_of(_i)) / 4);
    trial.request.has_scale = true;
    trial.request.scale = 8;
    assert_refused(&trial, "scaled", "query 2.");
}
END_TEST

/* By a bias, or by ALiBi alone. */
START_TEST(a_biased_score_is_refused)
{
    struct trial trial;
    struct draw draw = {1};
    double slope = -largest_of(dtype_of(_i)) / 2;
    start_ones(&trial, dtype_of(_i), _i >= 2, 1);
    fill_row(trial.request.q, 2, largest_of(dtype_of(_i)) / 2);
    trial.request.mask.bias = trial_tensor(&trial, 2, (const size_t[]){trial.shape.queries, 1}, &draw);
    trial_set(trial.request.mask.bias, 2, largest_of(dtype_of(_i)));
    assert_refused(&trial, "biased", "query 2.");
    start_ones(&trial, dtype_of(_i), _i >= 2, 1);
    trial.request.mask.alibi = true;
    trial.request.mask.alibi_slopes = (struct reals){&slope, 1};
    assert_refused(&trial, "biased", "query 0, ");
}
END_TEST

/* The lowest number is an ordinary addend: it hides nothing and overflows nothing. */
START_TEST(the_lowest_bias_is_no_overflow)
{
    struct trial trial;
    struct draw draw = {1};
    start_ones(&trial, dtype_of(_i), _i >= 2, 1);
    trial.request.mask.bias = trial_tensor(&trial, 2, (const size_t[]){1, trial.shape.keys}, &draw);
    trial_set(trial.request.mask.bias, 1, -largest_of(dtype_of(_i)));
    fill_row(trial.request.q, 0, -1000);
    assert_accepted(&trial);
    ck_assert(trial_value(&trial, QUANTITY_BIASED, 1) == -largest_of(dtype_of(_i)));
    ck_assert(trial_value(&trial, QUANTITY_EXP, 1) == 0);
    trial_end(&trial);
}
END_TEST

/* s - max below the lowest number is the lowest number: only what is hidden is -inf. */
START_TEST(shifted_stops_at_the_lowest_number)
{
    struct trial trial;
    double most = largest_of(dtype_of(_i));
    start_ones(&trial, dtype_of(_i), _i >= 2, 1);
    trial.request.mask.causal = true;
    fill_row(trial.request.k, 0, 0.9 * most);
    fill_row(trial.request.k, 1, -0.9 * most);
    assert_accepted(&trial);
    size_t m = trial.shape.keys;
    ck_assert(trial_value(&trial, QUANTITY_SHIFTED, 2 * m + 1) == -most);
    ck_assert(trial_value(&trial, QUANTITY_EXP, 2 * m + 1) == 0);
    ck_assert(trial_value(&trial, QUANTITY_SHIFTED, 2 * m + 3) == -INFINITY);
    trial_end(&trial);
}
END_TEST

/* What is hidden may overflow, and changes no bit of what is not. */
START_TEST(hidden_overflow_is_no_fault)
{
    struct trial clean, dirty;
    start_ones(&clean, dtype_of(_i), _i >= 2, 8);
    clean.request.mask.causal = true;
    assert_accepted(&clean);
    start_ones(&dirty, dtype_of(_i), _i >= 2, 8);
    dirty.request.mask.causal = true;
    size_t hidden = _i >= 2 ? 300 : 4; /* n is 70 or 3 */
    fill_row(dirty.request.k, hidden, largest_of(dtype_of(_i)));
    fill_row(dirty.request.v, hidden, largest_of(dtype_of(_i)));
    fill_row(dirty.request.q, 1, 2);
    fill_row(clean.request.q, 1, 2);
    trial_run(&clean, NULL);
    trial_run(&dirty, NULL);
    for (size_t at = 0; at < dirty.shape.queries * 8; at++)
        ck_assert(trial_value(&dirty, QUANTITY_OUTPUT, at) == trial_value(&clean, QUANTITY_OUTPUT, at));
    for (size_t at = 0; at < dirty.shape.queries * dirty.shape.keys; at++)
        ck_assert(trial_value(&dirty, QUANTITY_WEIGHTS, at) == trial_value(&clean, QUANTITY_WEIGHTS, at));
    ck_assert(isinf(trial_value(&dirty, QUANTITY_SCORES, dirty.shape.keys + hidden)));
    trial_end(&clean);
    trial_end(&dirty);
}
END_TEST

/* In the counterexample that masks later every key enters the softmax, but not where the bias hides it. */
START_TEST(masking_later_hides_no_overflow)
{
    struct trial trial;
    struct draw draw = {1};
    for (int hidden = 0; hidden < 2; hidden++) {
        start_ones(&trial, dtype_of(_i), _i >= 2, 4);
        trial.request.variant = VARIANT_MASK_AFTER_SOFTMAX;
        trial.request.mask.causal = true;
        fill_row(trial.request.k, trial.shape.keys - 1, largest_of(dtype_of(_i)));
        if (hidden) {
            trial.request.mask.bias = trial_tensor(&trial, 2, (const size_t[]){1, trial.shape.keys}, &draw);
            trial_set(trial.request.mask.bias, trial.shape.keys - 1, -INFINITY);
            assert_accepted(&trial);
            assert_finite(&trial, QUANTITY_WEIGHTS, trial.shape.queries * trial.shape.keys);
            trial_end(&trial);
        } else
            assert_refused(&trial, "scores", "query 0, query 1, query 2");
    }
}
END_TEST

/* Without a softmax weights are as large as scores. */
START_TEST(linear_overflow_is_refused)
{
    struct trial trial;
    double root = sqrt(largest_of(dtype_of(_i)));
    start_ones(&trial, dtype_of(_i), _i >= 2, 4);
    trial.request.variant = VARIANT_LINEAR;
    fill_row(trial.request.q, 1, 4 * root);
    fill_row(trial.request.k, 2, root);
    assert_refused(&trial, "scores", "query 1.");
    start_ones(&trial, dtype_of(_i), _i >= 2, 4);
    trial.request.variant = VARIANT_LINEAR;
    fill_row(trial.request.q, 1, root);
    fill_row(trial.request.v, 3, root);
    assert_refused(&trial, "output", "query 1.");
}
END_TEST

/* The mean of the largest number and itself is the largest number, whatever the weights' last bits. */
START_TEST(a_mean_of_the_largest_number_is_that_number)
{
    for (size_t m = 1; m < 20; m++) {
        struct trial trial;
        struct draw draw = {m};
        size_t more = _i >= 2 ? 400 : 0;
        trial_start(&trial, trial_shape_plain(dtype_of(_i), more ? 40 : 2, m + more, 3, 3), &draw);
        for (size_t j = 0; j < m + more; j++)
            fill_row(trial.request.v, j, largest_of(dtype_of(_i)));
        assert_accepted(&trial);
        for (size_t at = 0; at < trial.shape.queries * 3; at++)
            ck_assert_msg(trial_value(&trial, QUANTITY_OUTPUT, at) > 0.999999 * largest_of(dtype_of(_i)), "%g",
                          trial_value(&trial, QUANTITY_OUTPUT, at));
        assert_finite(&trial, QUANTITY_OUTPUT, trial.shape.queries * 3);
        trial_end(&trial);
    }
}
END_TEST

/* Kept weights are divided by 1 - p: that may overflow, and does not depend on what is shown. */
START_TEST(dropout_may_overflow)
{
    struct trial trial;
    start_ones(&trial, dtype_of(_i), _i >= 2, 2);
    trial.request.has_dropout = true;
    trial.request.dropout_p = 0.9999;
    for (size_t j = 0; j < trial.shape.keys; j++)
        fill_row(trial.request.v, j, largest_of(dtype_of(_i)));
    trial.request.dropout_seed = 1;
    struct error all = {0}, alone = {0};
    bool good = trial_try(&trial, NULL, &all);
    ck_assert(good == try_output_alone(&trial, &alone));
    if (good)
        assert_finite(&trial, QUANTITY_CONTRIBUTIONS, trial.shape.queries * trial.shape.keys * 2);
    trial_end(&trial);
}
END_TEST

/* sqrt(2) times the largest number, by a turn of 45 degrees. `present` carries the key, hidden or not. */
START_TEST(a_rotated_key_is_refused)
{
    struct trial trial;
    struct error err = {0};
    start_ones(&trial, dtype_of(_i), _i >= 2, 2);
    trial.request.rope.on = true;
    trial.request.rope.theta = 10000;
    trial.request.mask.causal = true;
    size_t last = trial.shape.keys - 1;
    fill_row(trial.request.k, last, largest_of(dtype_of(_i)));
    ck_assert(!trial_try(&trial, NULL, &err));
    ck_assert_str_eq(err.faults[0].name, "rope");
    char name[32];
    snprintf(name, sizeof name, "key %zu ", last);
    ck_assert_msg(strstr(err.faults[0].text, name) != NULL, "%s", err.faults[0].text);
    trial_end(&trial);
}
END_TEST

/* --- against the definition --- */

/* The terms of row i and key j and their sum: powers of two, so exact. */
static bool score_overflows(const struct trial *trial, size_t i, size_t j)
{
    size_t d = trial->shape.d_k;
    double most = largest_of(trial->shape.dtype);
    double sum = 0, unit = ldexp(1, -80);
    for (size_t t = 0; t < d; t++) {
        double q = reference_element(trial->request.q, i * d + t), k = reference_element(trial->request.k, j * d + t);
        if (!(fabs(q * k) <= most))
            return true;
        sum += q * k * unit;
    }
    return fabs(sum) > most * unit;
}

/* Exponents anywhere, masks and paths of any kind: refused exactly where a visible score overflows. */
START_TEST(random_exponents_are_judged_as_defined)
{
    int refused = 0;
    for (uint64_t seed = 1; seed <= 120; seed++) {
        struct draw draw = {seed};
        struct trial trial;
        enum dtype dtype = dtype_of(_i);
        size_t n = draw_size(&draw, 1, seed % 2 ? 4 : 60), m = draw_size(&draw, n, seed % 2 ? 8 : 90);
        int reach = dtype == DTYPE_FLOAT32 ? 126 : 1022;
        trial_start(&trial, trial_shape_plain(dtype, n, m, seed % 2 ? 3 : 12, 2), &draw);
        for (size_t at = 0; at < tensor_count(trial.request.q); at++)
            trial_set(trial.request.q, at, ldexp(draw_chance(&draw, 50) ? 1 : -1, (int)draw_size(&draw, 0, 3)));
        for (size_t at = 0; at < tensor_count(trial.request.k); at++)
            trial_set(trial.request.k, at,
                      ldexp(draw_chance(&draw, 50) ? 1 : -1,
                            draw_chance(&draw, seed % 2 ? 10 : 1) ? reach - (int)draw_size(&draw, 0, 4) : 0));
        trial.request.mask.causal = draw_chance(&draw, 70);
        trial.request.has_scale = true;
        trial.request.scale = draw_chance(&draw, 50) ? 1 : 1e-10;
        bool expected = false;
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < m && !(trial.request.mask.causal && j > i); j++)
                expected |= score_overflows(&trial, i, j);
        struct error err = {0};
        ck_assert_msg(trial_try(&trial, NULL, &err) != expected, "seed %" PRIu64 " should %s", seed,
                      expected ? "be refused" : "pass");
        refused += expected;
        if (expected)
            ck_assert_msg(strstr(err.faults[0].text, "scores") != NULL, "%s", err.faults[0].text);
        trial_end(&trial);
    }
    ck_assert_msg(refused > 20 && refused < 100, "%d", refused);
}
END_TEST

Suite *overflow_suite(void);

Suite *overflow_suite(void)
{
    TCase *tests = tcase_create("large numbers");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, start, NULL);
    /* float64 and float32, small heads and large ones */
    tcase_add_loop_test(tests, a_score_is_refused, 0, 4);
    tcase_add_loop_test(tests, a_term_is_refused, 0, 4);
    tcase_add_loop_test(tests, a_score_that_fits_is_computed, 0, 4);
    tcase_add_loop_test(tests, a_scaled_score_is_refused, 0, 4);
    tcase_add_loop_test(tests, a_biased_score_is_refused, 0, 4);
    tcase_add_loop_test(tests, the_lowest_bias_is_no_overflow, 0, 4);
    tcase_add_loop_test(tests, shifted_stops_at_the_lowest_number, 0, 4);
    tcase_add_loop_test(tests, hidden_overflow_is_no_fault, 0, 4);
    tcase_add_loop_test(tests, masking_later_hides_no_overflow, 0, 4);
    tcase_add_loop_test(tests, linear_overflow_is_refused, 0, 4);
    tcase_add_loop_test(tests, a_mean_of_the_largest_number_is_that_number, 0, 4);
    tcase_add_loop_test(tests, dropout_may_overflow, 0, 4);
    tcase_add_loop_test(tests, a_rotated_key_is_refused, 0, 4);
    tcase_add_loop_test(tests, random_exponents_are_judged_as_defined, 0, 2);
    Suite *suite = suite_create("overflow");
    suite_add_tcase(suite, tests);
    return suite;
}
