/* What nobody waits for any more is given up before attention runs, too: projections, rotations, codes. */
#include "core/tensor/projection.h"
#include "tests/core/quantize_trial.h"
#include "tests/core/trial.h"

#include <check.h>
#include <string.h>

enum { TOKENS = 24, WIDTH = 8, ROWS = 200 };

static const struct quantize_side sides[] = {
    {.on = true, .method = QUANTIZE_AFFINE, .bits = 3, .group = 4},
    {.on = true, .method = QUANTIZE_SYMMETRIC, .bits = 4, .has_rotation = true, .rotation.kind = QUANTIZE_RANDOM},
    {.on = true, .method = QUANTIZE_FLOAT8_E4M3},
    {.on = true, .method = QUANTIZE_TURBOQUANT, .bits = 2, .qjl = true},
};

/* Numbers of codes that are not 0. */
static size_t count_codes(const struct quantized *q)
{
    size_t count = 0;
    for (size_t x = 0; x < tensor_count(q->codes); x++)
        count += ((const int16_t *)q->codes.data)[x] != 0;
    return count;
}

/* A side of random numbers, with that flag: how many codes were written, and what became of it. */
static size_t encode(const struct quantize_side *side, const atomic_bool *cancel, enum error_code *code)
{
    const size_t shape[4] = {1, 1, TOKENS, WIDTH};
    struct quantize_request request = {.on = true, .k = *side};
    struct draw draw = {1};
    struct error err = {0};
    double x[TOKENS * WIDTH];
    struct arena *arena = arena_new(1 << 24);
    for (size_t at = 0; at < (size_t)TOKENS * WIDTH; at++)
        x[at] = draw_real(&draw);
    struct quantized q = quantize_plan(&request, &request.k, DTYPE_FLOAT64, 1, 1, TOKENS, WIDTH, false);
    q.cancel = cancel;
    ck_assert_int_eq(quantize_run(&q, tensor_dense(DTYPE_FLOAT64, 4, shape, x), "k", arena, NULL, &err),
                     err.code == ERROR_NONE);
    *code = err.code;
    size_t count = count_codes(&q);
    arena_free(arena);
    return count;
}

START_TEST(a_side_that_is_given_up_is_not_encoded)
{
    const atomic_bool wanted = false, given_up = true;
    enum error_code code;
    ck_assert_uint_gt(encode(&sides[_i], &wanted, &code), TOKENS);
    ck_assert_int_eq(code, ERROR_NONE);
    ck_assert_uint_eq(encode(&sides[_i], &given_up, &code), 0);
    ck_assert_int_eq(code, ERROR_CANCELLED);
}
END_TEST

/* Two sums that are there for one row would be there for all. */
START_TEST(a_projection_that_is_given_up_leaves_its_rows)
{
    static const double x[ROWS] = {1}, w[2] = {1, 1};
    static double y[2 * ROWS];
    const atomic_bool wanted = false, given_up = true;
    struct error err = {0};
    struct projection p = {.dtype = DTYPE_FLOAT64, .rows = ROWS, .inner = 1, .outer = 2, .x = x, .w = w, .y = y};
    p.x_stride = 1;
    p.w_stride = p.y_stride = 2;
    p.cancel = &given_up;
    ck_assert(!projection_run(&p, "w", NULL, &err));
    ck_assert_int_eq(err.code, ERROR_CANCELLED);
    ck_assert(y[0] == 0 && y[1] == 0);
    p.cancel = &wanted;
    ck_assert(projection_run(&p, "w", NULL, &err));
    ck_assert(y[0] == 1 && y[1] == 1);
}
END_TEST

/* Without rotary embedding, which looks at the flag itself: the codes are what is given up. */
START_TEST(a_request_is_given_up_before_its_keys_are_encoded)
{
    struct draw draw = {1};
    struct trial trial;
    struct error err = {0};
    const atomic_bool cancel = true;
    trial_start(&trial, trial_shape_plain(DTYPE_FLOAT32, 4, TOKENS, WIDTH, WIDTH), &draw);
    trial.request.quantize = (struct quantize_request){.on = true, .k = sides[_i], .v = sides[0]};
    ck_assert(attention_check(&trial.attention, &trial.request, &err));
    trial.attention.cancel = &cancel;
    ck_assert(!attention_prepare(&trial.attention, trial.arena, NULL, &err));
    ck_assert_int_eq(err.code, ERROR_CANCELLED);
    ck_assert_uint_eq(count_codes(&trial.attention.quantized_k), 0);
    trial_end(&trial);
}
END_TEST

Suite *cancel_suite(void);

Suite *cancel_suite(void)
{
    const int count = sizeof sides / sizeof *sides;
    Suite *suite = suite_create("cancel");
    TCase *tests = tcase_create("all");
    tcase_add_loop_test(tests, a_side_that_is_given_up_is_not_encoded, 0, count);
    tcase_add_test(tests, a_projection_that_is_given_up_leaves_its_rows);
    tcase_add_loop_test(tests, a_request_is_given_up_before_its_keys_are_encoded, 0, count);
    suite_add_tcase(suite, tests);
    return suite;
}
