/* Tables of any rank: the last two axes are a grid, those before it are told above it. */
#include "api/text/gradient_tables.h"

#include "api/layout/text_table.h"
#include "api/reply/section_rows.h"
#include "api/writing/array.h"

#include <stdio.h>

#define GRIDS_SHOWN 4

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Where a bias repeats, one row or column stands for all. */
static void label(const struct section_table *p, const struct section *s, size_t x, size_t index,
                  char out[TOKEN_LABEL_TEXT])
{
    enum axis axis = s->axes[x];
    if (s->result->gradient == GRADIENT_BIAS && s->t.shape[x] < attention_extent(p->a, axis))
        snprintf(out, TOKEN_LABEL_TEXT, "all");
    else
        section_table_label(p, axis, index, out);
}

static bool has_heading(enum axis axis)
{
    return axis == AXIS_KEY || axis == AXIS_NEW_KEY || axis == AXIS_QUERY;
}

/* "batch 0, head 1:" above the grid whose first row is `row`. */
static void tell_place(const struct section_table *p, const struct section *s, size_t row)
{
    size_t outer = s->t.rank > 2 ? s->t.rank - 2 : 0;
    size_t divisor = outer > 0 ? s->t.shape[outer] : 1;
    size_t index[TENSOR_RANK_MAX] = {0};
    row /= divisor;
    for (size_t axis = outer; axis-- > 0; row /= s->t.shape[axis])
        index[axis] = row % s->t.shape[axis];
    for (size_t axis = 0; axis < outer; axis++)
        buffer_format(p->out, "%s%s %zu%s", axis == 0 ? "  " : ", ", axis_name(s->axes[axis]), index[axis],
                      axis + 1 == outer ? ":\n" : "");
}

static bool write_grid(const struct section_table *p, const struct section *s, struct section_rows *rows, size_t first,
                       size_t count)
{
    size_t across = s->t.rank - 1;
    enum axis down = s->t.rank > 1 ? s->axes[across - 1] : AXIS_NONE;
    struct text_table g = {.shaded = p->shaded,
                           .ramp = RAMP_AROUND,
                           .indent = SECTION_TABLE_INDENT,
                           .all_rows = count,
                           .row_noun = section_table_noun(down),
                           .all_columns = array_width(&s->t),
                           .column_noun = section_table_noun(s->axes[across])};
    g.columns = least(g.all_columns, TEXT_TABLE_COLUMNS);
    for (size_t c = 0; has_heading(s->axes[across]) && c < g.columns; c++)
        label(p, s, across, c, g.column[c]);
    for (; g.rows < least(count, SECTION_TABLE_ROWS); g.rows++) {
        const void *values = section_rows_row(rows, first + g.rows);
        if (!values)
            return false;
        if (down != AXIS_NONE)
            label(p, s, across - 1, g.rows, g.row[g.rows]);
        for (size_t c = 0; c < g.columns; c++) {
            g.value[g.rows][c] = dtype_get(s->t.dtype, values, c);
            decimal_text_print(g.cell[g.rows][c], g.value[g.rows][c], p->arithmetic.decimals);
        }
    }
    text_table_print(p->out, &g);
    return true;
}

static bool write_tensor(const struct section_table *p, const struct section *s)
{
    struct section_rows rows = {.a = p->a, .section = s, .owner = p->out, .back = &p->reply->back.core};
    size_t count = s->t.rank > 1 ? s->t.shape[s->t.rank - 2] : 1;
    size_t grids = array_rows(&s->t) / count;
    bool good = true;
    for (size_t g = 0; good && g < least(grids, GRIDS_SHOWN); g++) {
        tell_place(p, s, g * count);
        good = write_grid(p, s, &rows, g * count, count);
    }
    section_rows_close(&rows);
    text_table_rest(p->out, SECTION_TABLE_INDENT, least(grids, GRIDS_SHOWN), grids, "tables");
    return good;
}

static void write_number(const struct section_table *p, double value)
{
    char text[DECIMAL_TEXT_SIZE];
    decimal_text_print(text, value, p->arithmetic.decimals);
    buffer_format(p->out, "  %s\n", text);
}

static bool write_section(const struct section_table *p, const struct section *s)
{
    bool good = true;
    buffer_format(p->out, "%s\n", s->result->title);
    if (s->result->document)
        write_number(p, way_back_number(&p->reply->back, s->result->gradient));
    else
        good = write_tensor(p, s);
    buffer_string(p->out, "\n");
    return good;
}

static void write_loss(const struct section_table *p)
{
    const struct way_back *back = &p->reply->back;
    char text[DECIMAL_TEXT_SIZE];
    if (!back->row_loss)
        return;
    decimal_text_print(text, back->loss, p->arithmetic.decimals);
    buffer_format(p->out, "loss = mean of -ln p(target) = %s\n\n", text);
}

static void explain_wrong_mask(const struct section_table *p)
{
    if (p->a->request->variant == VARIANT_MASK_AFTER_SOFTMAX)
        buffer_string(p->out, "Hidden keys have a part in the sum of the softmax, so they do get a gradient:\n"
                              "that is why zeroing weights after the softmax is wrong.\n\n");
}

bool gradient_tables_write(const struct section_table *p)
{
    const struct section_list *list = &p->reply->sections;
    bool good = true;
    if (!p->a->request->backward)
        return true;
    buffer_string(p->out, "--- the way back: d X is how fast L grows with each number of X ---\n\n");
    write_loss(p);
    explain_wrong_mask(p);
    for (size_t x = 1; good && x < list->count; x++)
        if (list->at[x].result->part == PART_GRADIENTS || list->at[x].result->part == PART_UPDATED)
            good = write_section(p, &list->at[x]);
    return good;
}
