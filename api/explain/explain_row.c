/* Terms of a row. */
#include "api/explain/explain_row.h"

#include "api/layout/wrapped_line.h"
#include "api/numbers/decimal_text.h"

#include <math.h>
#include <stdio.h>

#define KEYS_SHOWN 9 /* when there are at least two more */
#define INDENT (2 + EQUATION_LINE_NAME)

/* Keys as they come, those past the shown ones as one number, the sink last. */
struct row_terms {
    double at[KEYS_SHOWN + 3];
    size_t count;
    size_t rest; /* keys in one number; 0: none */
    bool sink;
};

static double join_keys(const double *values, size_t count, bool largest)
{
    double joined = values[0];
    for (size_t j = 1; j < count; j++)
        joined = largest ? fmax(joined, values[j]) : joined + values[j];
    return joined;
}

static struct row_terms gather_terms(const struct query_steps *q, enum quantity of, bool largest)
{
    const struct attention *a = q->a;
    size_t shown = a->keys > KEYS_SHOWN + 1 ? KEYS_SHOWN : a->keys;
    struct row_terms t = {.rest = a->keys - shown, .sink = a->request->sinks.values != NULL};
    while (t.count < shown) {
        t.at[t.count] = q->of[of][t.count];
        t.count++;
    }
    if (t.rest > 0)
        t.at[t.count++] = join_keys(q->of[of] + shown, t.rest, largest);
    if (t.sink) {
        double sink = a->request->sinks.values[q->h];
        t.at[t.count++] = largest ? sink : exp(sink - q->of[QUANTITY_ROW_MAX][0]);
    }
    return t;
}

static void put_terms(const struct line_pen *pen, const struct row_terms *t, const char *between)
{
    struct wrapped_line line = {pen->out, INDENT + 2, INDENT};
    for (size_t x = 0; x < t->count; x++) {
        char text[DECIMAL_TEXT_SIZE];
        char piece[DECIMAL_TEXT_SIZE + 8];
        snprintf(piece, sizeof piece, "%s%s", x == 0 ? "" : between, decimal_text_print(text, t->at[x], pen->decimals));
        wrapped_line_put(&line, piece);
    }
}

static void tell_terms(const struct line_pen *pen, const struct row_terms *t)
{
    if (t->rest > 0)
        buffer_format(pen->out, "   (%zu more keys in one%s)", t->rest, t->sink ? ", the sink last" : "");
    else if (t->sink)
        buffer_string(pen->out, "   (the sink last)");
    buffer_string(pen->out, "\n");
}

void explain_row_max(const struct line_pen *pen, const struct query_steps *q)
{
    struct row_terms t = gather_terms(q, QUANTITY_MASKED, true);
    equation_line_begin(pen, "row_max");
    buffer_string(pen->out, "max(");
    put_terms(pen, &t, ", ");
    equation_line_number(pen, ") = ", q->of[QUANTITY_ROW_MAX][0]);
    tell_terms(pen, &t);
}

void explain_row_sum(const struct line_pen *pen, const struct query_steps *q)
{
    double sum = q->of[QUANTITY_ROW_SUM][0];
    struct row_terms t = gather_terms(q, QUANTITY_EXP, false);
    struct equation_places places = equation_sum(t.at, t.count, sum, pen->decimals);
    struct line_pen own = equation_line_pen(pen, places);
    equation_line_begin(&own, "row_sum");
    if (t.count > 1)
        put_terms(&own, &t, " + ");
    equation_line_number(&own, t.count > 1 ? equation_sign(places) : "", sum);
    tell_terms(&own, &t);
}
