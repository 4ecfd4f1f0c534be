/* Sections as grids. */
#include "api/text/section_table.h"

#include "api/layout/text_table.h"
#include "api/reply/section_rows.h"
#include "api/text/step_formula.h"
#include "api/writing/array.h"

#include <float.h>
#include <stdio.h>

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

void section_table_label(const struct section_table *p, enum axis axis, size_t index, char out[TOKEN_LABEL_TEXT])
{
    if (axis == AXIS_QUERY)
        token_label_query(p->options, index, out);
    else if (axis == AXIS_KEY)
        token_label_key(p->options, index, out);
    else if (axis == AXIS_NEW_KEY)
        token_label_key(p->options, p->a->past + index, out);
    else
        snprintf(out, TOKEN_LABEL_TEXT, "%zu", index);
}

const char *section_table_noun(enum axis axis)
{
    switch (axis) {
    case AXIS_QUERY:
        return "queries";
    case AXIS_KEY:
    case AXIS_NEW_KEY:
        return "keys";
    case AXIS_TILE:
        return "tiles";
    case AXIS_WORD:
        return "words";
    default:
        return "features";
    }
}

/* Features have no heading: their order is heading enough. */
static bool has_heading(enum axis axis)
{
    return axis == AXIS_KEY || axis == AXIS_NEW_KEY || axis == AXIS_TILE;
}

static void name_columns(const struct section_table *p, const struct section *s, struct text_table *g)
{
    enum axis axis = s->axes[s->t.rank - 1];
    g->all_columns = s->t.shape[s->t.rank - 1];
    g->columns = least(g->all_columns, TEXT_TABLE_COLUMNS);
    g->column_noun = section_table_noun(axis);
    for (size_t c = 0; has_heading(axis) && c < g->columns; c++)
        section_table_label(p, axis, c, g->column[c]);
}

static void put_number(const struct section_table *p, const struct section *s, const void *values, size_t at,
                       struct text_table *g, size_t c)
{
    char *cell = g->cell[g->rows][c];
    double value = dtype_get(s->t.dtype, values, at);
    g->value[g->rows][c] = value;
    if (s->t.dtype == DTYPE_BOOL)
        snprintf(cell, DECIMAL_TEXT_SIZE, "%s", value > 0 ? "1" : ".");
    else
        decimal_text_print(cell, value, s->result->quantity == QUANTITY_ARGMAX_KEY ? 0 : p->arithmetic.decimals);
}

bool section_table_rows(const struct section_table *p, const struct section *s, size_t first, enum axis axis,
                        size_t count, size_t indent)
{
    struct text_table g = {.shaded = p->shaded,
                           .ramp = section_is_share(s) ? RAMP_SHARE : RAMP_AROUND,
                           .indent = indent,
                           .all_rows = count,
                           .row_noun = section_table_noun(axis)};
    struct section_rows source = {.a = reply_attention(p->reply, s),
                                  .section = s,
                                  .owner = p->out,
                                  .weights = p->reply->results.of[query_steps_mixing(p->a)]};
    bool good = true;
    name_columns(p, s, &g);
    for (; good && g.rows < least(count, SECTION_TABLE_ROWS); g.rows++) {
        const void *values = section_rows_row(&source, first + g.rows);
        good = values != NULL;
        section_table_label(p, axis, g.rows, g.row[g.rows]);
        for (size_t c = 0; good && c < g.columns; c++)
            put_number(p, s, values, c, &g, c);
    }
    section_rows_close(&source);
    if (good)
        text_table_print(p->out, &g);
    return good;
}

/* --- which rows belong to the head --- */

/* Heads of queries share a head of keys; a section without an axis of heads has one for all of them. */
static size_t place_on(const struct section_table *p, enum axis axis)
{
    const struct attention *a = p->a;
    switch (axis) {
    case AXIS_BATCH:
        return p->b;
    case AXIS_HEAD:
    case AXIS_OUTPUT_HEAD:
        return p->h;
    case AXIS_KV_HEAD:
        return p->h / (a->heads / a->kv_heads);
    default:
        return 0;
    }
}

static bool is_place(enum axis axis)
{
    return axis == AXIS_BATCH || axis == AXIS_HEAD || axis == AXIS_OUTPUT_HEAD || axis == AXIS_KV_HEAD;
}

size_t section_table_first(const struct section_table *p, const struct section *s)
{
    size_t row = 0;
    for (size_t x = 0; x + 1 < s->t.rank; x++)
        row = row * s->t.shape[x] + place_on(p, s->axes[x]);
    return row;
}

/* One number per query: the section's row holds all queries of the head. */
static bool print_column(const struct section_table *p, const struct section *s)
{
    struct text_table g = {.shaded = p->shaded,
                           .ramp = section_is_share(s) ? RAMP_SHARE : RAMP_AROUND,
                           .indent = SECTION_TABLE_INDENT,
                           .all_rows = p->a->queries,
                           .row_noun = "queries",
                           .columns = 1,
                           .all_columns = 1};
    struct section_rows source = {.a = p->a, .section = s, .owner = p->out};
    const void *values = section_rows_row(&source, section_table_first(p, s));
    for (; values && g.rows < least(p->a->queries, SECTION_TABLE_ROWS); g.rows++) {
        token_label_query(p->options, g.rows, g.row[g.rows]);
        put_number(p, s, values, g.rows, &g, 0);
    }
    section_rows_close(&source);
    if (values)
        text_table_print(p->out, &g);
    return values != NULL;
}

/* A grid for each index of an axis between those of the head and the grid: the terms of each query. */
static bool print_grids(const struct section_table *p, const struct section *s)
{
    char label[TOKEN_LABEL_TEXT];
    bool good = true;
    enum axis outer = s->axes[s->t.rank - 3];
    enum axis down = s->axes[s->t.rank - 2];
    size_t all = s->t.shape[s->t.rank - 3];
    size_t rows = s->t.shape[s->t.rank - 2];
    size_t shown = least(all, SECTION_TABLE_ROWS);
    for (size_t x = 0; good && x < shown; x++) {
        section_table_label(p, outer, x, label);
        buffer_format(p->out, "  %s:\n", label);
        good = section_table_rows(p, s, section_table_first(p, s) + x * rows, down, rows,
                                  (size_t)2 * SECTION_TABLE_INDENT);
    }
    text_table_rest(p->out, SECTION_TABLE_INDENT, shown, all, section_table_noun(outer));
    return good;
}

void section_table_title(const struct section_table *p, const struct section *s)
{
    if (s->result->title)
        buffer_string(p->out, s->result->title);
    else
        step_formula_write(p->out, p->a, s->result->quantity);
    buffer_string(p->out, "\n");
}

static bool print_grid(const struct section_table *p, const struct section *s)
{
    if (s->axes[s->t.rank - 1] == AXIS_QUERY)
        return print_column(p, s);
    if (s->t.rank > 2 && !is_place(s->axes[s->t.rank - 3]))
        return print_grids(p, s);
    return section_table_rows(p, s, section_table_first(p, s), s->axes[s->t.rank - 2], s->t.shape[s->t.rank - 2],
                              SECTION_TABLE_INDENT);
}

/* --- what overflows without the maximum --- */

static bool has_infinity(const struct section_table *p, const struct section *s)
{
    struct section_rows source = {.a = p->a, .section = s, .owner = p->out};
    size_t rows = s->axes[s->t.rank - 1] == AXIS_QUERY ? 1 : least(p->a->queries, SECTION_TABLE_ROWS);
    bool found = false;
    for (size_t i = 0; !found && i < rows; i++) {
        const void *values = section_rows_row(&source, section_table_first(p, s) + i);
        for (size_t c = 0; values && !found && c < array_width(&s->t); c++)
            found = dtype_get(s->t.dtype, values, c) > DBL_MAX;
    }
    section_rows_close(&source);
    return found;
}

/* The lesson of these steps: why a softmax is computed from differences. */
static void tell_overflow(const struct section_table *p, const struct section *s)
{
    bool cells = s->result->quantity == QUANTITY_EXP_UNSHIFTED;
    if ((!cells && s->result->quantity != QUANTITY_ROW_SUM_UNSHIFTED) || !has_infinity(p, s))
        return;
    buffer_format(p->out, "  inf: %s is past the largest %s;\n  that is why the maximum is subtracted first\n",
                  cells ? "e^masked" : "the sum", dtype_name(s->t.dtype));
}

bool section_table_write(const struct section_table *p, const struct section *s)
{
    section_table_title(p, s);
    bool good = print_grid(p, s);
    tell_overflow(p, s);
    buffer_string(p->out, "\n");
    return good;
}
