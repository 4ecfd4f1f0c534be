/* Rotary embedding at large positions, on workers, and given up. */
#include "core/rope.h"

#include "core/attention.h"
#include "core/tensor/blas.h"
#include "tests/core/trial.h"

#include <check.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* cos and sin of position * theta^(-2 pair / dims), from 60 digits. */
static const struct {
    int64_t position;
    size_t pair, dims;
    double theta, cosine, sine;
} exact[] = {
    {100000, 1, 64, 1e4, 0.922723910911125, -0.38546152107944337},
    {100000, 5, 64, 1e4, 0.5439094816808447, 0.8391438945363751},
    {99999, 20, 128, 5e5, -0.9178688977212515, -0.396883719237732},
    {1000000, 3, 80, 1e4, -0.8928428408733334, 0.45036836201184854},
    {-100000, 7, 64, 1e4, -0.6626139305624366, -0.7489611331868955},
};

static struct tensor make_row(double *row, size_t dims, size_t first)
{
    memset(row, 0, dims * sizeof *row);
    row[first] = 1;
    return tensor_dense(DTYPE_FLOAT64, 4, (const size_t[]){1, 1, 1, dims}, row);
}

/* (1, 0) becomes (cos, sin), within a few units of the last place; and back. */
START_TEST(angles_are_exact_at_large_positions)
{
    for (size_t x = 0; x < sizeof exact / sizeof *exact; x++)
        for (int interleaved = 0; interleaved < 2; interleaved++) {
            double row[128];
            size_t one = interleaved ? 2 * exact[x].pair : exact[x].pair;
            size_t other = interleaved ? one + 1 : one + exact[x].dims / 2;
            const struct rope_request rope = {.on = true, .theta = exact[x].theta, .interleaved = interleaved != 0};
            const struct integers list = {.values = &exact[x].position, .count = 1};
            struct tensor t = make_row(row, exact[x].dims, one);
            rope_apply(&rope, t, list, 0, NULL, NULL);
            ck_assert_double_le(fabs(row[one] - exact[x].cosine), 4 * DBL_EPSILON);
            ck_assert_double_le(fabs(row[other] - exact[x].sine), 4 * DBL_EPSILON);
            rope_undo(&rope, t, list, 0, NULL, NULL);
            ck_assert_double_eq_tol(row[one], 1, 4 * DBL_EPSILON);
            ck_assert_double_eq_tol(row[other], 0, 4 * DBL_EPSILON);
        }
}
END_TEST

#define ROWS 70
#define HEADS 3
#define WIDTH 150 /* more pairs than are turned at a time */

static void fill(float *numbers)
{
    for (size_t at = 0; at < (size_t)2 * ROWS * HEADS * WIDTH; at++)
        numbers[at] = (float)((at * 7) % 23) - 11;
}

START_TEST(workers_turn_each_row_once)
{
    static float alone[2 * ROWS * HEADS * WIDTH], shared[2 * ROWS * HEADS * WIDTH];
    const struct rope_request rope = {.on = true, .theta = 1e4, .dims = 140};
    const size_t shape[] = {2, HEADS, ROWS, WIDTH};
    struct pool *pool = pool_start(2, 4);
    fill(alone);
    fill(shared);
    rope_apply(&rope, tensor_dense(DTYPE_FLOAT32, 4, shape, alone), (struct integers){0}, 5, NULL, NULL);
    rope_apply(&rope, tensor_dense(DTYPE_FLOAT32, 4, shape, shared), (struct integers){0}, 5, pool, NULL);
    ck_assert(memcmp(alone, shared, sizeof alone) == 0);
    pool_stop(pool);
}
END_TEST

START_TEST(what_is_given_up_turns_nothing)
{
    static float numbers[2 * ROWS * HEADS * WIDTH], same[2 * ROWS * HEADS * WIDTH];
    const struct rope_request rope = {.on = true, .theta = 1e4};
    const size_t shape[] = {2, HEADS, ROWS, WIDTH};
    atomic_bool cancel = true;
    fill(numbers);
    fill(same);
    rope_apply(&rope, tensor_dense(DTYPE_FLOAT32, 4, shape, numbers), (struct integers){0}, 0, NULL, &cancel);
    ck_assert(memcmp(numbers, same, sizeof same) == 0);
}
END_TEST

START_TEST(preparing_is_given_up)
{
    struct draw draw = {1};
    struct trial trial;
    struct error err = {0};
    atomic_bool cancel = true;
    trial_start(&trial, trial_shape_plain(DTYPE_FLOAT64, 4, 4, 4, 4), &draw);
    trial.request.rope = (struct rope_request){.on = true, .theta = 1e4};
    ck_assert(attention_check(&trial.attention, &trial.request, &err));
    trial.attention.cancel = &cancel;
    ck_assert(!attention_prepare(&trial.attention, trial.arena, NULL, &err));
    ck_assert_int_eq(err.code, ERROR_CANCELLED);
    trial_end(&trial);
}
END_TEST

Suite *rope_suite(void);

Suite *rope_suite(void)
{
    TCase *tests = tcase_create("rotary embedding");
    tcase_add_test(tests, angles_are_exact_at_large_positions);
    tcase_add_test(tests, workers_turn_each_row_once);
    tcase_add_test(tests, what_is_given_up_turns_nothing);
    tcase_add_test(tests, preparing_is_given_up);
    Suite *suite = suite_create("rope");
    suite_add_tcase(suite, tests);
    return suite;
}
