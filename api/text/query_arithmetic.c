/* Worked examples. */
#include "api/text/query_arithmetic.h"

#include "api/layout/equation.h"
#include "api/layout/text_table.h"
#include "api/layout/wrapped_line.h"
#include "api/text/step_formula.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEYS_SHOWN 9 /* before the rest is summed up in one row */
#define PLAIN_EXP_MAX \
    20 /* scores up to this are put into e^x as they are; larger ones after the maximum is taken off */

static void begin_line(struct wrapped_line *line)
{
    text_table_indent(line->out, line->indent);
    line->column = line->indent;
}

/* --- dot products --- */

static void put_factors(struct wrapped_line *line, const struct query_steps *q, size_t j)
{
    for (size_t t = 0; t < q->a->d_k; t++) {
        char left[DECIMAL_TEXT_SIZE];
        char right[DECIMAL_TEXT_SIZE];
        char piece[2 * DECIMAL_TEXT_SIZE + 8];
        snprintf(piece, sizeof piece, "%s%s*%s", t == 0 ? "= " : " + ",
                 decimal_text_exact(left, query_steps_q(q, t), q->a->dtype),
                 decimal_text_exact(right, query_steps_k(q, j, t), q->a->dtype));
        wrapped_line_put(line, piece);
    }
}

static void put_terms(struct wrapped_line *line, const double *terms, size_t count, int decimals)
{
    for (size_t t = 0; t < count; t++) {
        char digits[DECIMAL_TEXT_SIZE];
        char piece[DECIMAL_TEXT_SIZE + 8];
        decimal_text_print(digits, t == 0 ? terms[t] : fabs(terms[t]), decimals);
        snprintf(piece, sizeof piece, "%s%s", t == 0 ? "= " : terms[t] < 0 ? " - " : " + ", digits);
        wrapped_line_put(line, piece);
    }
}

/* The sum of the products; of a single one it is the number itself. */
static void put_products(struct wrapped_line *line, const double *products, const struct query_steps *q, size_t j,
                         int decimals)
{
    char digits[DECIMAL_TEXT_SIZE];
    double score = q->of[QUANTITY_SCORES][j];
    struct equation_places places = equation_sum(products, q->a->d_k, score, decimals);
    if (q->a->d_k > 1) {
        buffer_string(line->out, "\n");
        begin_line(line);
        put_terms(line, products, q->a->d_k, places.decimals);
    }
    buffer_format(line->out, "%s%s\n", equation_sign(places), decimal_text_print(digits, score, places.decimals));
}

bool query_arithmetic_product(struct buffer *out, const struct query_arithmetic *arithmetic,
                              const struct query_steps *q, size_t j)
{
    char query[TOKEN_LABEL_TEXT];
    char key[TOKEN_LABEL_TEXT];
    double *products = query_steps_products(q, j);
    if (!products)
        return false;
    token_label_query(arithmetic->options, q->i, query);
    token_label_key(arithmetic->options, j, key);
    struct wrapped_line line = {.out = out, .indent = 2 + token_label_width(query) + 3 + token_label_width(key) + 1};
    buffer_format(out, "  %s . %s ", query, key);
    line.column = line.indent;
    put_factors(&line, q, j);
    put_products(&line, products, q, j, arithmetic->decimals);
    buffer_take_back(q->owner, products);
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

/* A table whose last row is the sum of the rows above it: numbers first, then as many decimals as make that true. */
struct sum_table {
    struct text_table grid;
    double number[TEXT_TABLE_COLUMNS][TEXT_TABLE_ROWS];
    bool empty[TEXT_TABLE_COLUMNS][TEXT_TABLE_ROWS];
};

static void put_sum(struct sum_table *t, size_t c, int least)
{
    struct text_table *g = &t->grid;
    size_t total = g->rows - 1;
    struct equation_places places = {least, false};
    if (!t->empty[c][total])
        places = equation_sum(t->number[c], total, t->number[c][total], least);
    for (size_t r = 0; r < g->rows; r++) {
        char digits[DECIMAL_TEXT_SIZE];
        decimal_text_print(digits, t->number[c][r], places.decimals);
        snprintf(g->cell[r][c], DECIMAL_TEXT_SIZE, "%s%.40s", r == total && places.about ? EQUATION_ABOUT : "",
                 t->empty[c][r] ? "" : digits);
    }
}

static void print_sum_table(struct buffer *out, struct sum_table *t, int least)
{
    for (size_t c = 0; c < t->grid.columns; c++)
        put_sum(t, c, least);
    t->grid.all_rows = t->grid.rows;
    text_table_print(out, &t->grid);
}

struct softmax {
    struct sum_table table;
    const struct query_arithmetic *arithmetic;
    const struct query_steps *q;
    double shift, total;
    bool weighs; /* a column with the weights, where they are not the shares */
};

static void put_cells(struct softmax *s, const char *label, const double *score, double e, const double *weight)
{
    struct sum_table *t = &s->table;
    const double numbers[] = {score ? *score : 0, e, e / s->total, weight ? *weight : 0};
    size_t r = t->grid.rows++;
    snprintf(t->grid.row[r], TOKEN_LABEL_TEXT, "%s", label);
    for (size_t c = 0; c < t->grid.columns; c++)
        t->number[c][r] = numbers[c];
    t->empty[0][r] = !score;
    t->empty[3][r] = !weight;
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
        put_cells(s, token_label_key(s->arithmetic->options, j, label), &scores[j], power(scores[j], s->shift),
                  &weights[j]);
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
    struct text_table *g = &s->table.grid;
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
}

void query_arithmetic_softmax(struct buffer *out, const struct query_arithmetic *arithmetic,
                              const struct query_steps *q)
{
    const struct attention_request *r = q->a->request;
    double sink = r->sinks.values ? r->sinks.values[q->h] : -HUGE_VAL;
    char label[TOKEN_LABEL_TEXT];
    struct softmax s = {.arithmetic = arithmetic, .q = q, .shift = find_shift(q, sink), .table.grid.indent = 4};
    s.weighs = r->has_dropout || r->variant == VARIANT_MASK_AFTER_SOFTMAX;
    buffer_format(out, "  %s:\n", token_label_query(arithmetic->options, q->i, label));
    if (!has_visible(q)) {
        buffer_string(out, "    no key is visible: weights 0, output 0\n");
        return;
    }
    set_headings(&s);
    run_softmax(&s, sink);
    print_sum_table(out, &s.table, arithmetic->decimals);
}

/* --- mix --- */

static void put_term(struct sum_table *t, const char *label, const double *values, size_t count)
{
    size_t r = t->grid.rows++;
    snprintf(t->grid.row[r], TOKEN_LABEL_TEXT, "%s", label);
    for (size_t f = 0; f < count && f < TEXT_TABLE_COLUMNS; f++)
        t->number[f][r] = values[f];
}

static void put_contributions(struct sum_table *t, const struct query_arithmetic *arithmetic,
                              const struct query_steps *q, double *terms)
{
    const double *weights = q->of[query_steps_mixing(q->a)];
    size_t keys = q->a->keys;
    size_t e = q->a->d_v;
    size_t shown = keys > KEYS_SHOWN + 1 ? KEYS_SHOWN : keys;
    char value[TOKEN_LABEL_TEXT];
    char weight[DECIMAL_TEXT_SIZE];
    char label[TOKEN_LABEL_TEXT + DECIMAL_TEXT_SIZE];
    for (size_t j = 0; j < shown; j++) {
        snprintf(label, sizeof label, "%s * %s", decimal_text_print(weight, weights[j], arithmetic->decimals),
                 token_label_value(arithmetic->options, j, value));
        put_term(t, label, terms + j * e, e);
    }
    for (size_t j = shown + 1; j < keys; j++)
        for (size_t f = 0; f < e; f++)
            terms[shown * e + f] += terms[j * e + f];
    snprintf(label, sizeof label, "%zu more", keys - shown);
    if (shown < keys)
        put_term(t, label, terms + shown * e, e);
}

static void name_features(struct text_table *g, size_t count)
{
    g->columns = count < TEXT_TABLE_COLUMNS ? count : TEXT_TABLE_COLUMNS;
    g->all_columns = count;
    g->column_noun = "features";
}

bool query_arithmetic_mix(struct buffer *out, const struct query_arithmetic *arithmetic, const struct query_steps *q,
                          const void *output)
{
    struct sum_table table = {.grid.indent = 4};
    char label[TOKEN_LABEL_TEXT];
    double *terms = query_steps_contributions(q, 0, q->a->keys);
    double *sum = buffer_lend(q->owner, q->a->d_v * sizeof *sum);
    bool good = terms && sum;
    name_features(&table.grid, q->a->d_v);
    for (size_t f = 0; good && f < q->a->d_v; f++)
        sum[f] = dtype_get(q->a->dtype, output, f);
    if (good) {
        buffer_format(out, "  %s:\n", token_label_query(arithmetic->options, q->i, label));
        put_contributions(&table, arithmetic, q, terms);
        put_term(&table, "sum", sum, q->a->d_v);
        print_sum_table(out, &table, arithmetic->decimals);
    }
    buffer_take_back(q->owner, terms);
    buffer_take_back(q->owner, sum);
    return good;
}
