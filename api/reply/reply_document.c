/* The rows of documents. */
#include "api/reply/reply_document.h"

#include "api/reply/cost_json.h"
#include "api/writing/array.h"

#include <math.h>
#include <string.h>

/* Of the bill nothing counts: it is as long for any request. */
static size_t count_none(const struct options *o, const struct attention *a)
{
    (void)o;
    (void)a;
    return 0;
}

static void write_cost(struct writer *w, const struct reply *r)
{
    cost_json_write(w, r->a, &r->options->cost);
}

static void write_readout(struct writer *w, const struct reply *r)
{
    readout_write(&r->readout, r->options, r->a, w);
}

/* --- the way back --- */

static const char *number_schema(void)
{
    return "{\"type\":\"number\"}";
}

static size_t count_one(const struct options *o, const struct attention *a)
{
    (void)o;
    (void)a;
    return 1;
}

static void write_loss(struct writer *w, const struct reply *r)
{
    array_number(w, &r->options->style, r->a->dtype, r->back.loss);
}

static size_t count_losses(const struct options *o, const struct attention *a)
{
    return a->batch * (o->readout.all_rows ? a->queries : 1);
}

static void write_losses(struct writer *w, const struct reply *r, size_t first, size_t count)
{
    writer_array_begin(w);
    for (size_t row = first; row < first + count; row++)
        array_next(w, &r->options->style, r->a->dtype, r->back.row_loss[row]);
    writer_array_end(w);
}

static void write_row_loss(struct writer *w, const struct reply *r)
{
    const struct attention *a = r->a;
    if (!r->options->readout.all_rows || !a->has_batch) {
        write_losses(w, r, 0, r->back.losses);
        return;
    }
    writer_array_begin(w);
    for (size_t b = 0; b < a->batch; b++)
        write_losses(w, r, b * a->queries, a->queries);
    writer_array_end(w);
}

static const char *row_loss_schema(void)
{
    return "{\"$ref\":\"#/components/schemas/NumbersOrHidden\"}";
}

static void write_gradient(struct writer *w, const struct reply *r, enum gradient gradient)
{
    array_number(w, &r->options->style, r->a->dtype, way_back_number(&r->back, gradient));
}

static void write_softcap(struct writer *w, const struct reply *r)
{
    write_gradient(w, r, GRADIENT_SOFTCAP);
}

static void write_scale(struct writer *w, const struct reply *r)
{
    write_gradient(w, r, GRADIENT_SCALE);
}

/* --- a quantised cache, and what it loses --- */

static double bits_per_number(const struct quantized *q)
{
    return q->bits / ((double)q->batch * (double)q->heads * (double)q->tokens * (double)q->width);
}

/* ratio: to 16 bits a number */
static double quantized_figure(const struct quantized *q, const char *name)
{
    if (strcmp(name, "bytes") == 0)
        return ceil(q->bits / 8);
    return strcmp(name, "ratio") == 0 ? 16 / bits_per_number(q) : bits_per_number(q);
}

#define WRITE_FIGURE(id, side, letter, name) \
    static void write_##id(struct writer *w, const struct reply *r) \
    { \
        writer_real(w, quantized_figure(&r->a->side, name)); \
    }
QUANTIZED_FIGURES(WRITE_FIGURE)
#undef WRITE_FIGURE

static void write_difference(struct writer *w, const struct reply *r, double value)
{
    array_number(w, &r->options->style, r->a->dtype, value);
}

#define WRITE_ERROR(id, field) \
    static void write_##id(struct writer *w, const struct reply *r) \
    { \
        write_difference(w, r, r->comparison.field); \
    }
WRITE_ERROR(SCORES_MAX, scores_max)
WRITE_ERROR(SCORES_RMS, scores_rms)
WRITE_ERROR(WEIGHTS_MAX, weights_max)
WRITE_ERROR(OUTPUT_MAX, output_max)
WRITE_ERROR(OUTPUT_RMS, output_rms)
#undef WRITE_ERROR

static void write_ARGMAX_CHANGED(struct writer *w, const struct reply *r)
{
    writer_integer(w, (int64_t)r->comparison.argmax_changed);
}

static void write_SATURATED(struct writer *w, const struct reply *r)
{
    writer_integer(w, (int64_t)r->tally.saturated);
}

static void write_ZEROED(struct writer *w, const struct reply *r)
{
    writer_integer(w, (int64_t)r->tally.zeroed);
}

static void write_ulp(struct writer *w, const struct reply *r)
{
    writer_object_begin(w);
    for (size_t x = 0; x < PRECISION_STAGE_COUNT; x++)
        writer_member_real(w, precision_stage_name((enum precision_stage)x), format_ulp(r->a->precision.stage[x]));
    writer_object_end(w);
}

static const char *ulp_schema(void)
{
    return "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"number\"}}";
}

const struct reply_document *reply_document(enum result_id id)
{
    static const struct reply_document documents[RESULT_COUNT] = {
        [RESULT_COST] = {count_none, write_cost, cost_json_schema},
        [RESULT_CHECKS] = {count_none, checks_write, checks_schema},
        [RESULT_READOUT] = {readout_numbers, write_readout, readout_schema},
        [RESULT_LOSS] = {count_one, write_loss, number_schema},
        [RESULT_ROW_LOSS] = {count_losses, write_row_loss, row_loss_schema},
        [RESULT_GRADIENTS_SOFTCAP] = {count_one, write_softcap, number_schema},
        [RESULT_GRADIENTS_SCALE] = {count_one, write_scale, number_schema},
#define FIGURE_DOCUMENT(id, side, letter, name) [RESULT_QUANTIZED_##id] = {count_one, write_##id, number_schema},
        QUANTIZED_FIGURES(FIGURE_DOCUMENT)
#undef FIGURE_DOCUMENT
            [RESULT_ULP] = {count_none, write_ulp, ulp_schema},
        [RESULT_STATS_SATURATED] = {count_one, write_SATURATED, number_schema},
        [RESULT_STATS_ZEROED] = {count_one, write_ZEROED, number_schema},
#define ERROR_DOCUMENT(id, object, name) [RESULT_ERROR_##id] = {count_one, write_##id, number_schema},
        ERROR_FIGURES(ERROR_DOCUMENT)
#undef ERROR_DOCUMENT
    };
    return &documents[id];
}
