/* The whole of a request: all tasks, shared by the workers of a pool, and what may be wrong with their rows. */
#include "core/attention.h"
#include "core/forward/flush.h"
#include "core/forward/fused.h"
#include "core/forward/rows.h"
#include "core/workspace.h"

#include <stdio.h>
#include <string.h>

struct run {
    const struct attention *a;
    const struct attention_results *results;
    const struct simd *lanes;
    const atomic_bool *cancel;
    struct workspace scratch;
    unsigned char *state; /* [b][h][n] */
    char *parts;          /* [fused tasks] where keys are split */
};

/* --- where things are --- */

static size_t row_index(const struct attention *a, struct attention_rows at)
{
    return (at.b * a->heads + at.h) * a->queries + at.first;
}

static void *row_at(const struct attention *a, const struct attention_results *results, enum quantity quantity,
                    struct attention_rows at)
{
    char *base = results->of[quantity];
    if (!base)
        return NULL;
    size_t row = row_index(a, at);
    size_t size = dtype_size(attention_dtype(a, quantity));
    if (quantity == QUANTITY_OUTPUT && a->packed)
        row = (at.b * a->queries + at.first) * a->heads + at.h;
    return base + row * attention_width(a, quantity) * size;
}

static struct rows rows_of(const struct run *run, struct attention_rows at)
{
    const struct attention *a = run->a;
    struct rows rows = {.a = a, .at = at, .output_stride = a->packed ? a->heads * a->d_v : a->d_v};
    for (size_t x = 0; x < QUANTITY_COUNT; x++)
        rows.of[x] = row_at(a, run->results, (enum quantity)x, at);
    rows.log_sums = run->results->log_sums ? run->results->log_sums + row_index(a, at) : NULL;
    rows.state = run->state + row_index(a, at);
    return rows;
}

static bool is_cancelled(const struct run *run)
{
    return run->cancel && atomic_load_explicit(run->cancel, memory_order_relaxed);
}

/* --- tasks --- */

static void run_block(void *context, size_t block, size_t slot)
{
    struct run *run = context;
    const struct rows rows = rows_of(run, attention_block(run->a, block));
    if (!is_cancelled(run))
        rows_run(&rows, workspace_piece(&run->scratch, slot));
}

static size_t part_size(const struct attention *a)
{
    size_t count = fused_task(a, 0).at.count;
    return rows_align(count * a->d_v * dtype_size(a->dtype)) + 2 * rows_align(count * sizeof(double));
}

static struct fused_part part_at(const struct attention *a, char *memory)
{
    size_t count = fused_task(a, 0).at.count;
    struct fused_part part = {.sums = memory};
    part.max = (double *)(void *)(memory + rows_align(count * a->d_v * dtype_size(a->dtype)));
    part.sum = part.max + rows_align(count * sizeof(double)) / sizeof(double);
    return part;
}

static void finish(struct run *run, struct attention_rows at, struct fused_part *parts, size_t splits)
{
    const struct rows rows = rows_of(run, at);
    if (run->a->dtype == DTYPE_FLOAT64)
        fused_finish_float64(&rows, parts, splits);
    else
        fused_finish_float32(&rows, parts, splits);
}

static void run_fused(void *context, size_t index, size_t slot)
{
    struct run *run = context;
    const struct attention *a = run->a;
    const struct fused_task task = fused_task(a, index);
    char *scratch = workspace_piece(&run->scratch, slot);
    if (is_cancelled(run))
        return;
    char *memory = run->parts ? run->parts + index * part_size(a) : scratch + fused_scratch(a);
    struct fused_part part = part_at(a, memory);
    unsigned char *state = run->state + row_index(a, task.at);
    uint64_t control = flush_begin();
    if (a->dtype == DTYPE_FLOAT64)
        fused_run_float64(a, run->lanes, task, part, scratch, state, run->cancel);
    else
        fused_run_float32(a, run->lanes, task, part, scratch, state, run->cancel);
    flush_end(control);
    if (!run->parts)
        finish(run, task.at, &part, 1);
}

static void join_splits(void *context, size_t block, size_t slot)
{
    struct run *run = context;
    (void)slot;
    const struct attention *a = run->a;
    size_t splits = fused_splits(a);
    struct fused_part parts[FUSED_SPLITS_MAX];
    for (size_t p = 0; p < splits; p++)
        parts[p] = part_at(a, run->parts + (block * splits + p) * part_size(a));
    finish(run, fused_task(a, block * splits).at, parts, splits);
}

/* Where the sums of split keys wait for each other. */
static bool make_parts(struct run *run, struct arena *arena, struct error *err)
{
    if (!fused_serves(run->a) || fused_splits(run->a) == 1)
        return true;
    run->parts = arena_calloc(arena, fused_tasks(run->a), part_size(run->a), err);
    return run->parts != NULL;
}

static void run_all_fused(struct run *run, struct pool *pool)
{
    size_t tasks = fused_tasks(run->a);
    pool_run_few(pool, run->scratch.slots, tasks, run_fused, run);
    if (run->parts)
        pool_run(pool, tasks / fused_splits(run->a), join_splits, run);
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

static const struct {
    enum row_state state;
    const char *what;
} overflows[] = {
    {ROW_SCORES_OVERFLOW, "Step scores: a visible q.k, or a term of it,"},
    {ROW_SCALED_OVERFLOW, "Step scaled: a visible score, scaled,"},
    {ROW_BIASED_OVERFLOW, "Step biased: a visible score, its bias added,"},
    {ROW_OUTPUT_OVERFLOW, "The output, or a term of it,"},
};

/* What the row is too large for: with emulated precision the narrowest format on the way to the step. */
static const char *overflowed_format(const struct attention *a, enum row_state state)
{
    const struct precision *p = &a->precision;
    size_t from = state == ROW_OUTPUT_OVERFLOW ? PRECISION_WEIGHTS : PRECISION_INPUTS;
    size_t to = state == ROW_OUTPUT_OVERFLOW ? PRECISION_OUTPUT : PRECISION_SCORES;
    enum format narrowest = FORMAT_FLOAT64;
    for (size_t x = from; x <= to; x++)
        if (!format_saturates(p->stage[x]) && format_largest(p->stage[x]) < format_largest(narrowest))
            narrowest = p->stage[x];
    return p->on ? format_name(narrowest) : dtype_name(a->dtype);
}

static bool report_rows(const struct attention *a, const unsigned char *states, struct error *err)
{
    char rows[640]; /* ROWS_NAMED names of three numbers */
    bool good = true;
    if (!a->request->mask.empty_rows_zero && list_rows(a, states, ROW_EMPTY, rows, sizeof rows))
        good = error_set(err, ERROR_INVALID, "mask",
                         "No key is visible to %s. Set mask.empty_rows to \"zero\" to get zeros there.", rows);
    for (size_t x = 0; x < sizeof overflows / sizeof *overflows; x++)
        if (list_rows(a, states, overflows[x].state, rows, sizeof rows))
            good = error_set(err, ERROR_INVALID, "", "%s overflows %s in %s.", overflows[x].what,
                             overflowed_format(a, overflows[x].state), rows);
    return good;
}

/* --- the run --- */

static bool wants_more(const struct attention_results *results)
{
    for (size_t x = 0; x < QUANTITY_COUNT; x++)
        if (results->of[x] && !quantity_is((enum quantity)x, IS_FROM_RUN))
            return true;
    return false;
}

/* The output and log_sum_exp from where they always come from for such a request, then whatever else is wanted. */
static void run_all(struct run *run, struct pool *pool)
{
    const struct attention *a = run->a;
    size_t rows = a->batch * a->heads * a->queries;
    const struct attention_results *asked = run->results;
    struct attention_results more = *asked;
    bool fused = fused_serves(a);
    if (fused)
        run_all_fused(run, pool);
    if (fused && memchr(run->state, ROW_UNSURE, rows)) {
        fused = false;
        memset(run->state, ROW_GOOD, rows);
    }
    if (fused) {
        more.of[QUANTITY_OUTPUT] = NULL;
        more.of[QUANTITY_LOG_SUM_EXP] = NULL;
        more.log_sums = NULL;
    }
    run->results = &more;
    if (!fused || wants_more(&more))
        pool_run_few(pool, run->scratch.slots, attention_blocks(a), run_block, run);
    run->results = asked;
}

static size_t scratch_size(const struct attention *a)
{
    size_t fused = fused_serves(a) ? fused_scratch(a) + part_size(a) : 0;
    size_t rows = rows_scratch(a);
    return fused > rows ? fused : rows;
}

static size_t most_tasks(const struct attention *a)
{
    size_t fused = fused_serves(a) ? fused_tasks(a) : 0;
    size_t blocks = attention_blocks(a);
    return fused > blocks ? fused : blocks;
}

static bool make_rooms(struct run *run, struct pool *pool, struct arena *arena, struct error *err)
{
    const struct attention *a = run->a;
    run->state = arena_calloc(arena, a->batch * a->heads * a->queries, 1, err);
    return run->state && make_parts(run, arena, err) &&
           workspace_open(&run->scratch, scratch_size(a), most_tasks(a), pool, arena, err);
}

static bool run_plain(const struct attention *a, const struct attention_results *results, struct pool *pool,
                      const atomic_bool *cancel, struct arena *arena, struct error *err)
{
    struct run run = {.a = a, .results = results, .lanes = simd_best(), .cancel = cancel};
    if (!make_rooms(&run, pool, arena, err))
        return false;
    run_all(&run, pool);
    workspace_close(&run.scratch, arena);
    arena_drop(arena, run.parts);
    if (cancel && atomic_load(cancel))
        return error_set(err, ERROR_CANCELLED, "", "The request was given up.");
    return report_rows(a, run.state, err);
}

size_t attention_run_room(const struct attention *a)
{
    const struct attention *run = a->inner ? a->inner : a;
    size_t states = run->batch * run->heads * run->queries;
    size_t parts = fused_serves(run) && fused_splits(run) > 1 ? fused_tasks(run) * part_size(run) : 0;
    return states + parts + scratch_size(run);
}

/* Absorbed: the heads mix latent vectors, which become values afterwards. */
bool attention_run(const struct attention *a, const struct attention_results *results, struct pool *pool,
                   const atomic_bool *cancel, struct arena *arena, struct error *err)
{
    struct attention_results inner = *results;
    if (!a->inner)
        return run_plain(a, results, pool, cancel, arena, err);
    inner.of[QUANTITY_OUTPUT] = a->latent.mixed_latent.data;
    return run_plain(a->inner, &inner, pool, cancel, arena, err) &&
           latent_mix(a, results->of[QUANTITY_OUTPUT], pool, err);
}
