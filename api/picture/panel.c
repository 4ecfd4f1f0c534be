/* Title, labels, cells, legend. */
#include "api/picture/panel.h"

#include "api/picture/svg.h"

#include <math.h>

#define INK "#1d1c1a"
#define GREY "#6f6b64"
#define NAME_LINE 15
#define FORMULA_LINE 34
#define CELLS_TOP 46 /* below it the labels of columns */
#define LEGEND_STOPS 9
#define LEGEND_WIDTH 84

static const char *const ramp_names[RAMPS] = {[RAMP_SHARE] = "share", [RAMP_AROUND] = "around"};

/* --- definitions --- */

static void put_colour(struct buffer *out, struct ramp_colour c)
{
    buffer_format(out, "#%02x%02x%02x", c.red, c.green, c.blue);
}

static void define_ramp(struct buffer *out, enum ramp ramp)
{
    buffer_format(out, "<linearGradient id=\"%s\">", ramp_names[ramp]);
    for (size_t x = 0; x <= LEGEND_STOPS; x++) {
        buffer_format(out, "<stop offset=\"%.4f\" stop-color=\"", (double)x / LEGEND_STOPS);
        put_colour(out, ramp_colour(ramp, (double)x / LEGEND_STOPS));
        buffer_string(out, "\"/>");
    }
    buffer_string(out, "</linearGradient>\n");
}

void panel_define(struct buffer *out)
{
    buffer_string(out, "<defs>\n"
                       "<pattern id=\"hidden\" width=\"7\" height=\"7\" patternUnits=\"userSpaceOnUse\" "
                       "patternTransform=\"rotate(45)\"><rect width=\"7\" height=\"7\" fill=\"#fff\"/>"
                       "<rect width=\"1.5\" height=\"7\" fill=\"#d9d4ca\"/></pattern>\n");
    for (size_t x = 0; x < RAMPS; x++)
        define_ramp(out, (enum ramp)x);
    buffer_string(out, "</defs>\n");
}

/* --- title --- */

/* "batch 0, head 1": where the matrix stands among those of its section. */
static void put_place(struct buffer *out, const struct grid *g, size_t panel)
{
    const struct section *s = g->section;
    size_t outer = s->t.rank - (g->column || s->t.rank < 2 ? 1 : 2);
    size_t later = g->panels;
    for (size_t axis = 0; axis < outer; axis++) {
        later /= s->t.shape[axis];
        buffer_format(out, "%s%s %zu", axis > 0 ? ", " : "", axis_name(s->axes[axis]),
                      panel / later % s->t.shape[axis]);
    }
}

static void draw_title(struct buffer *out, const struct grid *g, size_t panel)
{
    buffer_format(out, "<text y=\"%d\" font-size=\"15\" font-weight=\"650\" fill=\"" INK "\">", NAME_LINE);
    svg_text(out, g->name);
    if (g->panels > 1) {
        buffer_string(out, "<tspan dx=\"8\" font-size=\"13\" font-weight=\"400\" fill=\"" GREY "\">");
        put_place(out, g, panel);
        buffer_string(out, "</tspan>");
    }
    buffer_format(out, "</text>\n<text y=\"%d\" font-size=\"12\" fill=\"" GREY "\">", FORMULA_LINE);
    svg_formula(out, g->formula);
    buffer_string(out, "</text>\n");
}

/* --- labels --- */

static size_t cells_top(const struct grid *g)
{
    return CELLS_TOP + g->label_height;
}

static size_t left_of(const struct grid *g, size_t column)
{
    return g->label_width + column * (g->cell_width + g->gap);
}

static size_t top_of(const struct grid *g, size_t row)
{
    return cells_top(g) + row * (g->cell_height + g->gap);
}

static void put_column_place(struct buffer *out, const struct grid *g, size_t column)
{
    size_t middle = left_of(g, column) + g->cell_width / 2;
    if (g->small)
        buffer_format(out, "<text transform=\"translate(%zu %zu) rotate(-60)\">", middle + 3, cells_top(g) - 4);
    else
        buffer_format(out, "<text x=\"%zu\" y=\"%zu\">", middle, cells_top(g) - 8);
}

static void draw_column_labels(struct buffer *out, const struct grid *g)
{
    char label[TOKEN_LABEL_TEXT];
    buffer_format(out, "<g font-size=\"%d\" fill=\"" GREY "\"%s>\n", g->small ? 10 : 13,
                  g->small ? "" : " text-anchor=\"middle\"");
    for (size_t c = 0; c < g->columns && g->across != AXIS_NONE; c++) {
        put_column_place(out, g, c);
        svg_text(out, grid_column_label(g, c, label));
        buffer_string(out, "</text>\n");
    }
    buffer_string(out, "</g>\n");
}

static void draw_row_labels(struct buffer *out, const struct grid *g)
{
    char label[TOKEN_LABEL_TEXT];
    buffer_format(out, "<g font-size=\"%d\" fill=\"" GREY "\" text-anchor=\"end\">\n", g->small ? 10 : 13);
    for (size_t r = 0; r < g->rows && g->label_width > 0; r++) {
        buffer_format(out, "<text x=\"%zu\" y=\"%zu\">", g->label_width - (g->small ? 4 : 9),
                      top_of(g, r) + g->cell_height / 2 + (g->small ? 3 : 5));
        svg_text(out, grid_row_label(g, r, label));
        buffer_string(out, "</text>\n");
    }
    buffer_string(out, "</g>\n");
}

/* --- cells --- */

static struct ramp_colour colour_of(const struct grid *g, size_t at)
{
    return ramp_colour(g->ramp, ramp_place(g->ramp, g->values[at], g->most));
}

static void draw_number(struct buffer *out, const struct grid *g, size_t at, size_t x, size_t y)
{
    char text[DECIMAL_TEXT_SIZE];
    const char *ink = g->hidden[at] ? GREY : ramp_wants_white(colour_of(g, at)) ? "#fff" : "#000";
    buffer_format(out, "<text x=\"%zu\" y=\"%zu\" fill=\"%s\">", x + g->cell_width / 2, y + g->cell_height / 2 + 5,
                  ink);
    svg_formula(out, grid_cell_text(g, at, text));
    buffer_string(out, "</text>\n");
}

static void draw_cell(struct buffer *out, const struct grid *g, size_t at, size_t x, size_t y)
{
    buffer_format(out, "<rect x=\"%zu\" y=\"%zu\" width=\"%zu\" height=\"%zu\" rx=\"%d\" fill=\"", x, y, g->cell_width,
                  g->cell_height, g->small ? 2 : 5);
    if (g->hidden[at])
        buffer_string(out, "url(#hidden)\" stroke=\"#e4e0d8");
    else
        put_colour(out, colour_of(g, at));
    buffer_string(out, "\"/>\n");
    if (!g->small)
        draw_number(out, g, at, x, y);
}

static void draw_cells(struct buffer *out, const struct grid *g, size_t panel)
{
    size_t at = panel * g->rows * g->columns;
    buffer_string(out, "<g font-size=\"13\" text-anchor=\"middle\">\n");
    for (size_t r = 0; r < g->rows; r++)
        for (size_t c = 0; c < g->columns; c++)
            draw_cell(out, g, at + r * g->columns + c, left_of(g, c), top_of(g, r));
    buffer_string(out, "</g>\n");
}

/* --- legend --- */

static void put_end(struct buffer *out, const struct grid *g, double value)
{
    char text[DECIMAL_TEXT_SIZE];
    bool whole = value == floor(value) && fabs(value) < 1000;
    svg_formula(out, decimal_text_print(text, value, whole ? 0 : g->decimals));
}

/* The number at the left end, the ramp, the number at the right end; the ramp starts where the cells do. */
static void draw_legend(struct buffer *out, const struct grid *g)
{
    size_t y = top_of(g, g->rows) + 8;
    size_t x = g->label_width;
    buffer_format(out,
                  "<rect x=\"%zu\" y=\"%zu\" width=\"%d\" height=\"4\" rx=\"2\" fill=\"url(#%s)\"/>\n"
                  "<g font-size=\"10\" fill=\"" GREY "\"><text x=\"%zu\" y=\"%zu\">",
                  x, y, LEGEND_WIDTH, ramp_names[g->ramp], x, y + 15);
    put_end(out, g, g->ramp == RAMP_SHARE ? 0 : -g->most);
    buffer_format(out, "</text><text x=\"%zu\" y=\"%zu\" text-anchor=\"end\">", x + LEGEND_WIDTH, y + 15);
    put_end(out, g, g->most);
    buffer_string(out, "</text></g>\n");
}

void panel_draw(struct buffer *out, const struct grid *g, size_t panel, size_t x, size_t y)
{
    buffer_format(out, "<g transform=\"translate(%zu %zu)\">\n", x, y);
    draw_title(out, g, panel);
    draw_column_labels(out, g);
    draw_row_labels(out, g);
    draw_cells(out, g, panel);
    if (g->most > 0)
        draw_legend(out, g);
    buffer_string(out, "</g>\n");
}
