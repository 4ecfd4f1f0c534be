/* Running the way back. */
#include "tests/core/slope.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define TERMS_MAX 100000 /* of a large head nobody looks at the terms */

static void *room(struct slope *slope, size_t count, size_t size)
{
    struct error err = {0};
    void *block = arena_calloc(slope->trial.arena, count > 0 ? count : 1, size, &err);
    ck_assert_msg(block != NULL, "%s", err.faults[0].text);
    return block;
}

/* --- form B --- */

static void add_bias(struct slope *slope, struct tensor *bias, struct tensor w, struct draw *draw)
{
    if (draw_chance(draw, 50))
        *bias = trial_tensor(&slope->trial, 1, &w.shape[1], draw);
}

/* The trial's q, k, v become what x (and context) are projected to. */
static void project(struct slope *slope, struct draw *draw)
{
    struct trial *trial = &slope->trial;
    struct attention_request *r = &trial->request;
    const struct trial_shape *s = &trial->shape;
    size_t d_model = draw_size(draw, 1, 5), d_context = draw_size(draw, 1, 5);
    bool crossed = s->queries != s->keys || draw_chance(draw, 30);
    const size_t x[3] = {s->batch, s->queries, d_model}, context[3] = {s->batch, s->keys, d_context};
    size_t in = crossed ? d_context : d_model;
    r->q = r->k = r->v = (struct tensor){0};
    r->x = trial_tensor(trial, s->rank, x + (3 - s->rank), draw);
    if (crossed)
        r->context = trial_tensor(trial, s->rank, context + (3 - s->rank), draw);
    r->w_q = trial_tensor(trial, 2, (const size_t[]){d_model, s->heads * s->d_k}, draw);
    r->w_k = trial_tensor(trial, 2, (const size_t[]){in, s->kv_heads * s->d_k}, draw);
    r->w_v = trial_tensor(trial, 2, (const size_t[]){in, s->kv_heads * s->d_v}, draw);
    add_bias(slope, &r->b_q, r->w_q, draw);
    add_bias(slope, &r->b_k, r->w_k, draw);
    add_bias(slope, &r->b_v, r->w_v, draw);
    if (draw_chance(draw, 50))
        return;
    r->w_o = trial_tensor(trial, 2, (const size_t[]){s->heads * s->d_v, draw_size(draw, 1, 4)}, draw);
    add_bias(slope, &r->b_o, r->w_o, draw);
}

void slope_random(struct slope *slope, struct draw *draw, enum dtype dtype)
{
    *slope = (struct slope){.upstream = NULL};
    trial_start(&slope->trial, trial_shape_random(draw, dtype), draw);
    if (slope->trial.shape.packed && draw_chance(draw, 70))
        project(slope, draw);
    if (draw_chance(draw, 8)) {
        slope->trial.request.variant = VARIANT_LINEAR;
        return;
    }
    trial_mask_random(&slope->trial, draw);
    trial_options_random(&slope->trial, draw);
    if (draw_chance(draw, 3)) {
        slope->trial.request.has_scale = true;
        slope->trial.request.scale = 0;
    }
}

/* --- running --- */

static void fill_upstream(struct slope *slope, struct draw *draw)
{
    size_t count = gradient_count(&slope->trial.attention, GRADIENT_OUTPUT);
    bool given = slope->upstream != NULL;
    enum dtype dtype = slope->trial.shape.dtype;
    struct tensor t = tensor_dense(dtype, 1, &count, room(slope, count, dtype_size(dtype)));
    if (!given)
        slope->upstream = room(slope, count, sizeof *slope->upstream);
    for (size_t at = 0; at < count; at++) {
        trial_set(t, at, given ? slope->upstream[at] : draw_real(draw));
        slope->upstream[at] = reference_element(t, at);
    }
    slope->back.by_output = t.data;
}

static void fill_blocks(struct slope *slope, enum gradient gradient, size_t width)
{
    const struct attention *a = &slope->trial.attention;
    size_t row = 0, size = dtype_size(a->dtype);
    void *scratch = aligned_alloc(ARENA_ALIGNMENT, backward_block_scratch(&slope->back));
    for (size_t block = 0; block < attention_blocks(a); block++) {
        struct backward_results results = {.of = {NULL}};
        results.of[gradient] = (char *)slope->rows[gradient] + row * width * size;
        backward_block_run(&slope->back, block, &results, scratch);
        row += attention_block(a, block).count;
    }
    free(scratch);
}

static void fill_terms(struct slope *slope)
{
    const struct attention *a = &slope->trial.attention;
    size_t size = dtype_size(a->dtype);
    void *scratch = aligned_alloc(ARENA_ALIGNMENT, backward_jacobian_scratch(&slope->back));
    for (size_t row = 0; row < a->batch * a->heads * a->queries; row++) {
        size_t head = row / a->queries;
        char *jacobian = slope->rows[GRADIENT_JACOBIAN], *products = slope->rows[GRADIENT_PRODUCTS];
        const char *scores = slope->rows[GRADIENT_SCORES];
        /* in two parts, as long ones are */
        for (size_t first = 0, count; first < a->keys; first += count) {
            count = first == 0 && a->keys > 1 ? a->keys / 2 : a->keys - first;
            const struct attention_terms at = {head / a->heads, head % a->heads, row % a->queries, first, count};
            if (jacobian != NULL)
                backward_jacobian(&slope->back, at, jacobian + (row * a->keys + first) * a->keys * size, scratch);
            if (products != NULL)
                backward_products(a, at, scores + row * a->keys * size,
                                  products + (row * a->keys + first) * a->d_k * size);
        }
    }
    free(scratch);
}

static void fill_rows(struct slope *slope)
{
    const struct attention *a = &slope->trial.attention;
    for (size_t x = 0; x < GRADIENT_COUNT; x++) {
        enum gradient_kind kind = gradient_kind((enum gradient)x);
        if (slope->rows[x] != NULL && kind != GRADIENT_TERM)
            fill_blocks(slope, (enum gradient)x, kind == GRADIENT_ROW ? 1 : a->keys);
    }
    fill_terms(slope);
}

static void make_rooms(struct slope *slope)
{
    const struct attention *a = &slope->trial.attention;
    for (size_t x = 0; x < GRADIENT_COUNT; x++) {
        enum gradient_kind kind = gradient_kind((enum gradient)x);
        bool by_row = kind != GRADIENT_TENSOR && kind != GRADIENT_NUMBER;
        if (x == GRADIENT_OUTPUT || x == GRADIENT_READOUT_W || gradient_lacks(a, (enum gradient)x) != NULL)
            continue;
        if (kind == GRADIENT_TERM && gradient_count(a, (enum gradient)x) > TERMS_MAX)
            continue;
        void *block = room(slope, gradient_count(a, (enum gradient)x), dtype_size(a->dtype));
        slope->back.wants[x] = by_row && kind != GRADIENT_TERM;
        *(by_row ? &slope->rows[x] : &slope->results.of[x]) = block;
    }
}

bool slope_try(struct slope *slope, struct pool *pool, struct draw *draw, struct error *err)
{
    struct trial *trial = &slope->trial;
    struct attention *a = &trial->attention;
    struct attention_results results = {.of = {NULL}};
    atomic_bool cancel = false;
    trial->request.backward = true;
    if (!attention_check(a, &trial->request, err) || !attention_prepare(a, trial->arena, pool, err))
        return false;
    results.of[QUANTITY_OUTPUT] = trial_room(trial, QUANTITY_OUTPUT);
    results.log_sums = room(slope, a->batch * a->heads * a->queries, sizeof(double));
    if (!attention_run(a, &results, pool, &cancel, trial->arena, err))
        return false;
    slope->back = (struct backward){.a = a, .mixed = results.of[QUANTITY_OUTPUT], .log_sum_exp = results.log_sums};
    trial->results = results;
    fill_upstream(slope, draw);
    make_rooms(slope);
    if (!backward_prepare(&slope->back, pool, trial->arena, err) ||
        !backward_run(&slope->back, &slope->results, pool, &cancel, trial->arena, err))
        return false;
    fill_rows(slope);
    return true;
}

void slope_run(struct slope *slope, struct pool *pool, struct draw *draw)
{
    struct error err = {0};
    bool good = slope_try(slope, pool, draw, &err);
    ck_assert_msg(good, "refused: %s: %s", err.faults[0].name, err.faults[0].text);
}

double slope_value(const struct slope *slope, enum gradient gradient, size_t at)
{
    void *data = slope->rows[gradient] != NULL ? slope->rows[gradient] : slope->results.of[gradient];
    ck_assert_msg(data != NULL, "no gradient of %s", gradient_name(gradient));
    return reference_element((struct tensor){.data = data, .dtype = slope->trial.shape.dtype}, at);
}
