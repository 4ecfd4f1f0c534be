/* Sections as grids. */
#include "api/text/section_table.h"

#include "api/reply/section_rows.h"
#include "api/text/step_formula.h"
#include "api/text/text_table.h"

#include <stdio.h>
#include <string.h>

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void put_row_label(const struct section_table *p, const char *axis, size_t index, char out[TOKEN_LABEL_TEXT])
{
    if (strcmp(axis, "query") == 0)
        token_label_query(p->options, index, out);
    else
        token_label_key(p->options, index, out);
}

static void name_columns(const struct section_table *p, const struct section *s, struct text_table *g)
{
    bool keys = strcmp(s->axes[s->t.rank - 1], "key") == 0;
    g->all_columns = s->t.shape[s->t.rank - 1];
    g->columns = least(g->all_columns, TEXT_TABLE_COLUMNS);
    g->column_noun = keys ? "keys" : "features";
    for (size_t c = 0; keys && c < g->columns; c++)
        token_label_key(p->options, c, g->column[c]);
}

static void put_figure(const struct section_table *p, const struct section *s, const void *values, size_t at,
                       char *cell)
{
    double value = decimal_text_at(s->t.dtype, values, at);
    if (s->t.dtype == DTYPE_BOOL)
        snprintf(cell, DECIMAL_TEXT_SIZE, "%s", value > 0 ? "1" : ".");
    else
        decimal_text_print(cell, value, s->quantity == QUANTITY_ARGMAX_KEY ? 0 : p->story.decimals);
}

bool section_table_rows(const struct section_table *p, const struct section *s, size_t first, const char *axis,
                        size_t count, size_t indent)
{
    struct text_table g = {
        .indent = indent, .all_rows = count, .row_noun = strcmp(axis, "query") == 0 ? "queries" : "keys"};
    struct section_rows source = {.a = p->a, .section = s, .weights = p->reply->results.of[query_steps_mixing(p->a)]};
    bool good = true;
    name_columns(p, s, &g);
    for (; good && g.rows < least(count, SECTION_TABLE_ROWS); g.rows++) {
        const void *values = section_rows_row(&source, first + g.rows);
        good = values != NULL;
        put_row_label(p, axis, g.rows, g.row[g.rows]);
        for (size_t c = 0; good && c < g.columns; c++)
            put_figure(p, s, values, c, g.cell[g.rows][c]);
    }
    section_rows_close(&source);
    if (good)
        text_table_print(p->out, &g);
    return good;
}

/* One number per query: the section's row holds all queries of the head. */
static bool print_column(const struct section_table *p, const struct section *s)
{
    struct text_table g = {.indent = SECTION_TABLE_INDENT,
                           .all_rows = p->a->queries,
                           .row_noun = "queries",
                           .columns = 1,
                           .all_columns = 1};
    struct section_rows source = {.a = p->a, .section = s};
    const void *values = section_rows_row(&source, p->b * p->a->heads + p->h);
    for (; values && g.rows < least(p->a->queries, SECTION_TABLE_ROWS); g.rows++) {
        token_label_query(p->options, g.rows, g.row[g.rows]);
        put_figure(p, s, values, g.rows, g.cell[g.rows][0]);
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
        good = section_table_rows(p, s, ((p->b * p->a->heads + p->h) * p->a->queries + i) * p->a->keys, "key",
                                  p->a->keys, 2 * SECTION_TABLE_INDENT);
    }
    text_table_rest(p->out, SECTION_TABLE_INDENT, shown, p->a->queries, "queries");
    return good;
}

void section_table_title(const struct section_table *p, const struct section *s)
{
    if (s->quantity != QUANTITY_COUNT)
        step_formula_write(p->out, p->a, s->quantity);
    else if (strcmp(s->group, "present") == 0)
        buffer_format(p->out, "present.%s   (past and new)", s->name);
    else
        buffer_format(p->out, "inputs.%s   (as it enters the scores)", s->name);
    buffer_string(p->out, "\n");
}

bool section_table_write(const struct section_table *p, const struct section *s)
{
    const struct attention *a = p->a;
    bool of_keys = s->quantity == QUANTITY_COUNT && s->name[0] != 'q';
    size_t heads = of_keys ? a->kv_heads : a->heads;
    size_t h = of_keys ? p->h / (a->heads / a->kv_heads) : p->h;
    size_t rows = s->t.rank > 1 ? s->t.shape[s->t.rank - 2] : 1;
    section_table_title(p, s);
    bool good =
        s->source == SECTION_TERMS ? print_terms(p, s)
        : strcmp(s->axes[s->t.rank - 1], "query") == 0
            ? print_column(p, s)
            : section_table_rows(p, s, (p->b * heads + h) * rows, s->axes[s->t.rank - 2], rows, SECTION_TABLE_INDENT);
    buffer_string(p->out, "\n");
    return good;
}
