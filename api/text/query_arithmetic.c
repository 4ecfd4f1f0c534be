/* Worked examples. */
#include "api/text/query_arithmetic.h"

#include "api/text/step_formula.h"
#include "api/text/text_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEYS_SHOWN 9 /* before the rest is summed up in one row */
#define PLAIN_EXP_MAX \
    20 /* scores up to this are put into e^x as they are; larger ones after the maximum is taken off */

/* --- lines that wrap --- */

struct log_line {
    struct buffer *out;
    size_t column, indent;
};

static void put_piece(struct log_line *line, const char *piece)
{
    size_t width = token_label_width(piece);
    if (line->column + width > TEXT_TABLE_LINE && line->column > line->indent) {
        buffer_string(line->out, "\n");
        text_table_indent(line->out, line->indent);
        line->column = line->indent;
    }
    buffer_string(line->out, piece);
    line->column += width;
}

static void begin_line(struct log_line *line)
{
    text_table_indent(line->out, line->indent);
    line->column = line->indent;
}

/* --- dot products --- */

static void put_factors(struct log_line *line, const struct query_steps *q, size_t j)
{
    for (size_t t = 0; t < q->a->d_k; t++) {
        char left[DECIMAL_TEXT_SIZE];
        char right[DECIMAL_TEXT_SIZE];
        char piece[2 * DECIMAL_TEXT_SIZE + 8];
        snprintf(piece, sizeof piece, "%s%s*%s", t == 0 ? "= " : " + ",
                 decimal_text_exact(left, query_steps_q(q, t), q->a->dtype),
                 decimal_text_exact(right, query_steps_k(q, j, t), q->a->dtype));
        put_piece(line, piece);
    }
}

static void put_terms(struct log_line *line, const double *terms, size_t count, int decimals)
{
    for (size_t t = 0; t < count; t++) {
        char figure[DECIMAL_TEXT_SIZE];
        char piece[DECIMAL_TEXT_SIZE + 8];
        decimal_text_print(figure, t == 0 ? terms[t] : fabs(terms[t]), decimals);
        snprintf(piece, sizeof piece, "%s%s", t == 0 ? "= " : terms[t] < 0 ? " - " : " + ", figure);
        put_piece(line, piece);
    }
}

bool query_arithmetic_product(struct buffer *out, const struct query_arithmetic *story, const struct query_steps *q,
                              size_t j)
{
    char query[TOKEN_LABEL_TEXT];
    char key[TOKEN_LABEL_TEXT];
    char figure[DECIMAL_TEXT_SIZE];
    double *products = query_steps_products(q, j);
    if (!products)
        return false;
    token_label_query(story->options, q->i, query);
    token_label_key(story->options, j, key);
    struct log_line line = {.out = out, .indent = 2 + token_label_width(query) + 3 + token_label_width(key) + 1};
    buffer_format(out, "  %s . %s ", query, key);
    line.column = line.indent;
    put_factors(&line, q, j);
    buffer_string(out, "\n");
    begin_line(&line);
    put_terms(&line, products, q->a->d_k, story->decimals);
    buffer_format(out, " = %s\n", decimal_text_print(figure, q->of[QUANTITY_SCORES][j], story->decimals));
    free(products);
    return true;
}

/* --- softmax --- */

/* What the exponentials are taken of: the scores themselves while that is readable, else less their maximum. */
static double find_shift(const struct query_steps *q, double sink)
{
    double most = sink;
    double least = sink > -HUGE_VAL ? sink : HUGE_VAL;
    const double *scores = q->of[QUANTITY_MASKED];
    for (size_t j = 0; j < q->a->keys; j++) {
        most = fmax(most, scores[j]);
        least = scores[j] > -HUGE_VAL ? fmin(least, scores[j]) : least;
    }
    return most > PLAIN_EXP_MAX || least < -PLAIN_EXP_MAX ? most : 0;
}

static double power(double score, double shift)
{
    return score > -HUGE_VAL ? exp(score - shift) : 0;
}

struct softmax {
    struct text_table grid;
    const struct query_arithmetic *story;
    const struct query_steps *q;
    double shift, total;
    bool weighs; /* a column with the weights, where they are not the shares */
};

static void put_cells(struct softmax *s, const char *label, const double *score, double e, const double *weight)
{
    struct text_table *g = &s->grid;
    int decimals = s->story->decimals;
    size_t r = g->rows++;
    snprintf(g->row[r], TOKEN_LABEL_TEXT, "%s", label);
    if (score)
        decimal_text_print(g->cell[r][0], *score, decimals);
    else
        g->cell[r][0][0] = '\0';
    decimal_text_print(g->cell[r][1], e, decimals);
    decimal_text_print(g->cell[r][2], e / s->total, decimals);
    if (s->weighs && weight)
        decimal_text_print(g->cell[r][3], *weight, decimals);
    else
        g->cell[r][3][0] = '\0';
}

static void put_keys(struct softmax *s)
{
    const double *scores = s->q->of[QUANTITY_MASKED];
    const double *weights = s->q->of[query_steps_mixing(s->q->a)];
    size_t keys = s->q->a->keys;
    size_t shown = keys > KEYS_SHOWN + 1 ? KEYS_SHOWN : keys;
    char label[TOKEN_LABEL_TEXT];
    double rest = 0;
    double rest_weight = 0;
    for (size_t j = 0; j < shown; j++)
        put_cells(s, token_label_key(s->story->options, j, label), &scores[j], power(scores[j], s->shift), &weights[j]);
    for (size_t j = shown; j < keys; j++) {
        rest += power(scores[j], s->shift);
        rest_weight += weights[j];
    }
    snprintf(label, sizeof label, "%zu more", keys - shown);
    if (shown < keys)
        put_cells(s, label, NULL, rest, &rest_weight);
}

static void set_headings(struct softmax *s)
{
    struct text_table *g = &s->grid;
    g->columns = g->all_columns = s->weighs ? 4 : 3;
    snprintf(g->column[0], TOKEN_LABEL_TEXT, "%s", quantity_name(QUANTITY_MASKED));
    snprintf(g->column[1], TOKEN_LABEL_TEXT, s->shift == 0 ? "e^masked" : "e^shifted");
    snprintf(g->column[2], TOKEN_LABEL_TEXT, "share");
    snprintf(g->column[3], TOKEN_LABEL_TEXT, "%s", quantity_name(query_steps_mixing(s->q->a)));
}

static bool has_visible(const struct query_steps *q)
{
    for (size_t j = 0; j < q->a->keys; j++)
        if (q->of[QUANTITY_ALLOWED][j] > 0)
            return true;
    return false;
}

static void run_softmax(struct softmax *s, double sink)
{
    const struct query_steps *q = s->q;
    double sum = 0;
    for (size_t j = 0; j < q->a->keys; j++) {
        s->total += power(q->of[QUANTITY_MASKED][j], s->shift);
        sum += q->of[query_steps_mixing(q->a)][j];
    }
    s->total += power(sink, s->shift);
    put_keys(s);
    if (sink > -HUGE_VAL)
        put_cells(s, "sink", &sink, power(sink, s->shift), NULL);
    put_cells(s, "total", NULL, s->total, &sum);
    s->grid.all_rows = s->grid.rows;
}

void query_arithmetic_softmax(struct buffer *out, const struct query_arithmetic *story, const struct query_steps *q)
{
    const struct attention_request *r = q->a->request;
    double sink = r->sinks.values ? r->sinks.values[q->h] : -HUGE_VAL;
    char label[TOKEN_LABEL_TEXT];
    struct softmax s = {.story = story, .q = q, .shift = find_shift(q, sink), .grid.indent = 4};
    s.weighs = r->has_dropout || r->variant == VARIANT_MASK_AFTER_SOFTMAX;
    buffer_format(out, "  %s:\n", token_label_query(story->options, q->i, label));
    if (!has_visible(q)) {
        buffer_string(out, "    no key is visible: weights 0, output 0\n");
        return;
    }
    set_headings(&s);
    run_softmax(&s, sink);
    text_table_print(out, &s.grid);
}

/* --- mix --- */

static void put_term(struct text_table *g, const char *label, const double *values, size_t count, int decimals)
{
    size_t r = g->rows++;
    snprintf(g->row[r], TOKEN_LABEL_TEXT, "%s", label);
    for (size_t f = 0; f < count && f < TEXT_TABLE_COLUMNS; f++)
        decimal_text_print(g->cell[r][f], values[f], decimals);
}

static void put_contributions(struct text_table *g, const struct query_arithmetic *story, const struct query_steps *q,
                              double *terms)
{
    const double *weights = q->of[query_steps_mixing(q->a)];
    size_t keys = q->a->keys;
    size_t e = q->a->d_v;
    size_t shown = keys > KEYS_SHOWN + 1 ? KEYS_SHOWN : keys;
    char key[TOKEN_LABEL_TEXT];
    char weight[DECIMAL_TEXT_SIZE];
    char label[TOKEN_LABEL_TEXT + DECIMAL_TEXT_SIZE];
    for (size_t j = 0; j < shown; j++) {
        snprintf(label, sizeof label, "%s * %s", decimal_text_print(weight, weights[j], story->decimals),
                 token_label_key(story->options, j, key));
        put_term(g, label, terms + j * e, e, story->decimals);
    }
    for (size_t j = shown + 1; j < keys; j++)
        for (size_t f = 0; f < e; f++)
            terms[shown * e + f] += terms[j * e + f];
    snprintf(label, sizeof label, "%zu more", keys - shown);
    if (shown < keys)
        put_term(g, label, terms + shown * e, e, story->decimals);
}

static void name_features(struct text_table *g, size_t count)
{
    g->columns = count < TEXT_TABLE_COLUMNS ? count : TEXT_TABLE_COLUMNS;
    g->all_columns = count;
    g->column_noun = "features";
}

bool query_arithmetic_mix(struct buffer *out, const struct query_arithmetic *story, const struct query_steps *q,
                          const void *output)
{
    struct text_table g = {.indent = 4};
    char label[TOKEN_LABEL_TEXT];
    double *terms = query_steps_contributions(q);
    double *sum = malloc(q->a->d_v * sizeof *sum);
    bool good = terms && sum;
    name_features(&g, q->a->d_v);
    for (size_t f = 0; good && f < q->a->d_v; f++)
        sum[f] = decimal_text_at(q->a->dtype, output, f);
    if (good) {
        buffer_format(out, "  %s:\n", token_label_query(story->options, q->i, label));
        put_contributions(&g, story, q, terms);
        put_term(&g, "sum", sum, q->a->d_v, story->decimals);
        g.all_rows = g.rows;
        text_table_print(out, &g);
    }
    free(terms);
    free(sum);
    return good;
}
