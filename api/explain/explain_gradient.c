/* Reading a cell of the gradients. */
#include "api/explain/explain_gradient.h"

#include "api/reply/section_rows.h"

static size_t rows_size(const struct attention *a)
{
    return attention_block(a, 0).count * a->keys * dtype_size(a->dtype);
}

static size_t scratch_size(const struct backward *back)
{
    return (backward_block_scratch(back) + ARENA_ALIGNMENT - 1) / ARENA_ALIGNMENT * ARENA_ALIGNMENT;
}

size_t explain_gradient_room(const struct attention *a)
{
    const struct backward back = {.a = a};
    return scratch_size(&back) + rows_size(a);
}

static bool read_block(const struct backward *back, size_t block, enum gradient gradient, size_t at, double *out,
                       struct buffer *owner)
{
    const struct attention *a = back->a;
    struct backward_results results = {.of = {NULL}};
    char *scratch = buffer_lend(owner, explain_gradient_room(a));
    if (!scratch)
        return false;
    results.of[gradient] = scratch + scratch_size(back);
    backward_block_run(back, block, &results, scratch);
    *out = dtype_get(a->dtype, results.of[gradient], at);
    buffer_take_back(owner, scratch);
    return true;
}

bool explain_gradient_read(struct explain_gradient *g, const struct backward *back, size_t b, size_t h, size_t i,
                           size_t j, struct buffer *owner)
{
    *g = (struct explain_gradient){.there = back != NULL};
    if (!back)
        return true;
    const struct attention *a = back->a;
    size_t row = (b * a->heads + h) * a->queries + i;
    size_t block = section_rows_block(a, row);
    size_t at = (i - attention_block(a, block).first) * a->keys + j;
    g->softmax = a->request->variant != VARIANT_LINEAR;
    g->row_dot = back->row_dot[row];
    return read_block(back, block, GRADIENT_WEIGHTS, at, &g->d_weight, owner) &&
           (!g->softmax || read_block(back, block, GRADIENT_MASKED, at, &g->d_masked, owner)) &&
           read_block(back, block, GRADIENT_SCALED, at, &g->d_scaled, owner) &&
           read_block(back, block, GRADIENT_SCORES, at, &g->d_score, owner);
}
