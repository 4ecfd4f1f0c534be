/* Blocks of tiles: a table of what each query has one of, then its exponentials and its accumulator. */
#include "api/text/tile_blocks.h"

#include "api/layout/text_table.h"
#include "api/reply/section_rows.h"
#include "api/text/step_formula.h"

#include <stdio.h>

#define TILES_SHOWN 8

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

bool tile_blocks_tell(const struct section *s)
{
    return s->result && s->result->part == PART_STEPS && s->result->quantity != QUANTITY_COUNT &&
           quantity_is(s->result->quantity, NEEDS_TILES);
}

/* --- a block --- */

/* A tile of the head, and the keys in it. */
struct tile {
    size_t index, from, to;
};

static bool is_single(const struct section *s)
{
    return s->axes[s->t.rank - 1] == AXIS_TILE;
}

/* A quantity that each query has one of becomes a column; `column` is the next. */
static bool put_column(const struct section_table *p, const struct section *s, struct tile tile, struct text_table *g)
{
    struct section_rows source = {.a = p->a, .section = s, .owner = p->out};
    size_t c = g->columns;
    bool good = true;
    snprintf(g->column[c], TOKEN_LABEL_TEXT, "%s", s->result->name);
    for (size_t i = 0; good && i < g->rows; i++) {
        const void *values = section_rows_row(&source, section_table_first(p, s) + i);
        good = values != NULL;
        g->value[i][c] = good ? dtype_get(s->t.dtype, values, tile.index) : 0;
        decimal_text_print(g->cell[i][c], g->value[i][c], p->arithmetic.decimals);
    }
    g->columns = g->all_columns = c + 1;
    section_rows_close(&source);
    return good;
}

static struct text_table start_table(const struct section_table *p)
{
    struct text_table g = {.shaded = p->shaded,
                           .ramp = RAMP_AROUND,
                           .indent = (size_t)2 * SECTION_TABLE_INDENT,
                           .rows = least(p->a->queries, SECTION_TABLE_ROWS),
                           .all_rows = p->a->queries,
                           .row_noun = "queries"};
    for (size_t i = 0; i < g.rows; i++)
        token_label_query(p->options, i, g.row[i]);
    return g;
}

static bool print_singles(const struct section_table *p, struct tile tile)
{
    const struct section_list *list = &p->reply->sections;
    struct text_table g = start_table(p);
    bool good = true;
    g.column_noun = "steps";
    for (size_t x = 1; good && x < list->count; x++)
        if (tile_blocks_tell(&list->at[x]) && is_single(&list->at[x]))
            good = put_column(p, &list->at[x], tile, &g);
    if (good && g.columns > 0)
        text_table_print(p->out, &g);
    return good;
}

/* Row i of the tile: its exponentials are a part of a row, its accumulator is a row of its own. */
static bool put_row(const struct section_table *p, struct section_rows *source, struct tile tile, size_t i,
                    struct text_table *g)
{
    const struct section *s = source->section;
    bool keys = s->axes[s->t.rank - 1] == AXIS_KEY;
    size_t row = section_table_first(p, s) + (keys ? i : i * p->a->tiles + tile.index);
    const void *values = section_rows_row(source, row);
    for (size_t c = 0; values && c < g->columns; c++) {
        g->value[i][c] = dtype_get(s->t.dtype, values, keys ? tile.from + c : c);
        decimal_text_print(g->cell[i][c], g->value[i][c], p->arithmetic.decimals);
    }
    return values != NULL;
}

static bool print_grid(const struct section_table *p, const struct section *s, struct tile tile)
{
    struct section_rows source = {.a = p->a, .section = s, .owner = p->out};
    struct text_table g = start_table(p);
    enum axis across = s->axes[s->t.rank - 1];
    bool good = true;
    g.column_noun = section_table_noun(across);
    g.all_columns = across == AXIS_KEY ? tile.to - tile.from : p->a->d_v;
    g.columns = least(g.all_columns, TEXT_TABLE_COLUMNS);
    for (size_t c = 0; across == AXIS_KEY && c < g.columns; c++)
        token_label_key(p->options, tile.from + c, g.column[c]);
    for (size_t i = 0; good && i < g.rows; i++)
        good = put_row(p, &source, tile, i, &g);
    section_rows_close(&source);
    buffer_format(p->out, "    %s\n", s->result->name);
    if (good)
        text_table_print(p->out, &g);
    return good;
}

static bool print_block(const struct section_table *p, struct tile tile)
{
    const struct section_list *list = &p->reply->sections;
    char first[TOKEN_LABEL_TEXT];
    char last[TOKEN_LABEL_TEXT];
    buffer_format(p->out, "  tile %zu: %s", tile.index, token_label_key(p->options, tile.from, first));
    if (tile.to - tile.from > 1)
        buffer_format(p->out, " .. %s", token_label_key(p->options, tile.to - 1, last));
    buffer_string(p->out, "\n");
    bool good = print_singles(p, tile);
    for (size_t x = 1; good && x < list->count; x++)
        if (tile_blocks_tell(&list->at[x]) && !is_single(&list->at[x]))
            good = print_grid(p, &list->at[x], tile);
    return good;
}

/* --- before and after the blocks --- */

static void print_formulas(const struct section_table *p)
{
    const struct section_list *list = &p->reply->sections;
    buffer_format(p->out, "Tiles of %zu %s: a running maximum and sum in place of the whole row\n",
                  p->a->request->tile_keys, p->a->request->tile_keys == 1 ? "key" : "keys");
    for (size_t x = 1; x < list->count; x++)
        if (tile_blocks_tell(&list->at[x])) {
            buffer_string(p->out, "  ");
            step_formula_write(p->out, p->a, list->at[x].result->quantity);
            buffer_string(p->out, "\n");
        }
    if (p->a->request->sinks.values)
        buffer_string(p->out, "  at first: running_max = sink, running_sum = 1, accumulator = 0\n");
}

/* What one head keeps while it goes from tile to tile, and what it would keep of whole rows. */
static void print_bill(const struct section_table *p)
{
    const struct attention *a = p->a;
    double kept = (double)a->queries * (double)(a->d_v + 2);
    double cells = (double)a->queries * (double)a->keys;
    buffer_string(p->out, "  in the end: output = accumulator / running_sum\n");
    buffer_format(p->out, "  numbers kept: n (d_v + 2) = %zu * (%zu + 2) = %.0f, whatever m is;\n", a->queries, a->d_v,
                  kept);
    buffer_format(p->out, "  whole rows would be n m = %zu * %zu = %.0f\n\n", a->queries, a->keys, cells);
}

static bool is_asked(const struct section_table *p)
{
    const struct section_list *list = &p->reply->sections;
    for (size_t x = 1; x < list->count; x++)
        if (tile_blocks_tell(&list->at[x]))
            return true;
    return false;
}

bool tile_blocks_write(const struct section_table *p)
{
    const struct attention *a = p->a;
    size_t size = a->request->tile_keys;
    size_t shown = least(a->tiles, TILES_SHOWN);
    bool good = true;
    if (!is_asked(p))
        return true;
    print_formulas(p);
    for (size_t t = 0; good && t < shown; t++)
        good = print_block(p, (struct tile){t, t * size, least((t + 1) * size, a->keys)});
    text_table_rest(p->out, SECTION_TABLE_INDENT, shown, a->tiles, "tiles");
    print_bill(p);
    return good;
}
