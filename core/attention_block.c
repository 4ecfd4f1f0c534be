/* The blocks of rows of a request, one at a time, and the terms of one row. */
#include "core/attention.h"
#include "core/rows.h"

#include <stdlib.h>
#include <string.h>

/* Rows of a block: a matter of the number of keys alone, so that a request has the same blocks under any load. */
static size_t rows_per_block(const struct attention *a)
{
    size_t rows = ((size_t)1 << 18) / a->keys / 16 * 16;
    rows = rows < 16 ? 16 : rows > ROWS_PER_BLOCK ? ROWS_PER_BLOCK : rows;
    return rows < a->queries ? rows : a->queries;
}

static size_t blocks_per_head(const struct attention *a)
{
    return (a->queries + rows_per_block(a) - 1) / rows_per_block(a);
}

size_t attention_blocks(const struct attention *a)
{
    return a->batch * a->heads * blocks_per_head(a);
}

struct attention_rows attention_block(const struct attention *a, size_t block)
{
    size_t head = block / blocks_per_head(a);
    size_t rows = rows_per_block(a);
    size_t first = block % blocks_per_head(a) * rows;
    return (struct attention_rows){head / a->heads, head % a->heads, first,
                                   a->queries - first < rows ? a->queries - first : rows};
}

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
