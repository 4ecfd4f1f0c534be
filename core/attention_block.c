/* A block of rows again, and the terms of one row. */
#include "core/attention.h"
#include "core/rows.h"

#include <stdlib.h>

bool attention_block_run(const struct attention *a, size_t block, const struct attention_results *results)
{
    const struct attention *run = a->inner ? a->inner : a;
    struct rows rows = {.a = run, .at = attention_block(run, block)};
    void *scratch = aligned_alloc(ARENA_ALIGNMENT, rows_scratch(run));
    if (!scratch)
        return false;
    for (size_t x = 0; x < QUANTITY_COUNT; x++)
        rows.of[x] = quantity_is((enum quantity)x, IS_FROM_RUN) ? NULL : results->of[x];
    rows_run(&rows, scratch);
    free(scratch);
    return true;
}

/* --- terms --- */

void attention_products(const struct attention *a, size_t b, size_t h, size_t i, void *out)
{
    const void *q = tensor_row(a->q, b, h, i);
    for (size_t j = 0; j < a->keys; j++) {
        const void *k = tensor_row(a->k, b, h / (a->heads / a->kv_heads), j);
        for (size_t t = 0; t < a->d_k; t++)
            dtype_set(a->dtype, out, j * a->d_k + t, dtype_get(a->dtype, q, t) * dtype_get(a->dtype, k, t));
    }
}

void attention_contributions(const struct attention *a, size_t b, size_t h, const void *weights, void *out)
{
    for (size_t j = 0; j < a->keys; j++) {
        const void *v = tensor_row(a->v, b, h / (a->heads / a->kv_heads), j);
        double w = dtype_get(a->dtype, weights, j);
        for (size_t t = 0; t < a->d_v; t++)
            dtype_set(a->dtype, out, j * a->d_v + t, w == 0 ? 0 : w * dtype_get(a->dtype, v, t));
    }
}
