/* q . k, scale, mask, softmax, value: a line each. */
#include "api/text/explain_text.h"

#include "api/numbers/decimal_text.h"
#include "api/text/query_arithmetic.h"
#include "api/text/token_label.h"

#include <math.h>
#include <stdlib.h>

#define DECIMALS 3
#define VECTOR_SHOWN 8
#define NAME_COLUMNS 14 /* "contribution" and two spaces */

struct pen {
    struct buffer *out;
    const struct explain_text *lines;
    const struct query_steps *q;
    int decimals;
};

/* The start of a line: the name, padded. */
static void begin(const struct pen *p, const char *name)
{
    buffer_format(p->out, "  %-*s= ", NAME_COLUMNS, name);
}

static void put(const struct pen *p, const char *before, double value)
{
    char figure[DECIMAL_TEXT_SIZE];
    buffer_format(p->out, "%s%s", before, decimal_text_print(figure, value, p->decimals));
}

static void put_exact(const struct pen *p, const char *before, double value)
{
    char figure[DECIMAL_TEXT_SIZE];
    buffer_format(p->out, "%s%s", before, decimal_text_exact(figure, value, p->q->a->dtype));
}

static void end(const struct pen *p)
{
    buffer_string(p->out, "\n");
}

static double step(const struct pen *p, enum quantity quantity)
{
    return p->q->of[quantity][quantity_has_axis(quantity, AXIS_KEY) ? p->lines->j : 0];
}

static void tell_title(const struct pen *p)
{
    const struct attention *a = p->q->a;
    char query[TOKEN_LABEL_TEXT];
    char key[TOKEN_LABEL_TEXT];
    buffer_format(p->out, "query %zu (%s) and key %zu (%s)", p->q->i,
                  token_label_query(p->lines->options, p->q->i, query), p->lines->j,
                  token_label_key(p->lines->options, p->lines->j, key));
    if (a->has_heads)
        buffer_format(p->out, ", head %zu", p->q->h);
    if (a->has_batch)
        buffer_format(p->out, ", batch %zu", p->q->b);
    end(p);
}

static void tell_scale(const struct pen *p)
{
    const struct attention *a = p->q->a;
    begin(p, "scaled");
    put(p, "", step(p, QUANTITY_SCORES));
    put_exact(p, " * ", a->scale);
    put(p, " = ", step(p, QUANTITY_SCALED));
    if (!a->request->has_scale)
        buffer_format(p->out, "   (1 / sqrt(%zu))", a->d_k);
    end(p);
    if (attention_lacks(a, QUANTITY_CAPPED))
        return;
    begin(p, "capped");
    put_exact(p, "", a->request->softcap);
    put(p, " * tanh(", step(p, QUANTITY_SCALED));
    put_exact(p, " / ", a->request->softcap);
    put(p, ") = ", step(p, QUANTITY_CAPPED));
    end(p);
}

static void tell_bias(const struct pen *p)
{
    const struct attention *a = p->q->a;
    if (attention_lacks(a, QUANTITY_BIASED))
        return;
    begin(p, "biased");
    put(p, "", step(p, attention_lacks(a, QUANTITY_CAPPED) ? QUANTITY_SCALED : QUANTITY_CAPPED));
    double bias = step(p, QUANTITY_BIAS);
    put(p, bias < 0 && bias > -HUGE_VAL ? " - " : " + ", bias > -HUGE_VAL ? fabs(bias) : bias);
    put(p, " = ", step(p, QUANTITY_BIASED));
    end(p);
}

static void tell_mask(const struct pen *p)
{
    const struct explain_text *l = p->lines;
    begin(p, "masked");
    put(p, "", step(p, QUANTITY_MASKED));
    buffer_string(p->out, l->reason_count == 0 ? "   (visible" : "   (hidden by ");
    for (size_t x = 0; x < l->reason_count; x++)
        buffer_format(p->out, "%s%s", x == 0 ? "" : ", ", l->reasons[x]);
    if (l->reason_count > 0 && p->q->a->request->variant == VARIANT_MASK_AFTER_SOFTMAX)
        buffer_string(p->out, ", after the softmax");
    buffer_string(p->out, ")\n");
}

static void tell_softmax(const struct pen *p)
{
    const struct attention *a = p->q->a;
    bool zeroed = a->request->variant == VARIANT_MASK_AFTER_SOFTMAX && p->lines->reason_count > 0;
    begin(p, "row_max");
    put(p, "", step(p, QUANTITY_ROW_MAX));
    buffer_format(p->out, "   (of %zu %s%s)\n", a->keys, a->keys == 1 ? "key" : "keys",
                  a->request->sinks.values ? " and the sink" : "");
    begin(p, "exp");
    put(p, "e^(", step(p, QUANTITY_MASKED));
    double most = step(p, QUANTITY_ROW_MAX);
    put(p, most < 0 ? " + " : " - ", fabs(most));
    put(p, ") = ", step(p, QUANTITY_EXP));
    end(p);
    begin(p, "row_sum");
    put(p, "", step(p, QUANTITY_ROW_SUM));
    end(p);
    begin(p, "weight");
    put(p, "", step(p, QUANTITY_EXP));
    put(p, " / ", step(p, QUANTITY_ROW_SUM));
    put(p, zeroed ? ", then hidden: " : " = ", step(p, QUANTITY_WEIGHTS));
    end(p);
}

static void tell_empty(const struct pen *p)
{
    begin(p, "weight");
    put(p, "", step(p, QUANTITY_WEIGHTS));
    buffer_string(p->out, "   (this query may see no key)\n");
}

static void tell_dropout(const struct pen *p)
{
    char probability[DECIMAL_TEXT_SIZE];
    if (attention_lacks(p->q->a, QUANTITY_DROPPED))
        return;
    begin(p, "dropped");
    put(p, "", step(p, QUANTITY_DROPPED));
    decimal_text_exact(probability, p->q->a->request->dropout_p, DTYPE_FLOAT64);
    if (step(p, QUANTITY_DROPPED) > 0)
        buffer_format(p->out, "   (kept: weight / (1 - %s))\n", probability);
    else
        buffer_string(p->out, "   (dropped)\n");
}

static void put_vector(const struct pen *p, const double *values, size_t count)
{
    buffer_string(p->out, "[");
    for (size_t f = 0; f < count && f < VECTOR_SHOWN; f++)
        put(p, f == 0 ? "" : " ", values[f]);
    if (count > VECTOR_SHOWN)
        buffer_format(p->out, " ... %zu more", count - VECTOR_SHOWN);
    buffer_string(p->out, "]\n");
}

static bool tell_value(const struct pen *p)
{
    size_t e = p->q->a->d_v;
    double *terms = query_steps_contributions(p->q);
    double *value = malloc(e * sizeof *value);
    bool good = terms && value;
    for (size_t f = 0; good && f < e; f++)
        value[f] = query_steps_v(p->q, p->lines->j, f);
    if (good) {
        begin(p, "value");
        put_vector(p, value, e);
        begin(p, "contribution");
        put(p, "", step(p, query_steps_mixing(p->q->a)));
        buffer_string(p->out, " * value = ");
        put_vector(p, terms + p->lines->j * e, e);
    }
    free(terms);
    free(value);
    return good;
}

static bool is_empty_row(const struct query_steps *q)
{
    for (size_t j = 0; j < q->a->keys; j++)
        if (q->of[QUANTITY_ALLOWED][j] > 0)
            return false;
    return true;
}

static void tell_weight(const struct pen *p)
{
    if (p->q->a->request->variant == VARIANT_LINEAR) {
        begin(p, "weight");
        put(p, "", step(p, QUANTITY_WEIGHTS));
        buffer_string(p->out, "   (no softmax)\n");
        return;
    }
    tell_mask(p);
    if (is_empty_row(p->q))
        tell_empty(p);
    else
        tell_softmax(p);
    tell_dropout(p);
}

bool explain_text_write(struct buffer *out, const struct explain_text *l)
{
    const struct style *style = &l->options->style;
    struct pen pen = {out, l, l->query, style->rounded ? (int)style->decimals : DECIMALS};
    const struct query_arithmetic story = {l->options, pen.decimals};
    tell_title(&pen);
    if (!query_arithmetic_product(out, &story, l->query, l->j))
        return false;
    tell_scale(&pen);
    tell_bias(&pen);
    tell_weight(&pen);
    return tell_value(&pen);
}
