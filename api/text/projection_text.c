/* Rows times columns. */
#include "api/text/projection_text.h"

#include "api/layout/equation.h"
#include "api/layout/token_label.h"
#include "api/layout/wrapped_line.h"
#include "api/numbers/decimal_text.h"

#include <stdio.h>
#include <stdlib.h>

#define CELLS_WRITTEN 64 /* of a product, at most */
#define WIDTH_WRITTEN 16 /* numbers that one of its cells is the sum of */

/* One number: row . column + bias. The row is rounded unless it was given; column and bias were. */
struct product {
    double row[WIDTH_WRITTEN], column[WIDTH_WRITTEN];
    size_t width;
    bool given;
    const double *bias; /* NULL: none */
};

static double as_shown(const struct product *cell, size_t t, int decimals)
{
    char text[DECIMAL_TEXT_SIZE];
    return cell->given ? cell->row[t] : strtod(decimal_text_print(text, cell->row[t], decimals), NULL);
}

static double add_up(const struct product *cell, int decimals)
{
    double sum = cell->bias ? *cell->bias : 0;
    for (size_t t = 0; t < cell->width; t++)
        sum += as_shown(cell, t, decimals) * cell->column[t];
    return sum;
}

static double result_of(const struct product *cell)
{
    double sum = cell->bias ? *cell->bias : 0;
    for (size_t t = 0; t < cell->width; t++)
        sum += cell->row[t] * cell->column[t];
    return sum;
}

static struct equation_places places_of(const struct product *cell, int least)
{
    for (int decimals = least; decimals <= EQUATION_PLACES_MAX; decimals++)
        if (equation_is_true(add_up(cell, decimals), result_of(cell), decimals))
            return (struct equation_places){decimals, false};
    return (struct equation_places){least, !equation_is_true(add_up(cell, least), result_of(cell), least)};
}

static void write_cell(const struct section_table *p, const char *label, const struct product *cell)
{
    enum dtype dtype = p->a->dtype;
    struct equation_places places = places_of(cell, p->arithmetic.decimals);
    struct wrapped_line line = {.out = p->out, .indent = 4 + token_label_width(label)};
    char left[DECIMAL_TEXT_SIZE];
    char right[DECIMAL_TEXT_SIZE];
    char piece[2 * DECIMAL_TEXT_SIZE + 8];
    buffer_format(p->out, "  %s", label);
    line.column = 2 + token_label_width(label);
    for (size_t t = 0; t < cell->width; t++) {
        snprintf(piece, sizeof piece, "%s%s*%s", t == 0 ? " = " : " + ",
                 cell->given ? decimal_text_exact(left, cell->row[t], dtype)
                             : decimal_text_print(left, cell->row[t], places.decimals),
                 decimal_text_exact(right, cell->column[t], dtype));
        wrapped_line_put(&line, piece);
    }
    if (cell->bias) {
        snprintf(piece, sizeof piece, " + %s", decimal_text_exact(left, *cell->bias, dtype));
        wrapped_line_put(&line, piece);
    }
    snprintf(piece, sizeof piece, "%s%s\n", equation_sign(places),
             decimal_text_print(left, result_of(cell), places.decimals));
    wrapped_line_put(&line, piece);
}

/* --- before the scores --- */

struct projection {
    const char *name; /* "q" */
    struct tensor x, w, b;
    size_t head, width; /* columns head * width, .. of w */
    char *(*label)(const struct options *options, size_t row, char out[TOKEN_LABEL_TEXT]);
    size_t past; /* labels of rows count these */
};

static struct product input_cell(const struct section_table *p, const struct projection *j, size_t row, size_t column,
                                 double *bias)
{
    size_t inner = j->w.shape[0];
    size_t outer = j->w.shape[1];
    size_t rows = j->x.shape[j->x.rank - 2];
    struct product cell = {.width = inner, .given = true};
    column += j->head * j->width;
    for (size_t t = 0; t < inner; t++) {
        cell.row[t] = dtype_get(j->x.dtype, j->x.data, ((j->x.rank > 2 ? p->b * rows : 0) + row) * inner + t);
        cell.column[t] = dtype_get(j->w.dtype, j->w.data, t * outer + column);
    }
    if (j->b.data) {
        *bias = dtype_get(j->b.dtype, j->b.data, column);
        cell.bias = bias;
    }
    return cell;
}

static void write_projection(const struct section_table *p, const struct projection *j)
{
    size_t rows = j->x.shape[j->x.rank - 2];
    const char *from = j->x.data == p->a->request->context.data ? "context" : "x";
    buffer_format(p->out, "%s = %s . w_%s%s%s\n", j->name, from, j->name, j->b.data ? " + b_" : "",
                  j->b.data ? j->name : "");
    if (rows * j->width > CELLS_WRITTEN || j->w.shape[0] > WIDTH_WRITTEN) {
        buffer_format(p->out, "  %zu products are not written out.\n\n", rows * j->width);
        return;
    }
    for (size_t i = 0; i < rows; i++)
        for (size_t c = 0; c < j->width; c++) {
            double bias;
            char token[TOKEN_LABEL_TEXT];
            char label[2 * TOKEN_LABEL_TEXT];
            struct product cell = input_cell(p, j, i, c, &bias);
            snprintf(label, sizeof label, "%s of %s, feature %zu", j->name, j->label(p->options, j->past + i, token),
                     c);
            write_cell(p, label, &cell);
        }
    buffer_string(p->out, "\n");
}

void projection_text_inputs(const struct section_table *p)
{
    const struct attention *a = p->a;
    const struct attention_request *r = a->request;
    if (!r->x.data || !r->w_q.data)
        return;
    struct tensor context = r->context.data ? r->context : r->x;
    size_t g = p->h / (a->heads / a->kv_heads);
    const struct projection all[] = {
        {"q", r->x, r->w_q, r->b_q, p->h, a->d_k, token_label_query, 0},
        {"k", context, r->w_k, r->b_k, g, a->d_k, token_label_key, a->past},
        {"v", context, r->w_v, r->b_v, g, a->d_v, token_label_value, a->past},
    };
    for (size_t x = 0; x < sizeof all / sizeof *all; x++)
        write_projection(p, &all[x]);
}

/* --- after the mix --- */

static struct product output_cell(const struct section_table *p, size_t i, size_t column, double *bias)
{
    const struct attention *a = p->a;
    struct tensor w = a->request->w_o;
    struct product cell = {.width = w.shape[0]};
    for (size_t t = 0; t < cell.width; t++) {
        cell.row[t] =
            dtype_get(a->dtype, p->reply->results.of[QUANTITY_OUTPUT], (p->b * a->queries + i) * cell.width + t);
        cell.column[t] = dtype_get(w.dtype, w.data, t * w.shape[1] + column);
    }
    if (a->request->b_o.data) {
        *bias = dtype_get(a->request->b_o.dtype, a->request->b_o.data, column);
        cell.bias = bias;
    }
    return cell;
}

void projection_text_output(const struct section_table *p)
{
    const struct attention *a = p->a;
    struct tensor w = a->request->w_o;
    if (!w.data || a->queries * w.shape[1] > CELLS_WRITTEN || w.shape[0] > WIDTH_WRITTEN)
        return;
    buffer_string(p->out, "output, from the sums of the heads side by side\n");
    for (size_t i = 0; i < a->queries; i++)
        for (size_t c = 0; c < w.shape[1]; c++) {
            double bias;
            char token[TOKEN_LABEL_TEXT];
            char label[2 * TOKEN_LABEL_TEXT];
            struct product cell = output_cell(p, i, c, &bias);
            snprintf(label, sizeof label, "%s, feature %zu", token_label_query(p->options, i, token), c);
            write_cell(p, label, &cell);
        }
    buffer_string(p->out, "\n");
}
