/* The gradient of a bias: d biased, summed over the axes that the bias repeats; and one block of rows for whoever shows
 * it. */
#include "core/backward/backward_way.h"

#include <math.h>
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
                if (backward_is_cancelled(way))
                    return;
                add_block(way, attention_block(a, (b * a->heads + h) * blocks_per_head(a) + block),
                          workspace_piece(&way->scratch, slot));
            }
}

static size_t scratch_size(const struct attention *a)
{
    size_t block = attention_block(a, 0).count;
    return backward_scratch(a, block, a->keys) + rows_align(block * a->keys * dtype_size(a->dtype));
}

static bool run_parts(struct backward_way *way, struct error *err)
{
    const struct attention *a = way->back->a;
    size_t tasks = own_parts(a, 0) * own_parts(a, 1) * own_parts(a, 2);
    if (!workspace_open(&way->scratch, scratch_size(a), tasks, way->pool, way->arena, err))
        return false;
    pool_run_few(way->pool, way->scratch.slots, tasks, run_part, way);
    workspace_close(&way->scratch, way->arena);
    return true;
}

size_t backward_bias_room(const struct attention *a)
{
    return scratch_size(a) + tensor_count(a->request->mask.bias) * sizeof(double);
}

bool backward_bias(struct backward_way *way, struct error *err)
{
    const struct attention *a = way->back->a;
    void *out = way->results->of[GRADIENT_BIAS];
    if (!out)
        return true;
    size_t count = tensor_count(a->request->mask.bias);
    way->bias = arena_calloc(way->arena, count, sizeof *way->bias, err);
    if (!way->bias || !run_parts(way, err))
        return false;
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

static void run_rows(const struct backward *back, struct backward_tile tile, void *scratch)
{
    tile.back = back;
    tile.simd = simd_best();
    tile.to = back->a->keys;
    backward_tile_run(&tile, scratch);
}

size_t backward_block_scratch(const struct backward *back)
{
    return backward_scratch(back->a, attention_block(back->a, 0).count, back->a->keys);
}

void backward_block_run(const struct backward *back, size_t block, const struct backward_results *results,
                        void *scratch)
{
    struct backward_tile tile = {.at = attention_block(back->a, block)};
    bool pairs = false;
    show_row_dot(back, tile.at, results->of[GRADIENT_ROW_DOT]);
    for (size_t x = 0; x < GRADIENT_COUNT; x++)
        if (results->of[x] && gradient_kind((enum gradient)x) == GRADIENT_PAIR) {
            tile.of[x] = results->of[x];
            pairs = true;
        }
    if (pairs)
        run_rows(back, tile, scratch);
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

/* What a row of the jacobian is made of, one for each key. */
struct simplex {
    double *w, *others;
    unsigned char *shown;
};

static void write_jacobian(const struct attention *a, struct simplex s, struct attention_terms at, void *out)
{
    size_t m = a->keys;
    for (size_t j = at.first; j < at.first + at.count; j++)
        for (size_t l = 0; l < m; l++) {
            double x = s.w[j] * (j == l ? s.others[j] : -s.w[l]);
            x = s.shown[j] ? x + 0 : 0;
            if (a->dtype == DTYPE_FLOAT64)
                ((double *)out)[(j - at.first) * m + l] = x;
            else
                ((float *)out)[(j - at.first) * m + l] = (float)x;
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

static size_t simplex_size(const struct attention *a)
{
    return 2 * rows_align(a->keys * sizeof(double)) + rows_align(a->keys) + rows_align(a->keys * dtype_size(a->dtype));
}

size_t backward_jacobian_scratch(const struct backward *back)
{
    return simplex_size(back->a) + backward_scratch(back->a, 1, back->a->keys);
}

void backward_jacobian(const struct backward *back, struct attention_terms at, void *out, void *scratch)
{
    const struct attention *a = back->a;
    size_t m = a->keys;
    char *room = scratch;
    struct simplex s = {.w = scratch, .others = (void *)(room + rows_align(m * sizeof(double)))};
    s.shown = (unsigned char *)room + 2 * rows_align(m * sizeof(double));
    struct backward_tile tile = {.at = {at.b, at.h, at.i, 1}, .weights = s.shown + rows_align(m)};
    run_rows(back, tile, room + simplex_size(a));
    for (size_t j = 0; j < m; j++)
        s.w[j] = load(a->dtype, tile.weights, j);
    sum_others(s.w, m, rest_of(back, at.b, at.h, at.i), s.others);
    mark_shown(a, at.b, at.h, at.i, s.shown);
    write_jacobian(a, s, at, out);
}

void backward_products(const struct attention *a, struct attention_terms at, const void *scores, void *out)
{
    for (size_t x = 0; x < at.count * a->d_k; x++)
        if (a->dtype == DTYPE_FLOAT64)
            ((double *)out)[x] = ((const double *)scores)[at.first + x / a->d_k];
        else
            ((float *)out)[x] = ((const float *)scores)[at.first + x / a->d_k];
}
