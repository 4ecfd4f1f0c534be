/* Worked examples. */
#include "api/story.h"

#include "api/caption.h"
#include "api/grid.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEYS_SHOWN 9 /* before the rest is summed up in one row */
#define PLAIN_EXP_MAX \
    20 /* scores up to this are put into e^x as they are; larger ones after the maximum is taken off */

/* --- lines that wrap --- */

struct line {
    struct text *out;
    size_t column, indent;
};

static void put_piece(struct line *line, const char *piece)
{
    size_t width = label_width(piece);
    if (line->column + width > GRID_LINE && line->column > line->indent) {
        text_string(line->out, "\n");
        grid_indent(line->out, line->indent);
        line->column = line->indent;
    }
    text_string(line->out, piece);
    line->column += width;
}

static void begin_line(struct line *line)
{
    grid_indent(line->out, line->indent);
    line->column = line->indent;
}

/* --- dot products --- */

static void put_factors(struct line *line, const struct query *q, size_t j)
{
    for (size_t t = 0; t < q->a->d_k; t++) {
        char left[FIGURE_TEXT];
        char right[FIGURE_TEXT];
        char piece[2 * FIGURE_TEXT + 8];
        snprintf(piece, sizeof piece, "%s%s*%s", t == 0 ? "= " : " + ", figure_exact(left, query_q(q, t), q->a->dtype),
                 figure_exact(right, query_k(q, j, t), q->a->dtype));
        put_piece(line, piece);
    }
}

static void put_terms(struct line *line, const double *terms, size_t count, int decimals)
{
    for (size_t t = 0; t < count; t++) {
        char figure[FIGURE_TEXT];
        char piece[FIGURE_TEXT + 8];
        figure_print(figure, t == 0 ? terms[t] : fabs(terms[t]), decimals);
        snprintf(piece, sizeof piece, "%s%s", t == 0 ? "= " : terms[t] < 0 ? " - " : " + ", figure);
        put_piece(line, piece);
    }
}

bool story_product(struct text *out, const struct story *story, const struct query *q, size_t j)
{
    char query[LABEL_TEXT];
    char key[LABEL_TEXT];
    char figure[FIGURE_TEXT];
    double *products = query_products(q, j);
    if (!products)
        return false;
    label_query(story->options, q->i, query);
    label_key(story->options, j, key);
    struct line line = {.out = out, .indent = 2 + label_width(query) + 3 + label_width(key) + 1};
    text_format(out, "  %s . %s ", query, key);
    line.column = line.indent;
    put_factors(&line, q, j);
    text_string(out, "\n");
    begin_line(&line);
    put_terms(&line, products, q->a->d_k, story->decimals);
    text_format(out, " = %s\n", figure_print(figure, q->of[QUANTITY_SCORES][j], story->decimals));
    free(products);
    return true;
}

/* --- softmax --- */

/* What the exponentials are taken of: the scores themselves while that is readable, else less their maximum. */
static double find_shift(const struct query *q, double sink)
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
    struct grid grid;
    const struct story *story;
    const struct query *q;
    double shift, total;
    bool weighs; /* a column with the weights, where they are not the shares */
};

static void put_cells(struct softmax *s, const char *label, const double *score, double e, const double *weight)
{
    struct grid *g = &s->grid;
    int decimals = s->story->decimals;
    size_t r = g->rows++;
    snprintf(g->row[r], LABEL_TEXT, "%s", label);
    if (score)
        figure_print(g->cell[r][0], *score, decimals);
    else
        g->cell[r][0][0] = '\0';
    figure_print(g->cell[r][1], e, decimals);
    figure_print(g->cell[r][2], e / s->total, decimals);
    if (s->weighs && weight)
        figure_print(g->cell[r][3], *weight, decimals);
    else
        g->cell[r][3][0] = '\0';
}

static void put_keys(struct softmax *s)
{
    const double *scores = s->q->of[QUANTITY_MASKED];
    const double *weights = s->q->of[query_mixing(s->q->a)];
    size_t keys = s->q->a->keys;
    size_t shown = keys > KEYS_SHOWN + 1 ? KEYS_SHOWN : keys;
    char label[LABEL_TEXT];
    double rest = 0;
    double rest_weight = 0;
    for (size_t j = 0; j < shown; j++)
        put_cells(s, label_key(s->story->options, j, label), &scores[j], power(scores[j], s->shift), &weights[j]);
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
    struct grid *g = &s->grid;
    g->columns = g->all_columns = s->weighs ? 4 : 3;
    snprintf(g->column[0], LABEL_TEXT, "%s", quantity_name(QUANTITY_MASKED));
    snprintf(g->column[1], LABEL_TEXT, s->shift == 0 ? "e^masked" : "e^shifted");
    snprintf(g->column[2], LABEL_TEXT, "share");
    snprintf(g->column[3], LABEL_TEXT, "%s", quantity_name(query_mixing(s->q->a)));
}

static bool has_visible(const struct query *q)
{
    for (size_t j = 0; j < q->a->keys; j++)
        if (q->of[QUANTITY_ALLOWED][j] > 0)
            return true;
    return false;
}

static void run_softmax(struct softmax *s, double sink)
{
    const struct query *q = s->q;
    double sum = 0;
    for (size_t j = 0; j < q->a->keys; j++) {
        s->total += power(q->of[QUANTITY_MASKED][j], s->shift);
        sum += q->of[query_mixing(q->a)][j];
    }
    s->total += power(sink, s->shift);
    put_keys(s);
    if (sink > -HUGE_VAL)
        put_cells(s, "sink", &sink, power(sink, s->shift), NULL);
    put_cells(s, "total", NULL, s->total, &sum);
    s->grid.all_rows = s->grid.rows;
}

void story_softmax(struct text *out, const struct story *story, const struct query *q)
{
    const struct attention_request *r = q->a->request;
    double sink = r->sinks.values ? r->sinks.values[q->h] : -HUGE_VAL;
    char label[LABEL_TEXT];
    struct softmax s = {.story = story, .q = q, .shift = find_shift(q, sink), .grid.indent = 4};
    s.weighs = r->has_dropout || r->variant == VARIANT_MASK_AFTER_SOFTMAX;
    text_format(out, "  %s:\n", label_query(story->options, q->i, label));
    if (!has_visible(q)) {
        text_string(out, "    no key is visible: weights 0, output 0\n");
        return;
    }
    set_headings(&s);
    run_softmax(&s, sink);
    grid_print(out, &s.grid);
}

/* --- mix --- */

static void put_term(struct grid *g, const char *label, const double *values, size_t count, int decimals)
{
    size_t r = g->rows++;
    snprintf(g->row[r], LABEL_TEXT, "%s", label);
    for (size_t f = 0; f < count && f < GRID_COLUMNS; f++)
        figure_print(g->cell[r][f], values[f], decimals);
}

static void put_contributions(struct grid *g, const struct story *story, const struct query *q, double *terms)
{
    const double *weights = q->of[query_mixing(q->a)];
    size_t keys = q->a->keys;
    size_t e = q->a->d_v;
    size_t shown = keys > KEYS_SHOWN + 1 ? KEYS_SHOWN : keys;
    char key[LABEL_TEXT];
    char weight[FIGURE_TEXT];
    char label[LABEL_TEXT + FIGURE_TEXT];
    for (size_t j = 0; j < shown; j++) {
        snprintf(label, sizeof label, "%s * %s", figure_print(weight, weights[j], story->decimals),
                 label_key(story->options, j, key));
        put_term(g, label, terms + j * e, e, story->decimals);
    }
    for (size_t j = shown + 1; j < keys; j++)
        for (size_t f = 0; f < e; f++)
            terms[shown * e + f] += terms[j * e + f];
    snprintf(label, sizeof label, "%zu more", keys - shown);
    if (shown < keys)
        put_term(g, label, terms + shown * e, e, story->decimals);
}

static void name_features(struct grid *g, size_t count)
{
    g->columns = count < GRID_COLUMNS ? count : GRID_COLUMNS;
    g->all_columns = count;
    g->column_noun = "features";
}

bool story_mix(struct text *out, const struct story *story, const struct query *q, const void *output)
{
    struct grid g = {.indent = 4};
    char label[LABEL_TEXT];
    double *terms = query_contributions(q);
    double *sum = malloc(q->a->d_v * sizeof *sum);
    bool good = terms && sum;
    name_features(&g, q->a->d_v);
    for (size_t f = 0; good && f < q->a->d_v; f++)
        sum[f] = figure_at(q->a->dtype, output, f);
    if (good) {
        text_format(out, "  %s:\n", label_query(story->options, q->i, label));
        put_contributions(&g, story, q, terms);
        put_term(&g, "sum", sum, q->a->d_v, story->decimals);
        g.all_rows = g.rows;
        grid_print(out, &g);
    }
    free(terms);
    free(sum);
    return good;
}
