/* How the fused computation is cut into tasks. */
#include "core/forward/fused.h"

#define SPLIT_KEYS 1024    /* a part of split keys has at least so many */
#define PRODUCT_QUERIES 16 /* fewer are not worth packing the keys */
#define PRODUCT_WIDTH 512  /* of keys whose packed tile stays in a second-level cache */

bool fused_serves(const struct attention *a)
{
    double alpha = a->dtype == DTYPE_FLOAT32 ? (double)(float)a->scale : a->scale;
    return a->request->variant == VARIANT_SOFTMAX && alpha != 0 && !rows_are_small(a);
}

static size_t rows_per_task(const struct attention *a)
{
    size_t most = a->dtype == DTYPE_FLOAT32 ? FUSED_ROWS_FLOAT32 : FUSED_ROWS_FLOAT64;
    return a->queries < most ? a->queries : most;
}

static size_t tasks_per_head(const struct attention *a)
{
    return (a->queries + rows_per_task(a) - 1) / rows_per_task(a);
}

size_t fused_splits(const struct attention *a)
{
    size_t tasks = a->batch * a->heads * tasks_per_head(a);
    size_t wanted = tasks < FUSED_SPLITS_MAX ? FUSED_SPLITS_MAX / tasks : 1;
    size_t possible = a->keys / SPLIT_KEYS;
    return possible < 1 ? 1 : wanted < possible ? wanted : possible;
}

size_t fused_tasks(const struct attention *a)
{
    return a->batch * a->heads * tasks_per_head(a) * fused_splits(a);
}

struct fused_task fused_task(const struct attention *a, size_t index)
{
    size_t splits = fused_splits(a);
    size_t block = index / splits;
    size_t head = block / tasks_per_head(a);
    size_t first = block % tasks_per_head(a) * rows_per_task(a);
    size_t left = a->queries - first;
    size_t tiles = (a->keys + FUSED_KEYS - 1) / FUSED_KEYS;
    struct fused_task task = {.at = {head / a->heads, head % a->heads, first, 0}, .split = index % splits};
    task.at.count = left < rows_per_task(a) ? left : rows_per_task(a);
    task.from = tiles * task.split / splits * FUSED_KEYS;
    task.to = task.split + 1 == splits ? a->keys : tiles * (task.split + 1) / splits * FUSED_KEYS;
    return task;
}

const struct simd_product *fused_product(const struct attention *a, const struct simd *lanes)
{
    const struct simd_product *product = lanes->product;
    bool serves = product && a->dtype == DTYPE_FLOAT32 && a->queries >= PRODUCT_QUERIES && a->d_k <= PRODUCT_WIDTH &&
                  a->d_v % product->lanes == 0;
    return serves ? product : NULL;
}

size_t fused_scratch(const struct attention *a)
{
    bool own = fused_product(a, simd_best()) != NULL;
    size_t rows = own ? SIMD_PRODUCT_ROWS : rows_per_task(a);
    size_t cells = rows * FUSED_KEYS;
    return rows_align(cells * dtype_size(a->dtype)) + rows_align(cells) + rows_align(rows * sizeof(struct mask_span)) +
           (own ? FUSED_KEYS * a->d_k * sizeof(float) : 0) + attention_keys_room(a, FUSED_KEYS) +
           attention_values_room(a, FUSED_KEYS);
}
