/* The gradient of a bias: d biased, summed over the axes that the bias repeats; and one block of rows for whoever shows
 * it. */
#include "core/backward_way.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t blocks_per_head(const struct attention *a)
{
    return attention_blocks(a) / (a->batch * a->heads);
}

/* A task owns the numbers of one batch, head and block of rows of the bias; what an axis repeats it goes through in
 * order. */
struct part {
    size_t from[3], to[3]; /* batch, head, block of rows */
};

static size_t extent(const struct attention *a, size_t axis)
{
    const size_t full[3] = {a->batch, a->heads, blocks_per_head(a)};
    return full[axis];
}

static size_t own_parts(const struct attention *a, size_t axis)
{
    return a->mask.bias.stride[axis] == 0 ? 1 : extent(a, axis);
}

static struct part part_at(const struct attention *a, size_t index)
{
    struct part part;
    for (size_t axis = 3; axis-- > 0; index /= own_parts(a, axis)) {
        bool one = own_parts(a, axis) > 1;
        part.from[axis] = one ? index % own_parts(a, axis) : 0;
        part.to[axis] = one ? part.from[axis] + 1 : extent(a, axis);
    }
    return part;
}

static double load(enum dtype dtype, const void *data, size_t at)
{
    return dtype == DTYPE_FLOAT64 ? ((const double *)data)[at] : (double)((const float *)data)[at];
}

static void add_block(struct backward_way *way, struct attention_rows at, char *scratch)
{
    const struct attention *a = way->back->a;
    const struct tensor bias = a->mask.bias;
    struct backward_tile tile = {.back = way->back, .simd = way->simd, .at = at, .to = a->keys};
    size_t shown = rows_align(attention_block(a, 0).count * a->keys * dtype_size(a->dtype));
    tile.of[GRADIENT_BIASED] = scratch;
    backward_tile_run(&tile, scratch + shown);
    for (size_t i = 0; i < at.count; i++)
        for (size_t j = 0; j < a->keys; j++)
            way->bias[at.b * bias.stride[0] + at.h * bias.stride[1] + (at.first + i) * bias.stride[2] +
                      j * bias.stride[3]] += load(a->dtype, scratch, i * a->keys + j);
}

static void run_part(void *context, size_t index, size_t slot)
{
    struct backward_way *way = context;
    const struct attention *a = way->back->a;
    const struct part part = part_at(a, index);
    for (size_t b = part.from[0]; b < part.to[0]; b++)
        for (size_t h = part.from[1]; h < part.to[1]; h++)
            for (size_t block = part.from[2]; block < part.to[2]; block++) {
                char *scratch = backward_slot(way, slot);
                if (!scratch)
                    return;
                add_block(way, attention_block(a, (b * a->heads + h) * blocks_per_head(a) + block), scratch);
            }
}

bool backward_bias(struct backward_way *way, struct error *err)
{
    const struct attention *a = way->back->a;
    void *out = way->results->of[GRADIENT_BIAS];
    if (!out)
        return true;
    size_t count = tensor_count(a->request->mask.bias);
    way->bias = arena_calloc(way->arena, count, sizeof *way->bias, err);
    if (!way->bias)
        return false;
    pool_run(way->pool, own_parts(a, 0) * own_parts(a, 1) * own_parts(a, 2), run_part, way);
    for (size_t at = 0; at < count; at++)
        if (a->dtype == DTYPE_FLOAT64)
            ((double *)out)[at] = way->bias[at] + 0;
        else
            ((float *)out)[at] = (float)way->bias[at] + 0;
    arena_drop(way->arena, way->bias);
    return true;
}

/* --- rows for whoever shows them --- */

static void show_row_dot(const struct backward *back, struct attention_rows at, void *out)
{
    const struct attention *a = back->a;
    const double *dots = back->row_dot + (at.b * a->heads + at.h) * a->queries + at.first;
    for (size_t i = 0; out && i < at.count; i++)
        if (a->dtype == DTYPE_FLOAT64)
            ((double *)out)[i] = dots[i] + 0;
        else
            ((float *)out)[i] = (float)dots[i] + 0;
}

static bool run_rows(const struct backward *back, struct backward_tile tile)
{
    const struct attention *a = back->a;
    void *scratch = aligned_alloc(ARENA_ALIGNMENT, backward_scratch(a, tile.at.count, a->keys));
    if (!scratch)
        return false;
    tile.back = back;
    tile.simd = simd_best();
    tile.to = a->keys;
    backward_tile_run(&tile, scratch);
    free(scratch);
    return true;
}

bool backward_block_run(const struct backward *back, size_t block, const struct backward_results *results)
{
    struct backward_tile tile = {.at = attention_block(back->a, block)};
    bool pairs = false;
    show_row_dot(back, tile.at, results->of[GRADIENT_ROW_DOT]);
    for (size_t x = 0; x < GRADIENT_COUNT; x++)
        if (results->of[x] && gradient_kind((enum gradient)x) == GRADIENT_PAIR) {
            tile.of[x] = results->of[x];
            pairs = true;
        }
    return !pairs || run_rows(back, tile);
}

/* --- terms --- */

/* 1 - w_j as what the others and the sink weigh, for all j: before[j] + after[j + 1] + rest. */
static void sum_others(const double *w, size_t m, double rest, double *others)
{
    double sum = rest;
    for (size_t j = 0; j < m; j++) {
        others[j] = sum;
        sum += w[j];
    }
    sum = 0;
    for (size_t j = m; j-- > 0;) {
        others[j] += sum;
        sum += w[j];
    }
}

static double rest_of(const struct backward *back, size_t b, size_t h, size_t i)
{
    const struct attention *a = back->a;
    const double *sinks = a->request->sinks.values;
    return sinks ? exp(sinks[h] - back->log_sum_exp[(b * a->heads + h) * a->queries + i]) : 0;
}

static void write_jacobian(const struct attention *a, const double *w, const double *others, const unsigned char *shown,
                           void *out)
{
    size_t m = a->keys;
    for (size_t j = 0; j < m; j++)
        for (size_t l = 0; l < m; l++) {
            double x = w[j] * (j == l ? others[j] : -w[l]);
            x = shown[j] ? x + 0 : 0;
            if (a->dtype == DTYPE_FLOAT64)
                ((double *)out)[j * m + l] = x;
            else
                ((float *)out)[j * m + l] = (float)x;
        }
}

/* Which keys' weights were not set to 0 after the softmax. */
static void mark_shown(const struct attention *a, size_t b, size_t h, size_t i, unsigned char *shown)
{
    if (a->request->variant != VARIANT_MASK_AFTER_SOFTMAX) {
        memset(shown, 1, a->keys);
        return;
    }
    struct mask_span span = mask_row(&a->mask, b, h, i, 0, a->keys, shown);
    memset(shown, 0, span.begin);
    if (!span.some)
        memset(shown + span.begin, 1, span.end - span.begin);
    memset(shown + span.end, 0, a->keys - span.end);
}

bool backward_jacobian(const struct backward *back, size_t b, size_t h, size_t i, void *out)
{
    const struct attention *a = back->a;
    size_t m = a->keys;
    double *w = calloc(3 * m, sizeof *w); /* the weights, the sums of the others, and rows of the dtype or flags */
    if (!w)
        return false;
    struct backward_tile tile = {.at = {b, h, i, 1}, .weights = w + 2 * m};
    bool good = run_rows(back, tile);
    for (size_t j = 0; good && j < m; j++)
        w[j] = load(a->dtype, w + 2 * m, j);
    if (good) {
        sum_others(w, m, rest_of(back, b, h, i), w + m);
        mark_shown(a, b, h, i, (unsigned char *)(w + 2 * m));
        write_jacobian(a, w, w + m, (unsigned char *)(w + 2 * m), out);
    }
    free(w);
    return good;
}

void backward_products(const struct attention *a, const void *scores, void *out)
{
    for (size_t x = 0; x < a->keys * a->d_k; x++)
        if (a->dtype == DTYPE_FLOAT64)
            ((double *)out)[x] = ((const double *)scores)[x / a->d_k];
        else
            ((float *)out)[x] = ((const float *)scores)[x / a->d_k];
}
