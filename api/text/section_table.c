/* Sections as grids. */
#include "api/text/section_table.h"

#include "api/layout/text_table.h"
#include "api/reply/section_rows.h"
#include "api/text/step_formula.h"

#include <stdio.h>

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void put_row_label(const struct section_table *p, enum axis axis, size_t index, char out[TOKEN_LABEL_TEXT])
{
    if (axis == AXIS_QUERY)
        token_label_query(p->options, index, out);
    else
        token_label_key(p->options, index, out);
}

static void name_columns(const struct section_table *p, const struct section *s, struct text_table *g)
{
    bool keys = s->axes[s->t.rank - 1] == AXIS_KEY;
    g->all_columns = s->t.shape[s->t.rank - 1];
    g->columns = least(g->all_columns, TEXT_TABLE_COLUMNS);
    g->column_noun = keys ? "keys" : "features";
    for (size_t c = 0; keys && c < g->columns; c++)
        token_label_key(p->options, c, g->column[c]);
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
                           .row_noun = axis == AXIS_QUERY ? "queries" : "keys"};
    struct section_rows source = {.a = reply_attention(p->reply, s),
                                  .section = s,
                                  .owner = p->out,
                                  .weights = p->reply->results.of[query_steps_mixing(p->a)]};
    bool good = true;
    name_columns(p, s, &g);
    for (; good && g.rows < least(count, SECTION_TABLE_ROWS); g.rows++) {
        const void *values = section_rows_row(&source, first + g.rows);
        good = values != NULL;
        put_row_label(p, axis, g.rows, g.row[g.rows]);
        for (size_t c = 0; good && c < g.columns; c++)
            put_number(p, s, values, c, &g, c);
    }
    section_rows_close(&source);
    if (good)
        text_table_print(p->out, &g);
    return good;
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
    const void *values = section_rows_row(&source, p->b * p->a->heads + p->h);
    for (; values && g.rows < least(p->a->queries, SECTION_TABLE_ROWS); g.rows++) {
        token_label_query(p->options, g.rows, g.row[g.rows]);
        put_number(p, s, values, g.rows, &g, 0);
    }
    section_rows_close(&source);
    if (values)
        text_table_print(p->out, &g);
    return values != NULL;
}

static bool print_terms(const struct section_table *p, const struct section *s)
{
    char label[TOKEN_LABEL_TEXT];
    bool good = true;
    size_t shown = least(p->a->queries, SECTION_TABLE_ROWS);
    for (size_t i = 0; good && i < shown; i++) {
        buffer_format(p->out, "  %s:\n", token_label_query(p->options, i, label));
        good = section_table_rows(p, s, ((p->b * p->a->heads + p->h) * p->a->queries + i) * p->a->keys, AXIS_KEY,
                                  p->a->keys, 2 * SECTION_TABLE_INDENT);
    }
    text_table_rest(p->out, SECTION_TABLE_INDENT, shown, p->a->queries, "queries");
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

/* Heads of queries share a head of keys; a section without an axis of heads has one of either. */
static bool has_axis(const struct section *s, enum axis axis)
{
    for (size_t x = 0; x < AXES_MAX; x++)
        if (s->result->axes[x] == axis)
            return true;
    return false;
}

bool section_table_write(const struct section_table *p, const struct section *s)
{
    const struct attention *a = p->a;
    bool shared = has_axis(s, AXIS_KV_HEAD);
    bool headless = has_axis(s, AXIS_NO_HEAD);
    size_t heads = headless ? 1 : shared ? a->kv_heads : a->heads;
    size_t h = headless ? 0 : shared ? p->h / (a->heads / a->kv_heads) : p->h;
    size_t rows = s->t.rank > 1 ? s->t.shape[s->t.rank - 2] : 1;
    section_table_title(p, s);
    bool good =
        s->source == SECTION_TERMS ? print_terms(p, s)
        : s->axes[s->t.rank - 1] == AXIS_QUERY
            ? print_column(p, s)
            : section_table_rows(p, s, (p->b * heads + h) * rows, s->axes[s->t.rank - 2], rows, SECTION_TABLE_INDENT);
    buffer_string(p->out, "\n");
    return good;
}
