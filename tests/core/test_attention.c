/* Attention against the numbers of the contract and against the reference, over every layout, mask and option. */
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

/* Q = [[1,0],[0,2]], K = [[1,0],[0,1],[1,1]], V = [[1,2],[3,4],[5,6]]. */
static void start_small(struct trial *trial, enum dtype dtype)
{
    const double q[] = {1, 0, 0, 2}, k[] = {1, 0, 0, 1, 1, 1}, v[] = {1, 2, 3, 4, 5, 6};
    struct draw draw = {1};
    trial_start(trial, trial_shape_plain(dtype, 2, 3, 2, 2), &draw);
    for (size_t at = 0; at < 4; at++)
        trial_set(trial->request.q, at, q[at]);
    for (size_t at = 0; at < 6; at++) {
        trial_set(trial->request.k, at, k[at]);
        trial_set(trial->request.v, at, v[at]);
    }
}

static void assert_numbers(const struct trial *trial, enum quantity quantity, size_t count, const double *expected)
{
    for (size_t at = 0; at < count; at++)
        ck_assert_msg(fabs(trial_value(trial, quantity, at) - expected[at]) < 1e-6, "%s at %zu is %.9g, not %.9g",
                      quantity_name(quantity), at, trial_value(trial, quantity, at), expected[at]);
}

START_TEST(plain_numbers)
{
    struct trial trial;
    start_small(&trial, (enum dtype)_i);
    trial_run(&trial, NULL);
    assert_numbers(&trial, QUANTITY_SCALED, 6, (const double[]){.70710678, 0, .70710678, 0, 1.41421356, 1.41421356});
    assert_numbers(&trial, QUANTITY_WEIGHTS, 6,
                   (const double[]){.40111209, .19777581, .40111209, .10838345, .44580827, .44580827});
    assert_numbers(&trial, QUANTITY_OUTPUT, 4, (const double[]){3, 4, 3.67484964, 4.67484964});
    trial_end(&trial);
}
END_TEST

START_TEST(causal_numbers)
{
    struct trial trial;
    start_small(&trial, (enum dtype)_i);
    trial.request.mask.causal = true;
    trial_run(&trial, NULL);
    assert_numbers(&trial, QUANTITY_WEIGHTS, 6, (const double[]){1, 0, 0, .19557032, .80442968, 0});
    assert_numbers(&trial, QUANTITY_OUTPUT, 4, (const double[]){1, 2, 2.60885937, 3.60885937});
    trial_end(&trial);
}
END_TEST

START_TEST(softcap_and_allow_numbers)
{
    struct trial trial;
    unsigned char allow[] = {1, 1, 0, 1, 1, 1};
    start_small(&trial, (enum dtype)_i);
    trial.request.softcap = 1;
    trial_run(&trial, NULL);
    assert_numbers(&trial, QUANTITY_CAPPED, 6, (const double[]){.60885937, 0, .60885937, 0, .88838556, .88838556});
    assert_numbers(&trial, QUANTITY_OUTPUT, 4, (const double[]){3, 4, 3.48826445, 4.48826445});
    trial.request.mask.allow = tensor_dense(DTYPE_BOOL, 2, (const size_t[]){2, 3}, allow);
    trial_run(&trial, NULL);
    assert_numbers(&trial, QUANTITY_WEIGHTS, 3, (const double[]){.64768056, .35231944, 0});
    assert_numbers(&trial, QUANTITY_OUTPUT, 2, (const double[]){1.70463887, 2.70463887});
    trial_end(&trial);
}
END_TEST

START_TEST(empty_row_numbers)
{
    struct trial trial;
    unsigned char allow[] = {0, 0, 0, 1, 0, 1};
    start_small(&trial, (enum dtype)_i);
    trial.request.mask.allow = tensor_dense(DTYPE_BOOL, 2, (const size_t[]){2, 3}, allow);
    trial.request.mask.empty_rows_zero = true;
    trial_run(&trial, NULL);
    assert_numbers(&trial, QUANTITY_WEIGHTS, 3, (const double[]){0, 0, 0});
    assert_numbers(&trial, QUANTITY_OUTPUT, 4, (const double[]){0, 0, 4.21771873, 5.21771873});
    ck_assert(trial_value(&trial, QUANTITY_LOG_SUM_EXP, 0) == -INFINITY);
    ck_assert(trial_value(&trial, QUANTITY_ROW_MAX, 0) == -INFINITY);
    ck_assert(isnan(trial_value(&trial, QUANTITY_ARGMAX_KEY, 0)));
    trial_end(&trial);
}
END_TEST

START_TEST(bias_numbers)
{
    struct trial trial;
    struct draw draw = {1};
    start_small(&trial, (enum dtype)_i);
    struct tensor bias = trial_tensor(&trial, 2, (const size_t[]){2, 3}, &draw);
    const double values[] = {0, -1, -INFINITY, 0, 0, 0};
    for (size_t at = 0; at < 6; at++)
        trial_set(bias, at, values[at]);
    trial.request.mask.bias = bias;
    trial_run(&trial, NULL);
    assert_numbers(&trial, QUANTITY_WEIGHTS, 3, (const double[]){.84646064, .15353936, 0});
    assert_numbers(&trial, QUANTITY_OUTPUT, 2, (const double[]){1.30707871, 2.30707871});
    trial_end(&trial);
}
END_TEST

/* [[1,2,3,4],[5,6,7,8]] at positions 0 and 1. */
START_TEST(rotary_numbers)
{
    const double expected[3][4] = {{-3.18878536, 5.91970134, 7.98947107, 8.05959900},
                                   {-2.34731438, 7.44916876, 6.91965134, 8.06959884},
                                   {-2.34731438, 7.44916876, 7, 8}};
    for (size_t layout = 0; layout < 3; layout++) {
        struct trial trial;
        struct draw draw = {1};
        struct error err = {0};
        trial_start(&trial, trial_shape_plain(DTYPE_FLOAT64, 2, 2, 4, 4), &draw);
        for (size_t at = 0; at < 8; at++)
            trial_set(trial.request.q, at, (double)at + 1);
        trial.request.rope =
            (struct rope_request){.on = true, .theta = 10000, .dims = layout == 2 ? 2 : 4, .interleaved = layout == 1};
        ck_assert(attention_check(&trial.attention, &trial.request, &err));
        ck_assert(attention_prepare(&trial.attention, trial.arena, NULL, &err));
        for (size_t t = 0; t < 4; t++) {
            ck_assert_double_eq(reference_element(trial.attention.q, t), (double)t + 1);
            ck_assert_double_eq_tol(reference_element(trial.attention.q, 4 + t), expected[layout][t], 1e-8);
        }
        trial_end(&trial);
    }
}
END_TEST

static void compare(struct trial *trial, struct pool *pool, uint64_t seed)
{
    struct reference ref;
    struct error err = {0};
    bool good = trial_try(trial, pool, &err);
    ck_assert_msg(good, "seed %" PRIu64 ": %s: %s", seed, err.faults[0].name, err.faults[0].text);
    reference_run(&ref, &trial->request);
    trial_compare(trial, &ref, seed);
    reference_free(&ref);
}

/* Any layout, any mask, any option, together. */
START_TEST(random_requests_equal_the_reference)
{
    for (uint64_t seed = 1; seed <= 1200; seed++) {
        struct draw draw = {seed};
        struct trial trial;
        trial_start(&trial, trial_shape_random(&draw, (enum dtype)_i), &draw);
        trial_mask_random(&trial, &draw);
        trial_options_random(&trial, &draw);
        compare(&trial, NULL, seed);
        trial_end(&trial);
    }
}
END_TEST

/* Sizes around and past the blocks of rows and of the matrix products. */
START_TEST(large_requests_equal_the_reference)
{
    const size_t sizes[][4] = {
        {200, 300, 48, 32}, {1, 1000, 64, 64}, {513, 17, 80, 5}, {129, 257, 31, 33}, {64, 64, 128, 1}};
    struct pool *pool = pool_start(2, 4);
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct draw draw = {seed};
        struct trial trial;
        const size_t *s = sizes[seed % 5];
        trial_start(&trial, trial_shape_plain((enum dtype)_i, s[0], s[1], s[2], s[3]), &draw);
        trial.request.mask.empty_rows_zero = true;
        trial.request.mask.causal = seed % 2 == 0;
        trial.request.mask.align_end = seed % 4 == 0;
        if (seed > 5) {
            trial.request.mask.has_window = true;
            trial.request.mask.left = 70;
            trial.request.mask.right = 3;
            trial.request.softcap = 4;
        }
        compare(&trial, pool, seed);
        trial_end(&trial);
    }
    pool_stop(pool);
}
END_TEST

/* Many heads, grouped, with a past, at a size of several blocks. */
START_TEST(large_grouped_requests_equal_the_reference)
{
    struct draw draw = {77};
    struct trial trial;
    struct trial_shape shape = trial_shape_plain((enum dtype)_i, 90, 70, 16, 24);
    shape.rank = 3;
    shape.packed = true;
    shape.batch = 2;
    shape.heads = 6;
    shape.kv_heads = 2;
    shape.past = 40;
    trial_start(&trial, shape, &draw);
    trial.request.mask.causal = true;
    trial.request.mask.alibi = true;
    trial.request.rope = (struct rope_request){.on = true, .theta = 10000};
    trial.request.sinks = trial_reals(&trial, 6, &draw);
    compare(&trial, NULL, 77);
    trial_end(&trial);
}
END_TEST

/* Q (K^T V): no softmax; the weights are the scaled scores. */
START_TEST(linear_attention_equals_the_reference)
{
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct draw draw = {seed};
        struct trial trial;
        trial_start(&trial, trial_shape_random(&draw, (enum dtype)_i), &draw);
        trial.request.variant = VARIANT_LINEAR;
        trial.request.has_scale = true; /* the output is a sum, not a mean: kept below max |v| for the tolerance */
        trial.request.scale = 0.01;
        compare(&trial, NULL, seed);
        trial_end(&trial);
    }
}
END_TEST

static void assert_refused(struct trial *trial, enum error_code code, const char *name, const char *text)
{
    struct error err = {0};
    ck_assert_msg(!trial_try(trial, NULL, &err), "accepted: %s", text);
    ck_assert_int_eq(err.code, code);
    ck_assert_msg(strncmp(err.faults[0].name, name, strlen(name)) == 0, "names %s: %s", err.faults[0].name,
                  err.faults[0].text);
    ck_assert_msg(strstr(err.faults[0].text, text) != NULL, "says: %s", err.faults[0].text);
    trial_end(trial);
}

/* A query that sees no key is an error by default, also with a sink; the rows are listed. */
START_TEST(empty_rows_are_refused)
{
    struct draw draw = {3};
    struct trial trial;
    for (int sinks = 0; sinks < 2; sinks++) {
        trial_start(&trial, trial_shape_plain(DTYPE_FLOAT64, 5, 2, 3, 3), &draw);
        trial.request.mask.causal = true;
        trial.request.mask.align_end = true;
        if (sinks)
            trial.request.sinks = trial_reals(&trial, 1, &draw);
        assert_refused(&trial, ERROR_INVALID, "", "query 0, query 1, query 2");
    }
}
END_TEST

/* A row is empty when it sees no key, not when its weights vanish beside a sink: then the first visible key is named.
 */
START_TEST(weights_that_vanish_leave_no_empty_row)
{
    struct draw draw = {3};
    struct trial trial;
    double sink = 2000;
    trial_start(&trial, trial_shape_plain((enum dtype)_i, 2, 3, 4, 4), &draw);
    trial.request.sinks = (struct reals){&sink, 1};
    trial.request.mask.has_window = true;
    trial.request.mask.left = 0;
    trial.request.mask.right = 1;
    trial_run(&trial, NULL);
    ck_assert_double_eq(trial_value(&trial, QUANTITY_MAX_WEIGHT, 1), 0);
    ck_assert_double_eq(trial_value(&trial, QUANTITY_ARGMAX_KEY, 1), 1);
    trial_end(&trial);
}
END_TEST

/* |q . k| beyond the dtype is an error where the key is visible. */
START_TEST(overflow_is_refused_where_it_is_seen)
{
    struct draw draw = {3};
    struct trial trial;
    double big = _i == DTYPE_FLOAT32 ? 1e30 : 1e300;
    for (int hidden = 0; hidden < 2; hidden++) {
        trial_start(&trial, trial_shape_plain((enum dtype)_i, 2, 3, 4, 4), &draw);
        trial_set(trial.request.q, 4, big);
        trial_set(trial.request.k, 8, big);
        if (!hidden) {
            assert_refused(&trial, ERROR_INVALID, "", "1");
            continue;
        }
        trial.request.mask.causal = true;
        trial_run(&trial, NULL);
        for (size_t at = 0; at < 8; at++)
            ck_assert(isfinite(trial_value(&trial, QUANTITY_OUTPUT, at)));
        trial_end(&trial);
    }
}
END_TEST

START_TEST(a_cancelled_request_stops)
{
    struct draw draw = {3};
    struct trial trial;
    struct error err = {0};
    trial_start(&trial, trial_shape_plain(DTYPE_FLOAT64, 200, 200, 8, 8), &draw);
    ck_assert(attention_check(&trial.attention, &trial.request, &err));
    ck_assert(attention_prepare(&trial.attention, trial.arena, NULL, &err));
    struct attention_results results = {.of = {NULL}};
    results.of[QUANTITY_OUTPUT] = trial_room(&trial, QUANTITY_OUTPUT);
    atomic_bool cancel = true;
    ck_assert(!attention_run(&trial.attention, &results, NULL, &cancel, trial.arena, &err));
    ck_assert_int_eq(err.code, ERROR_CANCELLED);
    trial_end(&trial);
}
END_TEST

/* y[i][c] = sum_t x[i][t] w[t][c] + bias[c]; `y` is [heads][rows][width], feature c = head * width + its own. */
static void assert_projected(struct tensor y, struct tensor x, struct tensor w, struct tensor bias, double room)
{
    size_t heads = y.shape[1], rows = y.shape[2], width = y.shape[3], columns = heads * width;
    for (size_t at = 0; at < rows * columns; at++) {
        size_t i = at / columns, c = at % columns;
        double sum = bias.data != NULL ? reference_element(bias, c) : 0;
        for (size_t t = 0; t < w.shape[0]; t++)
            sum += reference_element(x, i * w.shape[0] + t) * reference_element(w, t * columns + c);
        size_t place = c / width * y.stride[1] + i * y.stride[2] + c % width;
        ck_assert_double_eq_tol(reference_element(y, place), sum, room);
    }
}

/* q = x W_q + b_q, k = c W_k, v = c W_v + b_v, out = merged W_o + b_o. */
START_TEST(projections_equal_the_plain_loop)
{
    struct draw draw = {9};
    struct trial trial;
    struct error err = {0};
    enum dtype dtype = (enum dtype)_i;
    double room = dtype == DTYPE_FLOAT32 ? 2e-5 : 1e-13;
    trial_start(&trial, trial_shape_plain(dtype, 1, 1, 1, 1), &draw); /* for its arena */
    struct attention_request r = {.dtype = dtype, .heads = 4, .kv_heads = 2};
    struct attention *a = &trial.attention;
    r.x = trial_tensor(&trial, 2, (const size_t[]){70, 5}, &draw);
    r.context = trial_tensor(&trial, 2, (const size_t[]){90, 6}, &draw);
    r.w_q = trial_tensor(&trial, 2, (const size_t[]){5, 16}, &draw);
    r.w_k = trial_tensor(&trial, 2, (const size_t[]){6, 8}, &draw);
    r.w_v = trial_tensor(&trial, 2, (const size_t[]){6, 6}, &draw);
    r.b_q = trial_tensor(&trial, 1, (const size_t[]){16}, &draw);
    r.b_v = trial_tensor(&trial, 1, (const size_t[]){6}, &draw);
    r.w_o = trial_tensor(&trial, 2, (const size_t[]){12, 7}, &draw);
    r.b_o = trial_tensor(&trial, 1, (const size_t[]){7}, &draw);
    ck_assert_msg(attention_check(a, &r, &err), "%s", err.faults[0].text);
    ck_assert(attention_prepare(a, trial.arena, NULL, &err));
    ck_assert_uint_eq(a->d_out, 7);
    assert_projected(a->q, r.x, r.w_q, r.b_q, room);
    assert_projected(a->k, r.context, r.w_k, (struct tensor){0}, room);
    assert_projected(a->v, r.context, r.w_v, r.b_v, room);
    struct tensor merged = trial_tensor(&trial, 2, (const size_t[]){70, 12}, &draw);
    struct tensor out = trial_tensor(&trial, 2, (const size_t[]){70, 7}, &draw);
    ck_assert(attention_project_output(a, merged.data, out.data, NULL, &err));
    assert_projected(tensor_dense(dtype, 4, (const size_t[]){1, 1, 70, 7}, out.data), merged, r.w_o, r.b_o, room);
    trial_end(&trial);
}
END_TEST

Suite *attention_suite(void);

Suite *attention_suite(void)
{
    TCase *numbers = tcase_create("numbers of the contract");
    tcase_add_checked_fixture(numbers, start, NULL);
    tcase_add_loop_test(numbers, plain_numbers, 0, 2); /* float64, float32 */
    tcase_add_loop_test(numbers, causal_numbers, 0, 2);
    tcase_add_loop_test(numbers, softcap_and_allow_numbers, 0, 2);
    tcase_add_loop_test(numbers, empty_row_numbers, 0, 2);
    tcase_add_loop_test(numbers, bias_numbers, 0, 2);
    tcase_add_test(numbers, rotary_numbers);
    TCase *reference = tcase_create("reference");
    tcase_set_timeout(reference, 60);
    tcase_add_checked_fixture(reference, start, NULL);
    tcase_add_loop_test(reference, random_requests_equal_the_reference, 0, 2);
    tcase_add_loop_test(reference, large_requests_equal_the_reference, 0, 2);
    tcase_add_loop_test(reference, large_grouped_requests_equal_the_reference, 0, 2);
    tcase_add_loop_test(reference, linear_attention_equals_the_reference, 0, 2);
    tcase_add_loop_test(reference, projections_equal_the_plain_loop, 0, 2);
    TCase *refusals = tcase_create("refusals");
    tcase_add_checked_fixture(refusals, start, NULL);
    tcase_add_test(refusals, empty_rows_are_refused);
    tcase_add_loop_test(refusals, weights_that_vanish_leave_no_empty_row, 0, 2);
    tcase_add_loop_test(refusals, overflow_is_refused_where_it_is_seen, 0, 2);
    tcase_add_test(refusals, a_cancelled_request_stops);
    Suite *suite = suite_create("attention");
    suite_add_tcase(suite, numbers);
    suite_add_tcase(suite, reference);
    suite_add_tcase(suite, refusals);
    return suite;
}
