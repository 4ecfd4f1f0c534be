/* Widths, padding, what is left out. */
#include "api/layout/text_table.h"

#include <math.h>
#include <string.h>

#define GAP 2

void text_table_indent(struct buffer *out, size_t columns)
{
    while (columns-- > 0)
        buffer_append(out, " ", 1);
}

static size_t column_width(const struct text_table *g, size_t c)
{
    size_t width = token_label_width(g->column[c]);
    for (size_t r = 0; r < g->rows; r++)
        if (token_label_width(g->cell[r][c]) > width)
            width = token_label_width(g->cell[r][c]);
    return width;
}

static size_t label_column(const struct text_table *g)
{
    size_t width = 0;
    for (size_t r = 0; r < g->rows; r++)
        if (token_label_width(g->row[r]) > width)
            width = token_label_width(g->row[r]);
    return width;
}

static size_t count_fitting(const struct text_table *g)
{
    size_t used = g->indent + label_column(g);
    size_t c = 0;
    while (c < g->columns && used + GAP + column_width(g, c) <= TEXT_TABLE_LINE)
        used += GAP + column_width(g, c++);
    return c > 0 ? c : 1;
}

static void print_right(struct buffer *out, const char *text, size_t width)
{
    size_t own = token_label_width(text);
    text_table_indent(out, GAP + (width > own ? width - own : 0));
    buffer_string(out, text);
}

/* --- colours --- */

/* The number that has the full colour: the largest shown, and no share less than 1. */
static double find_most(const struct text_table *g)
{
    double most = g->ramp == RAMP_SHARE ? 1 : 0;
    for (size_t r = 0; r < g->rows; r++)
        for (size_t c = 0; c < g->columns; c++)
            most = isfinite(g->value[r][c]) ? fmax(most, fabs(g->value[r][c])) : most;
    return most;
}

static enum ramp choose_ramp(const struct text_table *g)
{
    for (size_t r = 0; r < g->rows; r++)
        for (size_t c = 0; c < g->columns; c++)
            if (g->value[r][c] < 0)
                return RAMP_AROUND;
    return g->ramp;
}

/* The padding has the colour too, the gap before it has none: the widths are those of the text. */
static void print_shaded(struct buffer *out, const struct text_table *g, size_t r, size_t c, size_t width)
{
    enum ramp ramp = choose_ramp(g);
    struct ramp_colour colour = ramp_colour(ramp, ramp_place(ramp, g->value[r][c], find_most(g)));
    text_table_indent(out, GAP);
    buffer_format(out, "\x1b[48;5;%u;38;5;%dm", ramp_terminal(colour), ramp_wants_white(colour) ? 231 : 16);
    text_table_indent(out, width - token_label_width(g->cell[r][c]));
    buffer_string(out, g->cell[r][c]);
    buffer_string(out, "\x1b[0m");
}

static void print_cell(struct buffer *out, const struct text_table *g, size_t r, size_t c)
{
    size_t width = column_width(g, c);
    if (g->shaded && isfinite(g->value[r][c]))
        print_shaded(out, g, r, c, width);
    else
        print_right(out, g->cell[r][c], width);
}

/* Without the empty ones at the end. */
static size_t count_cells(const struct text_table *g, size_t r, size_t columns)
{
    while (columns > 0 && !g->cell[r][columns - 1][0])
        columns--;
    return columns;
}

static bool has_heading(const struct text_table *g)
{
    for (size_t c = 0; c < g->columns; c++)
        if (g->column[c][0])
            return true;
    return false;
}

static void print_heading(struct buffer *out, const struct text_table *g, size_t columns)
{
    text_table_indent(out, g->indent + label_column(g));
    for (size_t c = 0; c < columns; c++)
        print_right(out, g->column[c], column_width(g, c));
    buffer_string(out, "\n");
}

void text_table_rest(struct buffer *out, size_t indent, size_t shown, size_t all, const char *noun)
{
    if (shown == all)
        return;
    text_table_indent(out, indent);
    buffer_format(out, "... %zu more %s (%zu of %zu shown)\n", all - shown, noun, shown, all);
}

void text_table_print(struct buffer *out, const struct text_table *g)
{
    size_t columns = count_fitting(g);
    size_t labels = label_column(g);
    if (has_heading(g))
        print_heading(out, g, columns);
    for (size_t r = 0; r < g->rows; r++) {
        text_table_indent(out, g->indent);
        buffer_string(out, g->row[r]);
        text_table_indent(out, labels - token_label_width(g->row[r]));
        for (size_t c = 0; c < count_cells(g, r, columns); c++)
            print_cell(out, g, r, c);
        buffer_string(out, "\n");
    }
    text_table_rest(out, g->indent, columns, g->all_columns, g->column_noun);
    text_table_rest(out, g->indent, g->rows, g->all_rows, g->row_noun);
}
