/* q . k, scale, mask, softmax, value: a line each. */
#include "api/explain/explain_text.h"

#include "api/explain/equation_line.h"
#include "api/explain/explain_row.h"
#include "api/layout/token_label.h"
#include "api/numbers/decimal_text.h"
#include "api/text/query_arithmetic.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define DECIMALS 3
#define VECTOR_SHOWN 8

struct teller {
    const struct explain_text *cell;
    const struct query_steps *q;
    struct line_pen pen;
};

static double step(const struct teller *p, enum quantity quantity)
{
    return p->q->of[quantity][quantity_has_axis(quantity, AXIS_KEY) ? p->cell->j : 0];
}

static void end(const struct teller *p)
{
    buffer_string(p->pen.out, "\n");
}

static double multiply(double a, double b)
{
    return a * b;
}

static double divide(double a, double b)
{
    return a / b;
}

static double add(double a, double b)
{
    return a + b;
}

static double subtract(double a, double b)
{
    return a - b;
}

static double subtract_exp(double a, double b)
{
    return exp(a - b);
}

static double add_exp(double a, double b)
{
    return exp(a + b);
}

static double cap(double c, double s)
{
    return c * tanh(s / c);
}

static void tell_title(const struct teller *p)
{
    const struct attention *a = p->q->a;
    char query[TOKEN_LABEL_TEXT];
    char key[TOKEN_LABEL_TEXT];
    buffer_format(p->pen.out, "query %zu (%s) and key %zu (%s)", p->q->i,
                  token_label_query(p->cell->options, p->q->i, query), p->cell->j,
                  token_label_key(p->cell->options, p->cell->j, key));
    if (a->has_heads)
        buffer_format(p->pen.out, ", head %zu", p->q->h);
    if (a->has_batch)
        buffer_format(p->pen.out, ", batch %zu", p->q->b);
    end(p);
}

static void tell_scale(const struct teller *p)
{
    const struct attention *a = p->q->a;
    equation_line_write(&p->pen, &(struct equation_line){.name = "scaled",
                                                         .before = "",
                                                         .between = " * ",
                                                         .after = "",
                                                         .combine = multiply,
                                                         .a = {step(p, QUANTITY_SCORES), false},
                                                         .b = {a->scale, true},
                                                         .result = step(p, QUANTITY_SCALED)});
    if (!a->request->has_scale)
        buffer_format(p->pen.out, "   (1 / sqrt(%zu))", a->d_k);
    end(p);
}

/* c * tanh(s / c): the cap stands twice. */
static void tell_cap(const struct teller *p)
{
    const struct attention *a = p->q->a;
    if (attention_lacks(a, QUANTITY_CAPPED))
        return;
    char cap_text[DECIMAL_TEXT_SIZE];
    char after[DECIMAL_TEXT_SIZE + 8];
    snprintf(after, sizeof after, " / %s)", decimal_text_exact(cap_text, a->request->softcap, a->dtype));
    equation_line_write(&p->pen, &(struct equation_line){.name = "capped",
                                                         .before = "",
                                                         .between = " * tanh(",
                                                         .after = after,
                                                         .combine = cap,
                                                         .a = {a->request->softcap, true},
                                                         .b = {step(p, QUANTITY_SCALED), false},
                                                         .result = step(p, QUANTITY_CAPPED)});
    end(p);
}

static void tell_bias(const struct teller *p)
{
    const struct attention *a = p->q->a;
    if (attention_lacks(a, QUANTITY_BIASED))
        return;
    double bias = step(p, QUANTITY_BIAS);
    bool minus = bias < 0 && bias > -HUGE_VAL;
    double before = step(p, attention_lacks(a, QUANTITY_CAPPED) ? QUANTITY_SCALED : QUANTITY_CAPPED);
    equation_line_write(&p->pen, &(struct equation_line){.name = "biased",
                                                         .before = "",
                                                         .between = minus ? " - " : " + ",
                                                         .after = "",
                                                         .combine = minus ? subtract : add,
                                                         .a = {before, false},
                                                         .b = {minus ? -bias : bias, false},
                                                         .result = step(p, QUANTITY_BIASED)});
    end(p);
}

static void tell_mask(const struct teller *p)
{
    const struct explain_text *l = p->cell;
    equation_line_begin(&p->pen, "masked");
    equation_line_number(&p->pen, "", step(p, QUANTITY_MASKED));
    buffer_string(p->pen.out, l->reason_count == 0 ? "   (visible" : "   (hidden by ");
    for (size_t x = 0; x < l->reason_count; x++)
        buffer_format(p->pen.out, "%s%s", x == 0 ? "" : ", ", l->reasons[x]);
    if (l->reason_count > 0 && p->q->a->request->variant == VARIANT_MASK_AFTER_SOFTMAX)
        buffer_string(p->pen.out, ", after the softmax");
    buffer_string(p->pen.out, ")\n");
}

static void tell_exp(const struct teller *p)
{
    double most = step(p, QUANTITY_ROW_MAX);
    equation_line_write(&p->pen, &(struct equation_line){.name = "exp",
                                                         .before = "e^(",
                                                         .between = most < 0 ? " + " : " - ",
                                                         .after = ")",
                                                         .combine = most < 0 ? add_exp : subtract_exp,
                                                         .a = {step(p, QUANTITY_MASKED), false},
                                                         .b = {fabs(most), false},
                                                         .result = step(p, QUANTITY_EXP)});
    end(p);
}

static void tell_softmax(const struct teller *p)
{
    bool zeroed = p->q->a->request->variant == VARIANT_MASK_AFTER_SOFTMAX && p->cell->reason_count > 0;
    double share = step(p, QUANTITY_EXP) / step(p, QUANTITY_ROW_SUM);
    explain_row_max(&p->pen, p->q);
    tell_exp(p);
    explain_row_sum(&p->pen, p->q);
    equation_line_write(&p->pen, &(struct equation_line){.name = "weight",
                                                         .before = "",
                                                         .between = " / ",
                                                         .after = "",
                                                         .combine = divide,
                                                         .a = {step(p, QUANTITY_EXP), false},
                                                         .b = {step(p, QUANTITY_ROW_SUM), false},
                                                         .result = zeroed ? share : step(p, QUANTITY_WEIGHTS)});
    if (zeroed)
        equation_line_number(&p->pen, ", then hidden: ", step(p, QUANTITY_WEIGHTS));
    end(p);
}

static void tell_empty(const struct teller *p)
{
    equation_line_begin(&p->pen, "weight");
    equation_line_number(&p->pen, "", step(p, QUANTITY_WEIGHTS));
    buffer_string(p->pen.out, "   (this query may see no key)\n");
}

static void tell_dropout(const struct teller *p)
{
    char probability[DECIMAL_TEXT_SIZE];
    if (attention_lacks(p->q->a, QUANTITY_DROPPED))
        return;
    equation_line_begin(&p->pen, "dropped");
    equation_line_number(&p->pen, "", step(p, QUANTITY_DROPPED));
    decimal_text_exact(probability, p->q->a->request->dropout_p, DTYPE_FLOAT64);
    if (step(p, QUANTITY_DROPPED) > 0)
        buffer_format(p->pen.out, "   (kept: weight / (1 - %s))\n", probability);
    else
        buffer_string(p->pen.out, "   (dropped)\n");
}

static bool scales(const double *value, const double *term, size_t count, double weight, int decimals)
{
    char text[DECIMAL_TEXT_SIZE];
    double shown = strtod(decimal_text_print(text, weight, decimals), NULL);
    for (size_t f = 0; f < count && f < VECTOR_SHOWN; f++)
        if (!equation_is_true(shown * strtod(decimal_text_print(text, value[f], decimals), NULL), term[f], decimals))
            return false;
    return true;
}

static struct equation_places places_of_mix(const struct teller *p, const double *value, const double *term)
{
    double weight = step(p, query_steps_mixing(p->q->a));
    for (int decimals = p->pen.decimals; decimals <= EQUATION_PLACES_MAX; decimals++)
        if (scales(value, term, p->q->a->d_v, weight, decimals))
            return (struct equation_places){decimals, false};
    return (struct equation_places){p->pen.decimals, !scales(value, term, p->q->a->d_v, weight, p->pen.decimals)};
}

static void put_vector(const struct line_pen *pen, const double *values, size_t count)
{
    buffer_string(pen->out, "[");
    for (size_t f = 0; f < count && f < VECTOR_SHOWN; f++)
        equation_line_number(pen, f == 0 ? "" : " ", values[f]);
    if (count > VECTOR_SHOWN)
        buffer_format(pen->out, " ... %zu more", count - VECTOR_SHOWN);
    buffer_string(pen->out, "]\n");
}

static bool tell_value(const struct teller *p)
{
    size_t e = p->q->a->d_v;
    double *term = query_steps_contributions(p->q, p->cell->j, 1);
    double *value = buffer_lend(p->q->owner, e * sizeof *value);
    bool good = term && value;
    for (size_t f = 0; good && f < e; f++)
        value[f] = query_steps_v(p->q, p->cell->j, f);
    if (good) {
        struct equation_places places = places_of_mix(p, value, term);
        struct line_pen pen = equation_line_pen(&p->pen, places);
        equation_line_begin(&pen, "value");
        put_vector(&pen, value, e);
        equation_line_begin(&pen, "contribution");
        equation_line_number(&pen, "", step(p, query_steps_mixing(p->q->a)));
        buffer_format(pen.out, " * value%s", equation_sign(places));
        put_vector(&pen, term, e);
    }
    buffer_take_back(p->q->owner, term);
    buffer_take_back(p->q->owner, value);
    return good;
}

static bool is_empty_row(const struct query_steps *q)
{
    for (size_t j = 0; j < q->a->keys; j++)
        if (q->of[QUANTITY_ALLOWED][j] > 0)
            return false;
    return true;
}

static void tell_weight(const struct teller *p)
{
    if (p->q->a->request->variant == VARIANT_LINEAR) {
        equation_line_begin(&p->pen, "weight");
        equation_line_number(&p->pen, "", step(p, QUANTITY_WEIGHTS));
        buffer_string(p->pen.out, "   (no softmax)\n");
        return;
    }
    tell_mask(p);
    if (is_empty_row(p->q))
        tell_empty(p);
    else
        tell_softmax(p);
    tell_dropout(p);
}

/* NAME = a * b = result, told at enough decimals. */
static void tell_product(const struct teller *p, const char *name, const char *before, double a, const char *between,
                         double b, const char *after, double result)
{
    equation_line_write(&p->pen, &(struct equation_line){.name = name,
                                                         .before = before,
                                                         .between = between,
                                                         .after = after,
                                                         .combine = multiply,
                                                         .a = {a, false},
                                                         .b = {b, false},
                                                         .result = result});
    end(p);
}

/* A number as the line has it. */
static double as_shown(const struct teller *p, double value)
{
    const double unit = pow(10, p->pen.decimals);
    return round(value * unit) / unit;
}

static void tell_masked(const struct teller *p, const struct explain_gradient *g)
{
    const struct line_pen pen = p->pen;
    const double weight = as_shown(p, step(p, QUANTITY_WEIGHTS));
    const double left = weight * (as_shown(p, g->d_weight) - as_shown(p, g->row_dot));
    equation_line_begin(&pen, "d masked");
    equation_line_number(&pen, "", step(p, QUANTITY_WEIGHTS));
    equation_line_number(&pen, " * (", g->d_weight);
    equation_line_number(&pen, " - ", g->row_dot);
    bool shown = equation_is_true(left, g->d_masked, pen.decimals);
    equation_line_number(&pen, shown ? ") = " : ") " EQUATION_ABOUT " ", g->d_masked);
    end(p);
}

static void tell_gradient(const struct teller *p)
{
    const struct explain_gradient *g = p->cell->gradient;
    if (!g->there)
        return;
    equation_line_begin(&p->pen, "d weight");
    equation_line_number(&p->pen, "", g->d_weight);
    buffer_string(p->pen.out, "   (d output . value)\n");
    if (g->softmax) {
        equation_line_begin(&p->pen, "row_dot");
        equation_line_number(&p->pen, "", g->row_dot);
        buffer_string(p->pen.out, "   (d output . output)\n");
        if (p->cell->reason_count == 0)
            tell_masked(p, g);
    }
    equation_line_begin(&p->pen, "d scaled");
    equation_line_number(&p->pen, "", g->d_scaled);
    end(p);
    tell_product(p, "d score", "", p->q->a->scale, " * ", g->d_scaled, "", g->d_score);
}

bool explain_text_write(struct buffer *out, const struct explain_text *cell)
{
    const struct style *style = &cell->options->style;
    int decimals = style->rounded ? (int)style->decimals : DECIMALS;
    const struct teller teller = {cell, cell->query, {out, cell->query->a->dtype, decimals}};
    const struct query_arithmetic arithmetic = {cell->options, decimals};
    tell_title(&teller);
    if (!query_arithmetic_product(out, &arithmetic, cell->query, cell->j))
        return false;
    tell_scale(&teller);
    tell_cap(&teller);
    tell_bias(&teller);
    tell_weight(&teller);
    if (!tell_value(&teller))
        return false;
    tell_gradient(&teller);
    return true;
}
