/* A block of rows again, keys and values wherever they are, and the terms of one row. */
#include "core/attention.h"
#include "core/forward/fused.h"
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

/* --- keys and values --- */

/* First what decoding takes, then the rows. */
static size_t room_of(const struct quantized *q, size_t count)
{
    size_t row = q->width * dtype_size(q->dequantized.dtype);
    return q->by_tile ? rows_align(quantize_room(q) * sizeof(double)) + rows_align(count * row) : 0;
}

static const void *find_rows(const struct quantized *q, struct tensor t, struct attention_span span, void *room)
{
    if (!q->by_tile)
        return tensor_row(t, span.b, span.g, span.first);
    void *rows = (char *)room + rows_align(quantize_room(q) * sizeof(double));
    quantize_decode(q, (struct quantized_rows){span.b, span.g, span.first, span.count}, rows, room);
    return rows;
}

size_t attention_keys_room(const struct attention *a, size_t count)
{
    return room_of(&a->quantized_k, count);
}

size_t attention_values_room(const struct attention *a, size_t count)
{
    return room_of(&a->quantized_v, count);
}

const void *attention_keys(const struct attention *a, struct attention_span span, void *room)
{
    return find_rows(&a->quantized_k, a->k, span, room);
}

const void *attention_values(const struct attention *a, struct attention_span span, void *room)
{
    return find_rows(&a->quantized_v, a->v, span, room);
}

double attention_decode_flops(const struct attention *a)
{
    double heads = (double)a->batch * (double)a->kv_heads;
    size_t parts = fused_serves(a) ? fused_tasks(a) / fused_splits(a) : 0;
    double tasks = (double)parts / heads;
    double blocks = (double)attention_blocks(a) / heads;
    double k = a->quantized_k.by_tile ? quantize_decode_flops(&a->quantized_k) : 0;
    double v = a->quantized_v.by_tile ? quantize_decode_flops(&a->quantized_v) : 0;
    return (tasks + blocks) * k + tasks * v;
}

/* --- terms --- */

static struct attention_span one_key(const struct attention *a, struct attention_terms at, size_t j)
{
    return (struct attention_span){at.b, at.h / (a->heads / a->kv_heads), at.first + j, 1};
}

void attention_products(const struct attention *a, struct attention_terms at, void *out, void *room)
{
    const void *q = tensor_row(a->q, at.b, at.h, at.i);
    for (size_t j = 0; j < at.count; j++) {
        const void *k = attention_keys(a, one_key(a, at, j), room);
        for (size_t t = 0; t < a->d_k; t++)
            dtype_set(a->dtype, out, j * a->d_k + t, dtype_get(a->dtype, q, t) * dtype_get(a->dtype, k, t));
    }
}

void attention_contributions(const struct attention *a, struct attention_terms at, const void *weights, void *out,
                             void *room)
{
    for (size_t j = 0; j < at.count; j++) {
        const void *v = attention_values(a, one_key(a, at, j), room);
        double w = dtype_get(a->dtype, weights, at.first + j);
        for (size_t t = 0; t < a->d_v; t++)
            dtype_set(a->dtype, out, j * a->d_v + t, w == 0 ? 0 : w * dtype_get(a->dtype, v, t));
    }
}
