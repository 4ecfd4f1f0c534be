/* A block of rows again, and the terms of one row. */
#include "core/attention.h"
#include "core/forward/rows.h"

static const struct attention *find_run(const struct attention *a)
{
    return a->inner ? a->inner : a;
}

size_t attention_block_scratch(const struct attention *a)
{
    return rows_scratch(find_run(a));
}

void attention_block_run(const struct attention *a, size_t block, const struct attention_results *results,
                         void *scratch)
{
    const struct attention *run = find_run(a);
    struct rows rows = {.a = run, .at = attention_block(run, block)};
    for (size_t x = 0; x < QUANTITY_COUNT; x++)
        rows.of[x] = quantity_is((enum quantity)x, IS_FROM_RUN) ? NULL : results->of[x];
    rows_run(&rows, scratch);
}

/* --- terms --- */

void attention_products(const struct attention *a, struct attention_terms at, void *out)
{
    const void *q = tensor_row(a->q, at.b, at.h, at.i);
    for (size_t j = 0; j < at.count; j++) {
        const void *k = tensor_row(a->k, at.b, at.h / (a->heads / a->kv_heads), at.first + j);
        for (size_t t = 0; t < a->d_k; t++)
            dtype_set(a->dtype, out, j * a->d_k + t, dtype_get(a->dtype, q, t) * dtype_get(a->dtype, k, t));
    }
}

void attention_contributions(const struct attention *a, struct attention_terms at, const void *weights, void *out)
{
    for (size_t j = 0; j < at.count; j++) {
        const void *v = tensor_row(a->v, at.b, at.h / (a->heads / a->kv_heads), at.first + j);
        double w = dtype_get(a->dtype, weights, at.first + j);
        for (size_t t = 0; t < a->d_v; t++)
            dtype_set(a->dtype, out, j * a->d_v + t, w == 0 ? 0 : w * dtype_get(a->dtype, v, t));
    }
}
