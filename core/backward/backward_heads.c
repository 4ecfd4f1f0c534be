/* The way back through the heads: tiles, tasks, and their sums in a fixed order. */
#include "core/backward/backward_way.h"

#include <math.h>
#include <string.h>

#define TASKS_WANTED 16

/* A task is a key/value head and a part of its keys; it goes through all heads of the group, their rows in order, for
 * each tile of keys. So every sum has one writer and one order, whoever runs it. */

size_t backward_scratch(const struct attention *a, size_t rows, size_t keys)
{
    size_t cells = rows * keys;
    size_t planes = a->request->softcap > 0 ? 4 : 2;
    return planes * rows_align(cells * dtype_size(a->dtype)) + rows_align(cells) +
           rows_align(rows * sizeof(struct mask_span));
}

void backward_tile_run(const struct backward_tile *tile, void *scratch)
{
    if (tile->back->a->dtype == DTYPE_FLOAT64)
        backward_tile_run_float64(tile, scratch);
    else
        backward_tile_run_float32(tile, scratch);
}

size_t backward_splits(const struct attention *a)
{
    size_t tasks = a->batch * a->kv_heads;
    size_t wanted = tasks < TASKS_WANTED ? TASKS_WANTED / tasks : 1;
    size_t possible = a->keys / BACKWARD_KEYS;
    wanted = wanted > BACKWARD_SPLITS_MAX ? BACKWARD_SPLITS_MAX : wanted;
    return rows_are_small(a) || possible < 1 ? 1 : wanted < possible ? wanted : possible;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t rows_of_tile(const struct attention *a)
{
    return smaller(a->queries, BACKWARD_ROWS);
}

static size_t keys_of_tile(const struct attention *a)
{
    return rows_are_small(a) ? a->keys : smaller(a->keys, BACKWARD_KEYS);
}

/* --- one task --- */

static size_t sum_size(const struct attention *a)
{
    return rows_are_small(a) ? sizeof(double) : dtype_size(a->dtype);
}

static void *part_of(const struct attention *a, void *sums, size_t numbers)
{
    return sums ? (char *)sums + numbers * sum_size(a) : NULL;
}

static void run_rows(struct backward_way *way, size_t split, struct backward_tile tile, void *scratch)
{
    const struct attention *a = way->back->a;
    size_t heads = a->batch * a->heads;
    size_t head = tile.at.b * a->heads + tile.at.h;
    size_t place = split * heads + head;
    struct backward_sums sums = {.q = part_of(a, way->q, place * a->queries * a->d_k)};
    size_t group = tile.at.b * a->kv_heads + tile.at.h / (a->heads / a->kv_heads);
    sums.k = part_of(a, way->k, group * a->keys * a->d_k);
    sums.v = part_of(a, way->v, group * a->keys * a->d_v);
    tile.sums = &sums;
    for (size_t first = 0; first < a->queries; first += rows_of_tile(a)) {
        if (backward_is_cancelled(way))
            return;
        tile.at.first = first;
        tile.at.count = smaller(a->queries - first, rows_of_tile(a));
        tile.state = way->state + place * a->queries + first;
        backward_tile_run(&tile, scratch);
    }
    way->cap[place] += sums.cap;
    way->slope[place] += sums.slope;
}

static void run_task(void *context, size_t index, size_t slot)
{
    struct backward_way *way = context;
    const struct attention *a = way->back->a;
    void *scratch = workspace_piece(&way->scratch, slot);
    size_t split = index % way->splits;
    size_t group = index / way->splits;
    size_t heads = a->heads / a->kv_heads;
    size_t tiles = (a->keys + keys_of_tile(a) - 1) / keys_of_tile(a);
    size_t last = tiles * (split + 1) / way->splits;
    struct backward_tile tile = {.back = way->back, .simd = way->simd, .judges = way->back->wants};
    for (size_t t = tiles * split / way->splits; t < last; t++)
        for (size_t h = 0; h < heads; h++) {
            tile.at = (struct attention_rows){group / a->kv_heads, group % a->kv_heads * heads + h, 0, 0};
            tile.from = t * keys_of_tile(a);
            tile.to = smaller(tile.from + keys_of_tile(a), a->keys);
            run_rows(way, split, tile, scratch);
        }
}

/* --- bringing sums together --- */

static double sum_at(const struct attention *a, const void *sums, size_t at)
{
    return sum_size(a) == sizeof(double) ? ((const double *)sums)[at] : (double)((const float *)sums)[at];
}

static void put(enum dtype dtype, void *out, size_t at, double value)
{
    if (dtype == DTYPE_FLOAT64)
        ((double *)out)[at] = value + 0;
    else
        ((float *)out)[at] = (float)value + 0;
}

static double load(struct tensor t, size_t at)
{
    return t.dtype == DTYPE_FLOAT64 ? ((const double *)t.data)[at] : (double)((const float *)t.data)[at];
}

/* dQ of one head, and its part of d scale = sum q . (d scaled K). */
static void finish_queries(void *context, size_t head, size_t slot)
{
    (void)slot;
    struct backward_way *way = context;
    const struct attention *a = way->back->a;
    size_t numbers = a->queries * a->d_k;
    size_t q = head / a->heads * a->q.stride[0] + head % a->heads * a->q.stride[1];
    double scale = 0;
    for (size_t at = 0; at < numbers; at++) {
        double sum = 0;
        for (size_t split = 0; split < way->splits; split++)
            sum += sum_at(a, way->q, (split * a->batch * a->heads + head) * numbers + at);
        scale += sum * load(a->q, q + at / a->d_k * a->q.stride[2] + at % a->d_k);
        put(a->dtype, way->inputs[0].data, head * numbers + at, a->scale * sum);
    }
    way->scale[head] = scale;
}

static void finish_keys(void *context, size_t group, size_t slot)
{
    (void)slot;
    struct backward_way *way = context;
    const struct attention *a = way->back->a;
    for (size_t at = group * a->keys * a->d_k; way->k && at < (group + 1) * a->keys * a->d_k; at++)
        put(a->dtype, way->inputs[1].data, at, a->scale * sum_at(a, way->k, at));
    for (size_t at = group * a->keys * a->d_v; way->v && at < (group + 1) * a->keys * a->d_v; at++)
        put(a->dtype, way->inputs[2].data, at, sum_at(a, way->v, at));
}

/* Parts [splits][b][H] into [H], the batch summed, in order. */
static void finish_by_head(const struct backward_way *way, enum gradient gradient, const double *parts)
{
    const struct attention *a = way->back->a;
    size_t heads = a->batch * a->heads;
    for (size_t h = 0; way->results->of[gradient] && h < a->heads; h++) {
        double sum = 0;
        for (size_t part = h; part < way->splits * heads; part += a->heads)
            sum += parts[part];
        put(a->dtype, way->results->of[gradient], h, sum);
    }
}

static void finish_number(const struct backward_way *way, enum gradient gradient, const double *parts, size_t count)
{
    double sum = 0;
    for (size_t part = 0; part < count; part++)
        sum += parts[part];
    if (way->results->of[gradient])
        put(way->back->a->dtype, way->results->of[gradient], 0, sum);
}

/* --- all of it --- */

static bool make_input(struct backward_way *way, size_t input, void **sums, struct error *err)
{
    static const enum gradient names[3] = {GRADIENT_INPUTS_Q, GRADIENT_INPUTS_K, GRADIENT_INPUTS_V};
    const struct attention *a = way->back->a;
    const size_t shape[4] = {a->batch, input == 0 ? a->heads : a->kv_heads, input == 0 ? a->queries : a->keys,
                             input == 2 ? a->d_v : a->d_k};
    size_t count = shape[0] * shape[1] * shape[2] * shape[3];
    if (!backward_needs(way, input))
        return true;
    way->inputs[input] = tensor_dense(a->dtype, 4, shape, backward_room(way, names[input], count, err));
    *sums = arena_calloc(way->arena, count * (input == 0 ? way->splits : 1), sum_size(a), err);
    return way->inputs[input].data && *sums;
}

static bool make_room(struct backward_way *way, struct error *err)
{
    const struct attention *a = way->back->a;
    size_t heads = a->batch * a->heads;
    way->splits = backward_splits(a);
    way->cap = arena_calloc(way->arena, way->splits * heads, sizeof *way->cap, err);
    way->slope = way->cap ? arena_calloc(way->arena, way->splits * heads, sizeof *way->slope, err) : NULL;
    way->scale = way->slope ? arena_calloc(way->arena, heads, sizeof *way->scale, err) : NULL;
    way->state = way->scale ? arena_calloc(way->arena, way->splits * heads * a->queries, 1, err) : NULL;
    return way->state && make_input(way, 0, &way->q, err) && make_input(way, 1, &way->k, err) &&
           make_input(way, 2, &way->v, err);
}

static bool needs_tiles(const struct backward_way *way)
{
    if (way->q || way->k || way->v || backward_wants(way, GRADIENT_SOFTCAP) || backward_wants(way, GRADIENT_ALIBI))
        return true;
    for (size_t x = 0; x < GRADIENT_COUNT; x++)
        if (way->back->wants[x] && gradient_kind((enum gradient)x) == GRADIENT_PAIR)
            return true;
    return false;
}

static bool run_tiles(struct backward_way *way, struct error *err)
{
    const struct attention *a = way->back->a;
    size_t tasks = a->batch * a->kv_heads * way->splits;
    size_t bytes = backward_scratch(a, rows_of_tile(a), keys_of_tile(a));
    if (!workspace_open(&way->scratch, bytes, tasks, way->pool, way->arena, err))
        return false;
    pool_run_few(way->pool, way->scratch.slots, tasks, run_task, way);
    workspace_close(&way->scratch, way->arena);
    return true;
}

bool backward_heads(struct backward_way *way, struct error *err)
{
    const struct attention *a = way->back->a;
    if (!make_room(way, err))
        return false;
    if (needs_tiles(way) && !run_tiles(way, err))
        return false;
    if (way->q)
        pool_run(way->pool, a->batch * a->heads, finish_queries, way);
    if (way->k || way->v)
        pool_run(way->pool, a->batch * a->kv_heads, finish_keys, way);
    finish_number(way, GRADIENT_SCALE, way->scale, a->batch * a->heads);
    finish_number(way, GRADIENT_SOFTCAP, way->cap, way->splits * a->batch * a->heads);
    finish_by_head(way, GRADIENT_ALIBI, way->slope);
    return true;
}

/* --- sinks --- */

/* d sink_h = - sum_i a_i D_i with the sink's weight a_i = e^(sink - l_i). */
void backward_sinks(struct backward_way *way)
{
    const struct attention *a = way->back->a;
    const double *sinks = a->request->sinks.values;
    for (size_t h = 0; way->results->of[GRADIENT_SINKS] && h < a->heads; h++) {
        double sink = a->dtype == DTYPE_FLOAT64 ? sinks[h] : (double)(float)sinks[h];
        double sum = 0;
        for (size_t b = 0; b < a->batch; b++)
            for (size_t i = 0; i < a->queries; i++) {
                size_t row = (b * a->heads + h) * a->queries + i;
                sum -= exp(sink - way->back->log_sum_exp[row]) * way->back->row_dot[row];
            }
        put(a->dtype, way->results->of[GRADIENT_SINKS], h, sum);
    }
}
