/* Cross-entropy and its way back. */
#include "core/backward/loss.h"

#include "core/tensor/blas.h"

#include <math.h>
#include <string.h>

#define ROWS_PER_BLOCK 64

struct scored {
    const struct attention *a;
    const struct loss_rows *rows;
    size_t width, words, counting;
    char *row, *slope; /* [ROWS_PER_BLOCK][width] and [..][words] of the dtype */
};

static double load(enum dtype dtype, const void *data, size_t at)
{
    return dtype == DTYPE_FLOAT64 ? ((const double *)data)[at] : (double)((const float *)data)[at];
}

static void store(enum dtype dtype, void *data, size_t at, double value)
{
    if (dtype == DTYPE_FLOAT64)
        ((double *)data)[at] = value;
    else
        ((float *)data)[at] = (float)value;
}

/* Which row of the output a scored row is. */
static size_t output_row(const struct scored *s, size_t row)
{
    return s->rows->all ? row : (row + 1) * s->a->queries - 1;
}

/* -ln p(target) of one row of logits, which become d z. */
static double score_row(const struct scored *s, size_t target, size_t i)
{
    enum dtype dtype = s->a->dtype;
    double max = -INFINITY;
    double sum = 0; /* at least 1 in the end: the largest word has e^0 */
    double t = s->rows->temperature;
    size_t at = i * s->words;
    for (size_t x = 0; x < s->words; x++)
        max = fmax(max, load(dtype, s->slope, at + x) / t);
    double chosen = target == LOSS_NO_TARGET ? 0 : load(dtype, s->slope, at + target) / t;
    for (size_t x = 0; x < s->words; x++)
        sum += exp(load(dtype, s->slope, at + x) / t - max);
    for (size_t x = 0; x < s->words; x++) {
        double p = exp(load(dtype, s->slope, at + x) / t - max) / sum - (x == target);
        store(dtype, s->slope, at + x, target == LOSS_NO_TARGET ? 0 : p / (t * (double)s->counting));
    }
    return target == LOSS_NO_TARGET || sum <= 0 ? (double)NAN : max - chosen + log(sum);
}

static bool logits_are_finite(const struct scored *s, size_t count, struct error *err)
{
    for (size_t x = 0; x < count * s->words; x++)
        if (!isfinite(load(s->a->dtype, s->slope, x)))
            return error_set(err, ERROR_INVALID, "readout.w", "The logit of column %zu overflows %s.", x % s->words,
                             dtype_name(s->a->dtype));
    return true;
}

static bool run_block(const struct scored *s, const void *output, size_t first, size_t count, double *row_loss,
                      void *by_output, void *by_w, struct error *err)
{
    const struct attention *a = s->a;
    size_t size = dtype_size(a->dtype);
    for (size_t i = 0; i < count; i++)
        memcpy(s->row + i * s->width * size, (const char *)output + output_row(s, first + i) * s->width * size,
               s->width * size);
    blas_product(a->dtype, BLAS_PLAIN, count, s->words, s->width, s->row, s->width, a->request->readout_w.data,
                 s->words, s->slope, s->words);
    if (!logits_are_finite(s, count, err))
        return false;
    for (size_t i = 0; i < count; i++)
        row_loss[first + i] = score_row(s, s->rows->target[first + i], i);
    if (by_w)
        blas_product_of_transposed_add(a->dtype, (struct blas_sizes){s->width, s->words, count}, s->row, s->width,
                                       s->slope, s->words, by_w, s->words);
    for (size_t i = 0; i < count; i++)
        blas_product(a->dtype, BLAS_TRANSPOSED, 1, s->width, s->words, s->slope + i * s->words * size, s->words,
                     a->request->readout_w.data, s->words,
                     (char *)by_output + output_row(s, first + i) * s->width * size, s->width);
    return true;
}

static double mean(const double *row_loss, size_t count, size_t counting)
{
    double sum = 0;
    for (size_t row = 0; row < count; row++)
        sum += isnan(row_loss[row]) ? 0 : row_loss[row];
    return sum / (double)counting;
}

bool loss_run(const struct attention *a, const struct loss_rows *rows, const void *output, double *row_loss,
              double *loss, void *by_output, void *by_w, struct arena *arena, const atomic_bool *cancel,
              struct error *err)
{
    size_t size = dtype_size(a->dtype);
    struct scored s = {.a = a, .rows = rows, .width = a->request->readout_w.shape[0], .words = a->vocabulary};
    for (size_t row = 0; row < rows->count; row++)
        s.counting += rows->target[row] != LOSS_NO_TARGET;
    s.row = arena_calloc(arena, ROWS_PER_BLOCK, s.width * size, err);
    s.slope = s.row ? arena_calloc(arena, ROWS_PER_BLOCK, s.words * size, err) : NULL;
    if (!s.slope)
        return false;
    for (size_t first = 0; first < rows->count; first += ROWS_PER_BLOCK) {
        size_t count = rows->count - first < ROWS_PER_BLOCK ? rows->count - first : ROWS_PER_BLOCK;
        if (cancel && atomic_load(cancel))
            return error_set(err, ERROR_CANCELLED, "", "The request was given up.");
        if (!run_block(&s, output, first, count, row_loss, by_output, by_w, err))
            return false;
    }
    *loss = mean(row_loss, rows->count, s.counting);
    arena_drop(arena, s.slope);
    arena_drop(arena, s.row);
    return true;
}
