/* Comparing block by block. */
#include "core/cache/compare.h"

#include "core/forward/overflow.h"
#include "core/forward/rows.h"
#include "core/workspace.h"

#include <math.h>

/* --- the exact request --- */

/* A dense copy of t in double; false when there is no memory. */
static bool widen(struct tensor *t, struct arena *arena, struct error *err)
{
    struct tensor wide = tensor_dense(DTYPE_FLOAT64, t->rank, t->shape, NULL);
    if (!t->data || t->dtype != DTYPE_FLOAT32)
        return true;
    size_t width = t->shape[t->rank - 1];
    double *out = arena_calloc(arena, tensor_count(wide), sizeof *out, err);
    if (!out)
        return false;
    wide.data = out;
    for (size_t row = 0; row < tensor_count(wide) / width; row++) {
        size_t at = 0;
        for (size_t axis = t->rank - 1, rest = row; axis-- > 0; rest /= t->shape[axis])
            at += rest % t->shape[axis] * t->stride[axis];
        for (size_t x = 0; x < width; x++)
            out[row * width + x] = dtype_get(t->dtype, t->data, at + x);
    }
    *t = wide;
    return true;
}

/* Emulated precision is held against float64, whatever the dtype. */
static bool widen_request(struct attention *exact, struct arena *arena, struct error *err)
{
    const struct mask_sizes sizes = {exact->batch, exact->heads, exact->queries, exact->keys, exact->past};
    struct attention_request *r = arena_alloc(arena, sizeof *r, err);
    if (!r)
        return false;
    *r = *exact->request;
    r->dtype = exact->dtype = DTYPE_FLOAT64;
    exact->request = r;
    return widen(&exact->q, arena, err) && widen(&exact->k, arena, err) && widen(&exact->v, arena, err) &&
           widen(&r->w_o, arena, err) && widen(&r->b_o, arena, err) && widen(&r->mask.bias, arena, err) &&
           mask_prepare(&exact->mask, &r->mask, sizes, DTYPE_FLOAT64, arena, err);
}

bool compare_exact(const struct attention *a, struct attention *exact, struct arena *arena, struct pool *pool,
                   struct error *err)
{
    *exact = *a;
    exact->q = a->kept_q;
    exact->k = a->kept_k;
    exact->v = a->kept_v;
    exact->quantized_k = exact->quantized_v = (struct quantized){0};
    exact->precision.on = false;
    if (a->precision.on && !widen_request(exact, arena, err))
        return false;
    overflow_foresee(exact, pool);
    return true;
}

/* --- blocks --- */

static const enum quantity compared[] = {QUANTITY_SCORES, QUANTITY_WEIGHTS, QUANTITY_ALLOWED, QUANTITY_ROW_MAX,
                                         QUANTITY_ROW_SUM};
#define COMPARED (sizeof compared / sizeof *compared)

/* What a block adds to the comparison. */
struct part {
    double scores_max, scores_sum, weights_max;
    size_t cells, changed;
};

struct work {
    const struct attention *side[2]; /* rounded, exact */
    struct comparison *comparison;
    struct part *parts; /* [blocks] */
    const atomic_bool *cancel;
    struct workspace scratch;
};

/* One block of both. */
struct block {
    const struct work *work;
    struct attention_rows at;
    struct attention_results results[2];
};

/* Number `column` of row i of a quantity, of the rounded side or the exact one. */
static double cell(const struct block *b, size_t side, enum quantity quantity, size_t i, size_t column)
{
    const struct attention *a = b->work->side[side];
    return dtype_get(attention_dtype(a, quantity), b->results[side].of[quantity],
                     i * attention_width(a, quantity) + column);
}

static bool is_visible(const struct block *b, size_t i, size_t j)
{
    return cell(b, 0, QUANTITY_ALLOWED, i, j) > 0;
}

/* The weight of the sink. */
static double sink_weight(const struct block *b, size_t side, size_t i)
{
    const struct reals sinks = b->work->side[side]->request->sinks;
    double sum = cell(b, side, QUANTITY_ROW_SUM, i, 0);
    return sinks.values && sum > 0 ? exp(sinks.values[b->at.h] - cell(b, side, QUANTITY_ROW_MAX, i, 0)) / sum : 0;
}

/* w log2(w / w^) */
static double divergence(double exact, double rounded)
{
    if (!(exact > 0))
        return 0;
    return rounded > 0 ? exact * log2(exact / rounded) : NAN;
}

/* Rounding may leave a hair below 0 where both are the same. */
static double row_divergence(const struct block *b, size_t i)
{
    double sum = divergence(sink_weight(b, 1, i), sink_weight(b, 0, i));
    for (size_t j = 0; j < b->work->side[0]->keys; j++)
        if (is_visible(b, i, j))
            sum += divergence(cell(b, 1, QUANTITY_WEIGHTS, i, j), cell(b, 0, QUANTITY_WEIGHTS, i, j));
    return sum < 0 && sum > -1e-6 ? 0 : sum;
}

/* The first visible key of the largest weight, or the number of keys. */
static size_t find_largest(const struct block *b, size_t side, size_t i)
{
    size_t keys = b->work->side[side]->keys;
    size_t largest = keys;
    for (size_t j = 0; j < keys; j++)
        if (is_visible(b, i, j) &&
            (largest == keys || cell(b, side, QUANTITY_WEIGHTS, i, j) > cell(b, side, QUANTITY_WEIGHTS, i, largest)))
            largest = j;
    return largest;
}

static void compare_row(const struct block *b, size_t i, struct part *part)
{
    for (size_t j = 0; j < b->work->side[0]->keys; j++) {
        if (!is_visible(b, i, j))
            continue;
        double score = fabs(cell(b, 0, QUANTITY_SCORES, i, j) - cell(b, 1, QUANTITY_SCORES, i, j));
        double weight = fabs(cell(b, 0, QUANTITY_WEIGHTS, i, j) - cell(b, 1, QUANTITY_WEIGHTS, i, j));
        part->scores_max = fmax(part->scores_max, score);
        part->weights_max = fmax(part->weights_max, weight);
        part->scores_sum += score * score;
        part->cells++;
    }
    part->changed += find_largest(b, 0, i) != find_largest(b, 1, i);
}

static size_t compared_size(const struct attention *a, size_t x)
{
    return rows_align(attention_block(a, 0).count * attention_width(a, compared[x]) *
                      dtype_size(attention_dtype(a, compared[x])));
}

/* What both sides show, and what one of them computes with. */
static size_t scratch_size(const struct attention *a)
{
    size_t bytes = attention_block_scratch(a);
    for (size_t x = 0; x < COMPARED; x++)
        bytes += 2 * compared_size(a, x);
    return bytes;
}

static void compute(struct block *b, size_t index, char *scratch)
{
    char *shown = scratch + rows_align(attention_block_scratch(b->work->side[0]));
    for (size_t side = 0; side < 2; side++) {
        for (size_t x = 0; x < COMPARED; x++) {
            b->results[side].of[compared[x]] = shown;
            shown += compared_size(b->work->side[side], x);
        }
        attention_block_run(b->work->side[side], index, &b->results[side], scratch);
    }
}

static void compare_block(void *context, size_t index, size_t slot)
{
    struct work *work = context;
    const struct attention *a = work->side[0];
    struct block b = {.work = work, .at = attention_block(a, index)};
    if (work->cancel && atomic_load_explicit(work->cancel, memory_order_relaxed))
        return;
    compute(&b, index, workspace_piece(&work->scratch, slot));
    for (size_t i = 0; i < b.at.count; i++) {
        compare_row(&b, i, &work->parts[index]);
        dtype_set(a->dtype, work->comparison->kl_bits.data, (b.at.b * a->heads + b.at.h) * a->queries + b.at.first + i,
                  row_divergence(&b, i));
    }
}

/* --- outputs --- */

struct sums {
    double both, rounded, exact;
};

static void compare_output(const struct work *work, const void *output, const void *exact_output, size_t rows,
                           size_t width)
{
    struct comparison *c = work->comparison;
    double sum = 0;
    for (size_t row = 0; row < rows; row++) {
        struct sums s = {0};
        for (size_t t = 0; t < width; t++) {
            double rounded = dtype_get(work->side[0]->dtype, output, row * width + t);
            double exact = dtype_get(work->side[1]->dtype, exact_output, row * width + t);
            c->output_max = fmax(c->output_max, fabs(rounded - exact));
            sum += (rounded - exact) * (rounded - exact);
            s.both += rounded * exact;
            s.rounded += rounded * rounded;
            s.exact += exact * exact;
        }
        double norms = sqrt(s.rounded) * sqrt(s.exact);
        dtype_set(c->cosine.dtype, c->cosine.data, row, norms > 0 ? fmax(-1, fmin(1, s.both / norms)) : NAN);
    }
    c->output_rms = sqrt(sum / (double)rows / (double)width);
}

static void add_parts(struct comparison *c, const struct part *parts, size_t count)
{
    struct part all = {0};
    for (size_t x = 0; x < count; x++) {
        all.scores_max = fmax(all.scores_max, parts[x].scores_max);
        all.weights_max = fmax(all.weights_max, parts[x].weights_max);
        all.scores_sum += parts[x].scores_sum;
        all.cells += parts[x].cells;
        all.changed += parts[x].changed;
    }
    c->scores_max = all.scores_max;
    c->scores_rms = all.cells > 0 ? sqrt(all.scores_sum / (double)all.cells) : 0;
    c->weights_max = all.weights_max;
    c->argmax_changed = all.changed;
}

size_t compare_room(const struct attention *a)
{
    size_t rows = a->batch * a->heads * a->queries;
    return scratch_size(a) + attention_blocks(a) * sizeof(struct part) + 2 * rows * dtype_size(a->dtype);
}

bool compare_run(const struct attention *a, const struct attention *exact, const void *output, const void *exact_output,
                 struct comparison *c, struct pool *pool, const atomic_bool *cancel, struct arena *arena,
                 struct error *err)
{
    size_t blocks = attention_blocks(a);
    size_t rows = a->batch * a->queries * (a->packed ? 1 : a->heads);
    const size_t per_query[3] = {a->batch, a->heads, a->queries};
    const size_t per_row[3] = {a->batch, a->packed ? 1 : a->heads, a->queries};
    struct work work = {.side = {a, exact}, .comparison = c, .cancel = cancel};
    *c = (struct comparison){0};
    work.parts = arena_calloc(arena, blocks, sizeof *work.parts, err);
    c->kl_bits = tensor_dense(a->dtype, 3, per_query, NULL);
    c->cosine = tensor_dense(a->dtype, 3, per_row, NULL);
    c->kl_bits.data = arena_calloc(arena, tensor_count(c->kl_bits), dtype_size(a->dtype), err);
    c->cosine.data = arena_calloc(arena, tensor_count(c->cosine), dtype_size(a->dtype), err);
    if (!work.parts || !c->kl_bits.data || !c->cosine.data ||
        !workspace_open(&work.scratch, scratch_size(a), blocks, pool, arena, err))
        return false;
    pool_run_few(pool, work.scratch.slots, blocks, compare_block, &work);
    workspace_close(&work.scratch, arena);
    if (cancel && atomic_load(cancel))
        return error_set(err, ERROR_CANCELLED, "", "The request was given up.");
    add_parts(c, work.parts, blocks);
    compare_output(&work, output, exact_output, rows, a->d_out);
    return true;
}
