/* Formulas. */
#include "api/text/step_formula.h"

#include "api/numbers/decimal_text.h"

static const char *name_before(const struct attention *a, enum quantity quantity)
{
    if (quantity == QUANTITY_CAPPED || attention_lacks(a, QUANTITY_CAPPED))
        return quantity_name(QUANTITY_SCALED);
    return quantity_name(QUANTITY_CAPPED);
}

enum quantity step_formula_before_mask(const struct attention *a)
{
    if (!attention_lacks(a, QUANTITY_BIASED))
        return QUANTITY_BIASED;
    return attention_lacks(a, QUANTITY_CAPPED) ? QUANTITY_SCALED : QUANTITY_CAPPED;
}

void step_formula_mask(struct buffer *out, const struct attention *a)
{
    const struct mask_request *m = &a->request->mask;
    const struct {
        const char *name;
        bool given;
    } members[] = {
        {"causal", m->causal},
        {"window", m->has_window},
        {"documents", m->query_documents.values != NULL},
        {"key_lengths", m->key_lengths.values != NULL},
        {"allow", m->allow.data != NULL},
        {"bias", a->mask.bias_hides},
    };
    bool first = true;
    for (size_t x = 0; x < sizeof members / sizeof *members; x++) {
        if (!members[x].given)
            continue;
        buffer_format(out, "%s%s", first ? "" : ", ", members[x].name);
        first = false;
    }
}

static void write_scaled(struct buffer *out, const struct attention *a)
{
    char scale[DECIMAL_TEXT_SIZE];
    buffer_format(out, "scaled = scores * %s", decimal_text_exact(scale, a->scale, a->dtype));
    if (!a->request->has_scale)
        buffer_format(out, "   (1 / sqrt(%zu))", a->d_k);
}

static void write_masked(struct buffer *out, const struct attention *a)
{
    size_t length;
    buffer_format(out, "masked = %s, hidden keys -inf   (", quantity_name(step_formula_before_mask(a)));
    length = out->length;
    if (a->request->variant == VARIANT_MASK_AFTER_SOFTMAX)
        buffer_string(out, "not yet: masked after the softmax");
    else
        step_formula_mask(out, a);
    buffer_string(out, out->length == length ? "no mask)" : ")");
}

static void write_biased(struct buffer *out, const struct attention *a)
{
    const struct mask_request *m = &a->request->mask;
    buffer_format(out, "biased = %s%s%s", name_before(a, QUANTITY_BIASED), m->bias.data ? " + bias" : "",
                  m->alibi ? " - slope * distance" : "");
}

static void write_capped(struct buffer *out, const struct attention *a)
{
    char cap[DECIMAL_TEXT_SIZE];
    decimal_text_exact(cap, a->request->softcap, a->dtype);
    buffer_format(out, "capped = %s * tanh(scaled / %s)", cap, cap);
}

static void write_dropped(struct buffer *out, const struct attention *a)
{
    char p[DECIMAL_TEXT_SIZE];
    decimal_text_exact(p, a->request->dropout_p, DTYPE_FLOAT64);
    buffer_format(out, "dropped = weights, some 0, the others / (1 - %s)   (seed %lld)", p,
                  (long long)a->request->dropout_seed);
}

static void write_weights(struct buffer *out, const struct attention *a)
{
    buffer_string(out, a->request->variant == VARIANT_LINEAR ? "weights = scaled   (no softmax)"
                       : a->request->variant == VARIANT_MASK_AFTER_SOFTMAX
                           ? "weights = exp / row_sum, then hidden ones 0"
                           : "weights = exp / row_sum");
}

static void write_output(struct buffer *out, const struct attention *a)
{
    buffer_string(out, "output = ");
    buffer_string(out, attention_lacks(a, QUANTITY_DROPPED) ? "weights . v" : "dropped . v");
    if (a->packed && a->heads > 1)
        buffer_string(out, ", heads side by side");
    if (a->request->w_o.data)
        buffer_string(out, a->request->b_o.data ? ", times w_o + b_o" : ", times w_o");
}

static void write_row_max(struct buffer *out, const struct attention *a)
{
    buffer_format(out, "%s%s", quantity_formula(QUANTITY_ROW_MAX),
                  a->request->sinks.values ? ", the sink included" : "");
}

static void write_row_sum(struct buffer *out, const struct attention *a)
{
    buffer_format(out, "%s%s", quantity_formula(QUANTITY_ROW_SUM),
                  a->request->sinks.values ? ", plus e^(sink - row_max)" : "");
}

static void write_contributions(struct buffer *out, const struct attention *a)
{
    buffer_string(out, attention_lacks(a, QUANTITY_DROPPED) ? quantity_formula(QUANTITY_CONTRIBUTIONS)
                                                            : "contributions = dropped weight * v");
}

/* Formulas that have numbers of the request in them, or depend on its options. */
static void (*const writers[QUANTITY_COUNT])(struct buffer *out, const struct attention *a) = {
    [QUANTITY_SCALED] = write_scaled,   [QUANTITY_CAPPED] = write_capped,
    [QUANTITY_BIASED] = write_biased,   [QUANTITY_MASKED] = write_masked,
    [QUANTITY_ROW_MAX] = write_row_max, [QUANTITY_ROW_SUM] = write_row_sum,
    [QUANTITY_WEIGHTS] = write_weights, [QUANTITY_DROPPED] = write_dropped,
    [QUANTITY_OUTPUT] = write_output,   [QUANTITY_CONTRIBUTIONS] = write_contributions,
};

void step_formula_write(struct buffer *out, const struct attention *a, enum quantity quantity)
{
    if (writers[quantity])
        writers[quantity](out, a);
    else
        buffer_string(out, quantity_formula(quantity));
}
