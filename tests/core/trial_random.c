/* Masks and options made up at random. */
#include "tests/core/trial.h"

static size_t all_keys(const struct trial *trial)
{
    return trial->shape.keys + trial->shape.past;
}

/* The shape of a table that broadcasts against [b][h][n][m]: rank 2, 3 or 4, any axis may be 1. */
static size_t table_shape(const struct trial *trial, size_t *shape, struct draw *draw)
{
    const struct trial_shape *s = &trial->shape;
    const size_t full[4] = {s->batch, s->heads, s->queries, all_keys(trial)};
    size_t rank = draw_size(draw, 2, 4);
    for (size_t axis = 0; axis < rank; axis++)
        shape[axis] = draw_chance(draw, 25) ? 1 : full[4 - rank + axis];
    return rank;
}

/* A bias, sometimes with hidden cells. */
static struct tensor bias(struct trial *trial, struct draw *draw)
{
    size_t shape[4];
    size_t rank = table_shape(trial, shape, draw);
    struct tensor t = trial_tensor(trial, rank, shape, draw);
    unsigned percent = draw_chance(draw, 50) ? 20 : 0;
    for (size_t at = 0; at < tensor_count(t); at++)
        if (draw_chance(draw, percent))
            trial_set(t, at, -1.0 / 0.0);
    return t;
}

static void random_offset(struct trial *trial, struct draw *draw)
{
    struct mask_request *mask = &trial->request.mask;
    int64_t last = (int64_t)all_keys(trial);
    switch (draw_size(draw, 0, 3)) {
    case 0:
        mask->align_end = true;
        return;
    case 1:
        mask->query_offset = trial_integers(trial, 1, -2, last, draw);
        mask->query_offset.scalar = true;
        return;
    case 2:
        mask->query_offset = trial_integers(trial, trial->shape.batch, -2, last, draw);
        return;
    default:
        return;
    }
}

static void random_places(struct trial *trial, struct draw *draw)
{
    struct mask_request *mask = &trial->request.mask;
    int64_t last = (int64_t)all_keys(trial);
    mask->causal = draw_chance(draw, 50);
    if (mask->causal && draw_chance(draw, 25)) {
        mask->has_prefix = true;
        mask->prefix = draw_integer(draw, 1, last);
    }
    if (draw_chance(draw, 30)) {
        mask->has_window = true;
        mask->left = draw_chance(draw, 30) ? WINDOW_UNLIMITED : draw_integer(draw, 0, 4);
        mask->right = draw_chance(draw, 30) ? WINDOW_UNLIMITED : draw_integer(draw, 0, 4);
    }
    if (draw_chance(draw, 25)) {
        mask->query_documents = trial_integers(trial, trial->shape.queries, 1, 3, draw);
        mask->key_documents = trial_integers(trial, all_keys(trial), 1, 3, draw);
    }
}

void trial_mask_random(struct trial *trial, struct draw *draw)
{
    struct mask_request *mask = &trial->request.mask;
    size_t shape[4];
    mask->empty_rows_zero = true;
    random_places(trial, draw);
    if (draw_chance(draw, 20))
        mask->key_lengths = trial_integers(trial, trial->shape.batch, 0, (int64_t)all_keys(trial), draw);
    if (draw_chance(draw, 25)) {
        size_t rank = table_shape(trial, shape, draw);
        mask->allow = trial_booleans(trial, rank, shape, 70, draw);
    }
    if (draw_chance(draw, 25))
        mask->bias = bias(trial, draw);
    if (draw_chance(draw, 25)) {
        mask->alibi = true;
        if (draw_chance(draw, 50))
            mask->alibi_slopes = trial_reals(trial, trial->shape.heads, draw);
    }
    if (mask->causal || mask->has_window || mask->alibi)
        random_offset(trial, draw);
}

static void random_rope(struct trial *trial, struct draw *draw)
{
    struct rope_request *rope = &trial->request.rope;
    const struct trial_shape *s = &trial->shape;
    *rope = (struct rope_request){.on = true, .theta = 10000, .interleaved = draw_chance(draw, 50)};
    rope->dims = draw_chance(draw, 50) ? 0 : 2 * draw_size(draw, 1, s->d_k / 2);
    if (draw_chance(draw, 30))
        rope->query_positions = trial_integers(trial, s->queries, 0, 50, draw);
    if (draw_chance(draw, 30)) {
        rope->key_positions = trial_integers(trial, s->batch * s->keys, 0, 50, draw);
        rope->key_positions.rows = s->batch;
    }
}

void trial_options_random(struct trial *trial, struct draw *draw)
{
    struct attention_request *request = &trial->request;
    if (draw_chance(draw, 30)) {
        request->has_scale = true;
        request->scale = draw_unit(draw) - 0.5;
    }
    if (draw_chance(draw, 30))
        request->softcap = 0.5 + 3 * draw_unit(draw);
    if (draw_chance(draw, 30))
        request->sinks = trial_reals(trial, trial->shape.heads, draw);
    if (draw_chance(draw, 20)) {
        request->has_dropout = true;
        request->dropout_p = 0.9 * draw_unit(draw);
        request->dropout_seed = (int64_t)draw_bits(draw);
    }
    if (trial->shape.d_k % 2 == 0 && draw_chance(draw, 40))
        random_rope(trial, draw);
    if (draw_chance(draw, 20))
        request->variant = draw_chance(draw, 50) ? VARIANT_MASK_AFTER_SOFTMAX : VARIANT_MASK_WITH_ZERO;
}
