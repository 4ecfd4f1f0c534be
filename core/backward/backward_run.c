/* The whole way back: what it starts from, its parts in order, and what may be wrong with its numbers. */
#include "core/backward/backward.h"

#include "core/backward/backward_way.h"
#include "core/tensor/blas.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ROWS_PER_TASK 64

/* --- what it starts from --- */

struct start {
    struct backward *back;
    double *row_dot;
    char *g;
};

static double number_at(enum dtype dtype, const void *data, size_t at)
{
    return dtype == DTYPE_FLOAT64 ? ((const double *)data)[at] : (double)((const float *)data)[at];
}

/* G = dL/d output W_o^T, some rows. */
static void project_rows(void *context, size_t index, size_t slot)
{
    (void)slot;
    const struct start *start = context;
    const struct attention *a = start->back->a;
    const struct tensor w = a->request->w_o;
    size_t rows = a->batch * a->queries;
    size_t first = index * ROWS_PER_TASK;
    size_t size = dtype_size(a->dtype);
    blas_product(a->dtype, BLAS_TRANSPOSED, rows - first < ROWS_PER_TASK ? rows - first : ROWS_PER_TASK, w.shape[0],
                 w.shape[1], (const char *)start->back->by_output + first * w.shape[1] * size, w.shape[1], w.data,
                 w.shape[1], start->g + first * w.shape[0] * size, w.shape[0]);
}

/* D of the rows of one head. */
static void dot_rows(void *context, size_t head, size_t slot)
{
    (void)slot;
    const struct start *start = context;
    const struct attention *a = start->back->a;
    const struct tensor g = start->back->g;
    for (size_t i = 0; i < a->queries; i++) {
        size_t at = head / a->heads * g.stride[0] + head % a->heads * g.stride[1] + i * g.stride[2];
        double sum = 0;
        for (size_t t = 0; t < a->d_v; t++)
            sum += number_at(a->dtype, g.data, at + t) * number_at(a->dtype, start->back->mixed, at + t);
        start->row_dot[head * a->queries + i] = sum;
    }
}

static struct tensor view_of_heads(const struct attention *a, void *data)
{
    const size_t shape[4] = {a->batch, a->heads, a->queries, a->d_v};
    struct tensor t = tensor_dense(a->dtype, 4, shape, data);
    if (a->packed) {
        t.stride[2] = a->heads * a->d_v;
        t.stride[1] = a->d_v;
    }
    return t;
}

/* Which rows see nothing, where their weights were cleared after the softmax. */
static bool find_empty(struct backward *back, struct arena *arena, struct error *err)
{
    const struct attention *a = back->a;
    size_t rows = a->batch * a->heads * a->queries;
    if (a->request->variant != VARIANT_MASK_WITH_ZERO)
        return true;
    unsigned char *empty = arena_alloc(arena, rows, err);
    unsigned char *visible = empty ? arena_alloc(arena, a->keys, err) : NULL;
    if (!visible)
        return false;
    for (size_t row = 0; row < rows; row++) {
        size_t head = row / a->queries;
        struct mask_span span =
            mask_row(&a->mask, head / a->heads, head % a->heads, row % a->queries, 0, a->keys, visible);
        empty[row] = span.begin == span.end;
    }
    arena_drop(arena, visible);
    back->empty = empty;
    return true;
}

bool backward_prepare(struct backward *back, struct pool *pool, struct arena *arena, struct error *err)
{
    const struct attention *a = back->a;
    size_t rows = a->batch * a->queries;
    struct start start = {.back = back};
    start.row_dot = arena_calloc(arena, rows * a->heads, sizeof *start.row_dot, err);
    if (!start.row_dot || !find_empty(back, arena, err))
        return false;
    if (a->request->w_o.data) {
        start.g = arena_calloc(arena, rows * a->heads * a->d_v, dtype_size(a->dtype), err);
        if (!start.g)
            return false;
        pool_run(pool, (rows + ROWS_PER_TASK - 1) / ROWS_PER_TASK, project_rows, &start);
    }
    back->g = view_of_heads(a, start.g ? (void *)start.g : (void *)back->by_output);
    back->row_dot = start.row_dot;
    pool_run(pool, a->batch * a->heads, dot_rows, &start);
    return true;
}

/* --- what is needed --- */

bool backward_wants(const struct backward_way *way, enum gradient gradient)
{
    return way->results->of[gradient] != NULL;
}

bool backward_needs(const struct backward_way *way, size_t input)
{
    static const enum gradient users[3][9] = {
        {GRADIENT_INPUTS_Q, GRADIENT_Q, GRADIENT_SCALE, GRADIENT_W_Q, GRADIENT_B_Q, GRADIENT_X, GRADIENT_EMBEDDING,
         GRADIENT_COUNT},
        {GRADIENT_INPUTS_K, GRADIENT_K, GRADIENT_PAST_K, GRADIENT_W_K, GRADIENT_B_K, GRADIENT_X, GRADIENT_EMBEDDING,
         GRADIENT_CONTEXT, GRADIENT_COUNT},
        {GRADIENT_INPUTS_V, GRADIENT_V, GRADIENT_PAST_V, GRADIENT_W_V, GRADIENT_B_V, GRADIENT_X, GRADIENT_EMBEDDING,
         GRADIENT_CONTEXT, GRADIENT_COUNT},
    };
    if (way->back->a->request->latent.on)
        return true;
    for (const enum gradient *user = users[input]; *user != GRADIENT_COUNT; user++)
        if (backward_wants(way, *user))
            return true;
    return false;
}

void *backward_room(const struct backward_way *way, enum gradient gradient, size_t count, struct error *err)
{
    void *room = way->results->of[gradient];
    return room ? room : arena_calloc(way->arena, count, dtype_size(way->back->a->dtype), err);
}

bool backward_is_cancelled(const struct backward_way *way)
{
    return way->cancel && atomic_load_explicit(way->cancel, memory_order_relaxed);
}

/* --- what is wrong --- */

static bool check_numbers(const struct backward_way *way, enum gradient gradient, struct error *err)
{
    const struct attention *a = way->back->a;
    struct tensor t = gradient_shape(a, gradient);
    size_t width = t.rank > 0 ? t.shape[t.rank - 1] : 1;
    size_t count = way->results->of[gradient] ? tensor_count(t) : 0;
    for (size_t at = 0; at < count; at++)
        if (!isfinite(number_at(a->dtype, way->results->of[gradient], at)))
            return error_set(err, ERROR_INVALID, "backward", "The gradient of %s overflows %s in row %zu.",
                             gradient_name(gradient), dtype_name(a->dtype), t.rank > 1 ? at / width : at);
    return true;
}

static bool check_row(const struct backward_way *way, size_t row, struct error *err)
{
    const struct attention *a = way->back->a;
    unsigned state = way->state[row];
    size_t rows = a->batch * a->heads * a->queries;
    if (state == 0 || rows == 0)
        return true;
    row %= rows;
    return error_set(err, ERROR_INVALID, "backward",
                     "The gradient of %s overflows %s in batch %zu, head %zu, query %zu.",
                     gradient_name((enum gradient)(state - 1)), dtype_name(a->dtype), row / a->queries / a->heads,
                     row / a->queries % a->heads, row % a->queries);
}

static bool check_row_dot(const struct backward_way *way, struct error *err)
{
    const struct attention *a = way->back->a;
    for (size_t row = 0; way->back->wants[GRADIENT_ROW_DOT] && row < a->batch * a->heads * a->queries; row++)
        if (!isfinite(a->dtype == DTYPE_FLOAT64 ? way->back->row_dot[row] : (float)way->back->row_dot[row]))
            return error_set(err, ERROR_INVALID, "backward",
                             "The gradient's row_dot overflows %s in batch %zu, head %zu, query %zu.",
                             dtype_name(a->dtype), row / a->queries / a->heads, row / a->queries % a->heads,
                             row % a->queries);
    return true;
}

static bool check_all(const struct backward_way *way, struct error *err)
{
    size_t rows = way->splits * way->back->a->batch * way->back->a->heads * way->back->a->queries;
    if (way->cancel && atomic_load(way->cancel))
        return error_set(err, ERROR_CANCELLED, "", "The request was given up.");
    bool good = check_row_dot(way, err);
    for (size_t row = 0; good && row < rows; row++)
        good = check_row(way, row, err);
    for (size_t x = 0; good && x < GRADIENT_COUNT; x++)
        if (x != GRADIENT_READOUT_W && x != GRADIENT_OUTPUT)
            good = check_numbers(way, (enum gradient)x, err);
    return good;
}

/* --- the run --- */

bool backward_run(const struct backward *back, const struct backward_results *results, struct pool *pool,
                  const atomic_bool *cancel, struct arena *arena, struct error *err)
{
    struct backward_way way = {
        .back = back, .results = results, .pool = pool, .cancel = cancel, .arena = arena, .simd = simd_best()};
    bool good = backward_heads(&way, err) && backward_bias(&way, err) && backward_members(&way, err);
    backward_sinks(&way);
    return good && check_all(&way, err);
}
