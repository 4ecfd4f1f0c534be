/* A side that is decoded by tiles is the one that is dequantised as a whole. */
#include "core/forward/flush.h"
#include "tests/core/draw.h"
#include "tests/core/quantize_trial.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 2, HEADS = 2, TOKENS = 24, WIDTH = 8, NUMBERS = BATCH * HEADS * TOKENS * WIDTH };

static const struct quantize_side sides[] = {
    {.on = true, .method = QUANTIZE_AFFINE, .bits = 3, .group = 4},
    {.on = true, .method = QUANTIZE_AFFINE, .bits = 8, .has_axis = true, .axis = QUANTIZE_TOKEN, .group = 2},
    {.on = true, .method = QUANTIZE_SYMMETRIC, .bits = 2, .has_axis = true, .axis = QUANTIZE_TENSOR},
    {.on = true, .method = QUANTIZE_SYMMETRIC, .bits = 4, .has_rotation = true, .rotation.kind = QUANTIZE_RANDOM},
    {.on = true, .method = QUANTIZE_FLOAT8_E4M3},
    {.on = true, .method = QUANTIZE_FLOAT8_E5M2, .has_axis = true, .axis = QUANTIZE_TOKEN},
    {.on = true, .method = QUANTIZE_TURBOQUANT, .bits = 4, .renormalize = true},
    {.on = true, .method = QUANTIZE_TURBOQUANT, .bits = 2, .qjl = true, .exact_centroids = true},
    {.on = true, .method = QUANTIZE_TURBOQUANT, .bits = 1, .has_rotation = true, .rotation.kind = QUANTIZE_HADAMARD},
};
#define SIDES (sizeof sides / sizeof *sides)

struct both {
    struct arena *arena;
    struct quantize_request request;
    struct quantized whole, tiled;
};

static void run_both(struct both *both, struct tensor x)
{
    const struct quantize_side *side = &both->request.k;
    struct error err = {0};
    struct pool *pool = pool_start(2, 2);
    ck_assert_msg(quantize_check(&both->request, side, "k", TOKENS, WIDTH, &err), "%s", err.faults[0].text);
    both->whole = quantize_plan(&both->request, side, x.dtype, BATCH, HEADS, TOKENS, WIDTH, false);
    both->tiled = quantize_plan(&both->request, side, x.dtype, BATCH, HEADS, TOKENS, WIDTH, true);
    ck_assert(quantize_run(&both->whole, x, "k", both->arena, pool, &err));
    ck_assert(quantize_run(&both->tiled, x, "k", both->arena, pool, &err));
    pool_stop(pool);
}

/* Tokens from `first` on, at most seven at a time. */
static void check_head(const struct both *both, size_t b, size_t g)
{
    double out[7 * WIDTH];
    double *room = malloc(quantize_room(&both->tiled) * sizeof *room);
    size_t row = WIDTH * dtype_size(both->whole.dequantized.dtype);
    for (size_t first = 0; first < TOKENS; first += 7) {
        size_t count = TOKENS - first < 7 ? TOKENS - first : 7;
        quantize_decode(&both->tiled, (struct quantized_rows){b, g, first, count}, out, room);
        ck_assert_mem_eq(out, tensor_row(both->whole.dequantized, b, g, first), count * row);
    }
    free(room);
}

static void check_tiles(enum dtype dtype)
{
    const size_t shape[4] = {BATCH, HEADS, TOKENS, WIDTH};
    struct draw draw = {(uint64_t)dtype};
    double wide[NUMBERS];
    float narrow[NUMBERS];
    for (size_t x = 0; x < NUMBERS; x++) {
        wide[x] = draw_real(&draw);
        narrow[x] = (float)wide[x];
    }
    struct tensor x = tensor_dense(dtype, 4, shape, wide);
    x.data = dtype == DTYPE_FLOAT64 ? (void *)wide : (void *)narrow;
    for (size_t s = 0; s < SIDES; s++) {
        struct both both = {.arena = arena_new(1 << 24), .request = {.keep_first = 3, .keep_last = 5}};
        both.request.k = sides[s];
        run_both(&both, x);
        ck_assert_ptr_null(both.tiled.dequantized.data);
        ck_assert_double_eq(both.tiled.largest, both.whole.largest);
        ck_assert_double_lt(quantize_numbers(&both.tiled), quantize_numbers(&both.whole));
        for (size_t head = 0; head < (size_t)BATCH * HEADS; head++)
            check_head(&both, head / HEADS, head % HEADS);
        arena_free(both.arena);
    }
}

START_TEST(tiles_have_the_bits_of_the_whole)
{
    check_tiles(DTYPE_FLOAT64);
    check_tiles(DTYPE_FLOAT32);
}
END_TEST

/* Decoding by tiles runs while subnormal numbers are flushed, what shows its rows runs while they are not. */
START_TEST(subnormal_numbers_have_the_same_bits_everywhere)
{
    const size_t shape[4] = {BATCH, HEADS, TOKENS, WIDTH};
    struct both both = {.arena = arena_new(1 << 24)};
    double x[NUMBERS], kept[WIDTH], flushed[WIDTH], room[3 * WIDTH];
    struct draw draw = {1};
    for (size_t at = 0; at < NUMBERS; at++)
        x[at] = 1e-309 * draw_real(&draw);
    both.request.k = sides[_i];
    run_both(&both, tensor_dense(DTYPE_FLOAT64, 4, shape, x));
    ck_assert_uint_le(quantize_room(&both.tiled), 3 * WIDTH);
    quantize_decode(&both.tiled, (struct quantized_rows){.first = 5, .count = 1}, kept, room);
    uint64_t control = flush_begin();
    uint64_t flushing = flush_control();
    quantize_decode(&both.tiled, (struct quantized_rows){.first = 5, .count = 1}, flushed, room);
    ck_assert_uint_eq(flush_control(), flushing);
    flush_end(control);
    ck_assert_mem_eq(kept, flushed, sizeof kept);
    ck_assert_double_gt(both.tiled.largest, 0);
    arena_free(both.arena);
}
END_TEST

Suite *quantize_tiles_suite(void);
Suite *quantize_tiles_suite(void)
{
    Suite *suite = suite_create("quantize tiles");
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, tiles_have_the_bits_of_the_whole);
    tcase_add_loop_test(tests, subnormal_numbers_have_the_same_bits_everywhere, 0, SIDES);
    suite_add_tcase(suite, tests);
    return suite;
}
