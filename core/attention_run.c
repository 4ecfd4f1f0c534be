/* All row blocks of a request, shared by the workers of a pool, and what may be wrong with their rows. */
#include "core/attention.h"
#include "core/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- blocks --- */

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

static size_t element_size(const struct attention *a, size_t quantity)
{
    return quantity == QUANTITY_ALLOWED ? 1 : dtype_size(a->dtype);
}

static void run_rows(const struct rows *rows, void *scratch)
{
    if (rows->a->dtype == DTYPE_FLOAT64)
        rows_run_float64(rows, scratch);
    else
        rows_run_float32(rows, scratch);
}

bool attention_block_run(const struct attention *a, size_t block, const struct attention_results *results)
{
    struct rows rows = {.a = a, .at = attention_block(a, block)};
    void *scratch = aligned_alloc(ARENA_ALIGNMENT, rows_scratch(a));
    if (!scratch)
        return false;
    memcpy(rows.of, results->of, sizeof rows.of);
    rows.of[QUANTITY_OUTPUT] = NULL;
    run_rows(&rows, scratch);
    free(scratch);
    return true;
}

/* --- the run --- */

struct run {
    const struct attention *a;
    const struct attention_results *results;
    const atomic_bool *cancel;
    void **scratch; /* [slots], each made by the first task on its slot */
    unsigned char *state; /* [b][h][n] */
    atomic_bool no_memory;
};

/* Where a quantity's row (b, h, i) stands. */
static void *row_at(const struct attention *a, const struct attention_results *results, size_t quantity,
                    struct attention_rows at)
{
    size_t row = (at.b * a->heads + at.h) * a->queries + at.first;
    if (quantity == QUANTITY_OUTPUT && a->packed)
        row = (at.b * a->queries + at.first) * a->heads + at.h;
    char *base = results->of[quantity];
    return base ? base + row * attention_width(a, (enum quantity)quantity) * element_size(a, quantity) : NULL;
}

static void run_block(void *context, size_t block, size_t worker)
{
    struct run *run = context;
    const struct attention *a = run->a;
    if ((run->cancel && atomic_load_explicit(run->cancel, memory_order_relaxed)) || atomic_load(&run->no_memory))
        return;
    if (!run->scratch[worker])
        run->scratch[worker] = aligned_alloc(ARENA_ALIGNMENT, rows_scratch(a));
    if (!run->scratch[worker]) {
        atomic_store(&run->no_memory, true);
        return;
    }
    struct rows rows = {.a = a, .at = attention_block(a, block)};
    for (size_t x = 0; x < QUANTITY_COUNT; x++)
        rows.of[x] = row_at(a, run->results, x, rows.at);
    rows.output_stride = a->packed ? a->heads * a->d_v : a->d_v;
    rows.state = run->state + (rows.at.b * a->heads + rows.at.h) * a->queries + rows.at.first;
    run_rows(&rows, run->scratch[worker]);
}

/* --- rows at fault --- */

#define ROWS_NAMED 8

static size_t name_row(const struct attention *a, size_t row, char *out, size_t size)
{
    size_t i = row % a->queries;
    size_t h = row / a->queries % a->heads;
    size_t b = row / a->queries / a->heads;
    size_t used = 0;
    if (a->has_batch)
        used += (size_t)snprintf(out + used, size - used, "batch %zu ", b);
    if (a->has_heads)
        used += (size_t)snprintf(out + used, size - used, "head %zu ", h);
    return used + (size_t)snprintf(out + used, size - used, "query %zu", i);
}

/* "query 0, query 3 and 5 more" for the rows in `state`. */
static size_t list_rows(const struct attention *a, const unsigned char *states, enum row_state state, char *out,
                        size_t size)
{
    size_t rows = a->batch * a->heads * a->queries;
    size_t found = 0;
    size_t used = 0;
    for (size_t row = 0; row < rows; row++) {
        if (states[row] != state || found++ >= ROWS_NAMED)
            continue;
        used += (size_t)snprintf(out + used, size - used, "%s", found > 1 ? ", " : "");
        used += name_row(a, row, out + used, size - used);
    }
    if (found > ROWS_NAMED)
        snprintf(out + used, size - used, " and %zu more", found - ROWS_NAMED);
    return found;
}

static bool report_rows(const struct attention *a, const unsigned char *states, struct error *err)
{
    char rows[640]; /* ROWS_NAMED names of three numbers */
    bool good = true;
    if (!a->request->mask.empty_rows_zero && list_rows(a, states, ROW_EMPTY, rows, sizeof rows))
        good = error_set(err, ERROR_INVALID, "mask",
                         "No key is visible to %s. Set mask.empty_rows to \"zero\" to get zeros there.", rows);
    if (list_rows(a, states, ROW_SCORE_OVERFLOW, rows, sizeof rows))
        good = error_set(err, ERROR_INVALID, "", "A visible score overflows %s in %s.", dtype_name(a->dtype), rows);
    if (list_rows(a, states, ROW_OUTPUT_OVERFLOW, rows, sizeof rows))
        good = error_set(err, ERROR_INVALID, "", "The output overflows %s in %s.", dtype_name(a->dtype), rows);
    return good;
}

bool attention_run(const struct attention *a, const struct attention_results *results, struct pool *pool,
                   const atomic_bool *cancel, struct arena *arena, struct error *err)
{
    size_t slots = pool_slots(pool);
    struct run run = {.a = a, .results = results, .cancel = cancel};
    run.scratch = arena_calloc(arena, slots, sizeof *run.scratch, err);
    run.state = run.scratch ? arena_calloc(arena, a->batch * a->heads * a->queries, 1, err) : NULL;
    if (!run.state)
        return false;
    pool_run(pool, attention_blocks(a), run_block, &run);
    for (size_t slot = 0; slot < slots; slot++)
        free(run.scratch[slot]);
    if (cancel && atomic_load(cancel))
        return error_set(err, ERROR_CANCELLED, "", "The request was given up.");
    if (atomic_load(&run.no_memory))
        return error_set(err, ERROR_MEMORY, "", "No memory for a block of scores.");
    return report_rows(a, run.state, err);
}

/* --- terms --- */

static size_t row_offset(struct tensor t, size_t b, size_t h, size_t x)
{
    return b * t.stride[0] + h * t.stride[1] + x * t.stride[2];
}

void attention_products(const struct attention *a, size_t b, size_t h, size_t i, void *out)
{
    size_t q = row_offset(a->q, b, h, i);
    for (size_t j = 0; j < a->keys; j++) {
        size_t k = row_offset(a->k, b, h / (a->heads / a->kv_heads), j);
        for (size_t t = 0; t < a->d_k; t++)
            if (a->dtype == DTYPE_FLOAT64)
                ((double *)out)[j * a->d_k + t] = ((const double *)a->q.data)[q + t] * ((const double *)a->k.data)[k + t];
            else
                ((float *)out)[j * a->d_k + t] = ((const float *)a->q.data)[q + t] * ((const float *)a->k.data)[k + t];
    }
}

void attention_contributions(const struct attention *a, size_t b, size_t h, const void *weights, void *out)
{
    for (size_t j = 0; j < a->keys; j++) {
        size_t v = row_offset(a->v, b, h / (a->heads / a->kv_heads), j);
        for (size_t t = 0; t < a->d_v; t++)
            if (a->dtype == DTYPE_FLOAT64) {
                double w = ((const double *)weights)[j];
                ((double *)out)[j * a->d_v + t] = w == 0 ? 0 : w * ((const double *)a->v.data)[v + t];
            } else {
                float w = ((const float *)weights)[j];
                ((float *)out)[j * a->d_v + t] = w == 0 ? 0 : w * ((const float *)a->v.data)[v + t];
            }
    }
}
