/* Reading a cell of the gradients. */
#include "api/explain/explain_gradient.h"

#include "api/reply/section_rows.h"

#include <stdlib.h>

static bool read_block(const struct backward *back, size_t block, enum gradient gradient, size_t at, double *out)
{
    const struct attention *a = back->a;
    struct backward_results results = {.of = {NULL}};
    void *rows = malloc(attention_block(a, block).count * a->keys * dtype_size(a->dtype));
    results.of[gradient] = rows;
    bool good = rows && backward_block_run(back, block, &results);
    if (good)
        *out = dtype_get(a->dtype, rows, at);
    free(rows);
    return good;
}

bool explain_gradient_read(struct explain_gradient *g, const struct backward *back, size_t b, size_t h, size_t i,
                           size_t j)
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
    return read_block(back, block, GRADIENT_WEIGHTS, at, &g->d_weight) &&
           (!g->softmax || read_block(back, block, GRADIENT_MASKED, at, &g->d_masked)) &&
           read_block(back, block, GRADIENT_SCALED, at, &g->d_scaled) &&
           read_block(back, block, GRADIENT_SCORES, at, &g->d_score);
}
