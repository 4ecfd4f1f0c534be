/* The numbers depend on the request alone: not on workers, not on what is wanted; and nothing hidden leaks into them.
 */
#include "core/attention.h"
#include "core/tensor/blas.h"
#include "tests/core/trial.h"

#include <check.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void start(void)
{
    struct error err = {0};
    ck_assert_msg(blas_start(&err), "%s", err.faults[0].text);
}

static enum dtype dtype_of(uint64_t seed)
{
    return seed % 2 == 0 ? DTYPE_FLOAT64 : DTYPE_FLOAT32;
}

static size_t bytes_of(const struct trial *trial, enum quantity quantity)
{
    size_t size = dtype_size(attention_dtype(&trial->attention, quantity));
    return attention_count(&trial->attention, quantity) * size;
}

/* Both have the same bits in every quantity that both have. */
static void assert_same_bits(const struct trial *a, const struct trial *b, uint64_t seed, const char *when)
{
    for (size_t x = 0; x < QUANTITY_COUNT; x++) {
        const void *left = a->results.of[x], *right = b->results.of[x];
        if (left != NULL && right != NULL && memcmp(left, right, bytes_of(a, (enum quantity)x)) != 0)
            ck_abort_msg("seed %" PRIu64 ": %s: other bits in %s", seed, when, quantity_name((enum quantity)x));
    }
}

/* Something of several heads, blocks and options; every third is long, with few queries. */
static void start_busy(struct trial *trial, uint64_t seed)
{
    struct draw draw = {seed};
    struct trial_shape shape = trial_shape_random(&draw, dtype_of(seed));
    shape.queries = seed % 3 == 0 ? draw_size(&draw, 1, 3) : draw_size(&draw, 1, 150);
    shape.keys = seed % 3 == 0 ? draw_size(&draw, 500, 5000) : draw_size(&draw, 1, 150);
    trial_start(trial, shape, &draw);
    trial_mask_random(trial, &draw);
    trial_options_random(trial, &draw);
}

/* The pool shares the blocks out; each block's numbers are its own. */
START_TEST(workers_change_no_bit)
{
    const size_t workers[] = {1, 2, 4};
    for (size_t w = 0; w < 3; w++) {
        struct pool *pool = pool_start(workers[w], 4);
        ck_assert_ptr_nonnull(pool);
        for (uint64_t seed = 1; seed <= 30; seed++) {
            struct trial alone, shared;
            start_busy(&alone, seed);
            shared = alone;
            trial_run(&alone, NULL);
            trial_run(&shared, pool);
            assert_same_bits(&alone, &shared, seed, "with a pool");
            trial_end(&alone);
        }
        pool_stop(pool);
    }
}
END_TEST

static void run_wanting(struct trial *trial, const struct attention_results *wanted)
{
    struct error err = {0};
    atomic_bool cancel = false;
    ck_assert(attention_check(&trial->attention, &trial->request, &err));
    ck_assert(attention_prepare(&trial->attention, trial->arena, NULL, &err));
    trial->results = *wanted;
    bool good = attention_run(&trial->attention, &trial->results, NULL, &cancel, trial->arena, &err);
    ck_assert_msg(good, "%s", err.faults[0].text);
}

/* Asking for a step, for none or for all never changes another number. */
START_TEST(what_is_wanted_changes_no_bit)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct draw draw = {seed};
        struct trial all, output, some;
        start_busy(&all, seed);
        output = some = all;
        trial_run(&all, NULL);
        struct attention_results wanted = {.of = {NULL}};
        wanted.of[QUANTITY_OUTPUT] = trial_room(&all, QUANTITY_OUTPUT);
        run_wanting(&output, &wanted);
        assert_same_bits(&all, &output, seed, "output alone");
        wanted.of[QUANTITY_OUTPUT] = trial_room(&all, QUANTITY_OUTPUT);
        for (size_t x = 0; x < QUANTITY_PRODUCTS; x++)
            if (all.results.of[x] != NULL && x != QUANTITY_OUTPUT && draw_chance(&draw, 30))
                wanted.of[x] = trial_room(&all, (enum quantity)x);
        run_wanting(&some, &wanted);
        assert_same_bits(&all, &some, seed, "some quantities");
        trial_end(&all);
    }
}
END_TEST

/* Where rows [first, first + count) of head h of batch b begin in a quantity. */
static const char *rows_at(const struct trial *trial, enum quantity x, struct attention_rows rows)
{
    const struct attention *a = &trial->attention;
    size_t size = dtype_size(attention_dtype(a, x));
    size_t row = (rows.b * a->heads + rows.h) * a->queries + rows.first;
    return (const char *)trial->results.of[x] + row * trial_width(trial, x) * size;
}

static void assert_block_repeats(struct trial *trial, size_t block, uint64_t seed)
{
    struct attention_rows rows = attention_block(&trial->attention, block);
    struct attention_results again = {.of = {NULL}};
    for (size_t x = QUANTITY_WEIGHTS; x < QUANTITY_PRODUCTS; x++)
        if (x != QUANTITY_LOG_SUM_EXP && trial->results.of[x] != NULL && (x + block + seed) % 3 != 0)
            again.of[x] = trial_room(trial, (enum quantity)x);
    void *scratch = aligned_alloc(ARENA_ALIGNMENT, attention_block_scratch(&trial->attention));
    attention_block_run(&trial->attention, block, &again, scratch);
    free(scratch);
    for (size_t x = QUANTITY_WEIGHTS; x < QUANTITY_PRODUCTS; x++) {
        size_t size = dtype_size(attention_dtype(&trial->attention, (enum quantity)x));
        size_t bytes = rows.count * trial_width(trial, (enum quantity)x) * size;
        if (again.of[x] != NULL && memcmp(again.of[x], rows_at(trial, (enum quantity)x, rows), bytes) != 0)
            ck_abort_msg("seed %" PRIu64 ": block %zu: other bits in %s", seed, block, quantity_name((enum quantity)x));
    }
}

/* A block computed once more, on its own, has the bits of the whole; blocks cover each row once, in order. */
START_TEST(blocks_repeat_their_bits)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct trial trial;
        start_busy(&trial, seed);
        trial_run(&trial, NULL);
        const struct attention *a = &trial.attention;
        size_t next = 0;
        for (size_t block = 0; block < attention_blocks(a); block++) {
            struct attention_rows rows = attention_block(a, block);
            ck_assert_uint_eq((rows.b * a->heads + rows.h) * a->queries + rows.first, next);
            ck_assert(rows.count > 0 && rows.first + rows.count <= a->queries);
            next += rows.count;
            assert_block_repeats(&trial, block, seed);
        }
        ck_assert_uint_eq(next, a->batch * a->heads * a->queries);
        trial_end(&trial);
    }
}
END_TEST

enum hiding { HIDE_LENGTH, HIDE_ALLOW, HIDE_BIAS, HIDE_CAUSAL, HIDE_WINDOW, HIDE_DOCUMENT, HIDE_WAYS };

/* Hides the last two of the keys from all queries. */
static void hide_last(struct trial *trial, enum hiding way, int64_t *ids)
{
    struct mask_request *mask = &trial->request.mask;
    struct draw draw = {1};
    size_t n = trial->shape.queries, m = trial->shape.keys;
    ids[0] = (int64_t)m - 2;
    switch (way) {
    case HIDE_LENGTH:
        mask->key_lengths = (struct integers){.values = ids, .count = 1};
        return;
    case HIDE_ALLOW:
        mask->allow = trial_booleans(trial, 2, (const size_t[]){1, m}, 100, &draw);
        trial_set(mask->allow, m - 1, 0);
        trial_set(mask->allow, m - 2, 0);
        return;
    case HIDE_BIAS:
        mask->bias = trial_tensor(trial, 2, (const size_t[]){1, m}, &draw);
        trial_set(mask->bias, m - 1, -INFINITY);
        trial_set(mask->bias, m - 2, -INFINITY);
        return;
    case HIDE_CAUSAL: /* n <= m - 2 */
        mask->causal = true;
        return;
    case HIDE_WINDOW:
        *mask = (struct mask_request){.has_window = true, .left = WINDOW_UNLIMITED, .right = 0};
        return;
    default:
        for (size_t at = 0; at < n + m; at++)
            ids[at] = at >= n + m - 2;
        mask->query_documents = (struct integers){.values = ids, .count = n};
        mask->key_documents = (struct integers){.values = ids + n, .count = m};
    }
}

static void assert_no_leak(uint64_t seed, enum hiding way)
{
    const double poison[] = {NAN, INFINITY, -INFINITY, 1e38};
    struct draw draw = {seed};
    struct trial clean, dirty;
    int64_t ids[200];
    size_t n = draw_size(&draw, 1, 60), d = draw_size(&draw, 1, 20);
    struct trial_shape shape = trial_shape_plain(dtype_of(seed), n, 0, d, 7);
    shape.keys = shape.queries + 2 + draw_size(&draw, 0, 30);
    trial_start(&clean, shape, &draw);
    hide_last(&clean, way, ids);
    dirty = clean;
    trial_run(&clean, NULL);
    dirty.request.k = trial_tensor(&clean, 2, clean.request.k.shape, &draw);
    dirty.request.v = trial_tensor(&clean, 2, clean.request.v.shape, &draw);
    for (size_t at = 0; at < shape.keys * shape.d_k; at++)
        trial_set(dirty.request.k, at,
                  at / shape.d_k >= shape.keys - 2 ? poison[at % 4] : reference_element(clean.request.k, at));
    for (size_t at = 0; at < shape.keys * 7; at++)
        trial_set(dirty.request.v, at,
                  at / 7 >= shape.keys - 2 ? poison[at % 4] : reference_element(clean.request.v, at));
    trial_run(&dirty, NULL);
    double room = trial_tolerance(&clean) * trial_largest_value(&clean);
    for (size_t at = 0; at < shape.queries * 7; at++) {
        double found = trial_value(&dirty, QUANTITY_OUTPUT, at), expected = trial_value(&clean, QUANTITY_OUTPUT, at);
        if (!(fabs(found - expected) <= room))
            ck_abort_msg("seed %" PRIu64 ", way %d: output %zu is %g, not %g", seed, (int)way, at, found, expected);
    }
    const enum quantity others[] = {QUANTITY_WEIGHTS, QUANTITY_MASKED,      QUANTITY_EXP,    QUANTITY_ROW_MAX,
                                    QUANTITY_ROW_SUM, QUANTITY_LOG_SUM_EXP, QUANTITY_SHIFTED};
    for (size_t x = 0; x < sizeof others / sizeof *others; x++)
        if (memcmp(clean.results.of[others[x]], dirty.results.of[others[x]], bytes_of(&clean, others[x])) != 0)
            ck_abort_msg("seed %" PRIu64 ", way %d: leaks into %s", seed, (int)way, quantity_name(others[x]));
    for (size_t at = 0; at < shape.queries * shape.keys * 7; at++)
        if (at / 7 % shape.keys >= shape.keys - 2 && trial_value(&dirty, QUANTITY_CONTRIBUTIONS, at) != 0)
            ck_abort_msg("seed %" PRIu64 ", way %d: a hidden key contributes", seed, (int)way);
    trial_end(&clean);
}

/* Hidden is selected, never multiplied: NaN, infinities and huge numbers behind a mask change nothing. */
START_TEST(hidden_keys_and_values_never_leak)
{
    for (uint64_t seed = 1; seed <= 12; seed++)
        for (int way = 0; way < HIDE_WAYS; way++)
            assert_no_leak(seed, (enum hiding)way);
}
END_TEST

/* A NaN that only later rows see stays out of the earlier ones; the later ones are refused. */
START_TEST(a_visible_nan_is_refused)
{
    struct draw draw = {4};
    struct trial trial;
    struct error err = {0};
    trial_start(&trial, trial_shape_plain((enum dtype)_i, 6, 6, 4, 3), &draw);
    trial.request.mask.causal = true;
    trial_set(trial.request.k, 3 * 4, NAN);
    ck_assert(!trial_try(&trial, NULL, &err));
    ck_assert_int_eq(err.code, ERROR_INVALID);
    trial_end(&trial);
}
END_TEST

/* -1e9 on a whole row is an ordinary addend: in float32 s - 1e9 rounds to the same number for all keys, so w = 1/m. */
START_TEST(a_large_negative_bias_hides_nothing)
{
    const double large[] = {-1e9, -1e30, -3e38};
    for (size_t x = 0; x < 3; x++) {
        struct draw draw = {x};
        struct trial trial;
        trial_start(&trial, trial_shape_plain(DTYPE_FLOAT32, 3, 5, 4, 2), &draw);
        trial.request.mask.bias = trial_tensor(&trial, 2, (const size_t[]){3, 5}, &draw);
        for (size_t j = 0; j < 5; j++)
            trial_set(trial.request.mask.bias, 5 + j, large[x]);
        trial_run(&trial, NULL);
        for (size_t j = 0; j < 5; j++) {
            ck_assert_double_eq_tol(trial_value(&trial, QUANTITY_WEIGHTS, 5 + j), 0.2, 1e-6);
            ck_assert(trial_value(&trial, QUANTITY_ALLOWED, 5 + j) != 0);
        }
        trial_end(&trial);
    }
}
END_TEST

/* |q . k| = 1e30 or so in float32: s - max is 0 or hugely negative, never inf - inf. */
START_TEST(huge_scores_give_no_nan)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct draw draw = {seed};
        struct trial trial;
        struct trial_shape shape = trial_shape_plain(DTYPE_FLOAT32, 5, 9, 4, 3);
        trial_start(&trial, shape, &draw);
        for (size_t at = 0; at < 20; at++)
            trial_set(trial.request.q, at, 1e15 * draw_real(&draw));
        for (size_t at = 0; at < 36; at++)
            trial_set(trial.request.k, at, 1e15 * draw_real(&draw));
        trial.request.mask.causal = seed % 2 == 0;
        trial.request.softcap = seed % 4 == 3 ? 5 : 0;
        trial_run(&trial, NULL);
        for (size_t at = 0; at < 15; at++)
            ck_assert(isfinite(trial_value(&trial, QUANTITY_OUTPUT, at)));
        for (size_t at = 0; at < 45; at++)
            ck_assert(trial_value(&trial, QUANTITY_WEIGHTS, at) >= 0 && trial_value(&trial, QUANTITY_WEIGHTS, at) <= 1);
        trial_end(&trial);
    }
}
END_TEST

/* Weights that underflow are exactly 0 and the row still sums to 1. */
START_TEST(far_keys_weigh_nothing)
{
    struct draw draw = {8};
    struct trial trial;
    trial_start(&trial, trial_shape_plain((enum dtype)_i, 1, 40, 1, 1), &draw);
    trial_set(trial.request.q, 0, 1);
    for (size_t j = 0; j < 40; j++)
        trial_set(trial.request.k, j, -50.0 * (double)j);
    trial_run(&trial, NULL);
    double sum = 0;
    for (size_t j = 0; j < 40; j++)
        sum += trial_value(&trial, QUANTITY_WEIGHTS, j);
    ck_assert_double_eq_tol(sum, 1, 1e-6);
    ck_assert_double_eq(trial_value(&trial, QUANTITY_WEIGHTS, 39), 0);
    trial_end(&trial);
}
END_TEST

Suite *bits_suite(void);

Suite *bits_suite(void)
{
    TCase *same = tcase_create("same bits");
    tcase_set_timeout(same, 60);
    tcase_add_checked_fixture(same, start, NULL);
    tcase_add_test(same, workers_change_no_bit);
    tcase_add_test(same, what_is_wanted_changes_no_bit);
    tcase_add_test(same, blocks_repeat_their_bits);
    TCase *extremes = tcase_create("extremes");
    tcase_add_checked_fixture(extremes, start, NULL);
    tcase_add_test(extremes, hidden_keys_and_values_never_leak);
    tcase_add_loop_test(extremes, a_visible_nan_is_refused, 0, 2);
    tcase_add_test(extremes, a_large_negative_bias_hides_nothing);
    tcase_add_test(extremes, huge_scores_give_no_nan);
    tcase_add_loop_test(extremes, far_keys_weigh_nothing, 0, 2);
    Suite *suite = suite_create("bits");
    suite_add_tcase(suite, same);
    suite_add_tcase(suite, extremes);
    return suite;
}
