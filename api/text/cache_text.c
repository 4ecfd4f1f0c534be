/* Tables of codes and scales, lines of what is lost. */
#include "api/text/cache_text.h"

#include "api/layout/text_table.h"
#include "api/reply/section_rows.h"
#include "api/writing/array.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PER_NUMBER_MUCH 2 /* times the bits of a code: where scales cost more than codes */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static const struct quantized *side_of(const struct section_table *p, const struct section *s)
{
    return s->result->object[0] == 'k' ? &p->a->quantized_k : &p->a->quantized_v;
}

/* --- tables --- */

/* A part of a tensor as a grid: from number `start` on, rows of `columns`. */
struct grid {
    const struct section *s;
    size_t start, rows, columns;
};

/* The axes of heads come first, where the tensor has them; what follows is this head's. */
static struct grid find_grid(const struct section_table *p, const struct section *s)
{
    const struct tensor t = s->t;
    struct grid g = {.s = s, .rows = 1, .columns = 1};
    bool by_head = s->result->axes[0] == AXIS_BATCH;
    size_t outer = by_head ? (size_t)p->a->has_batch + p->a->has_heads : 0;
    size_t inner = t.rank - outer;
    if (inner > 0)
        g.rows = t.shape[outer];
    if (inner > 1)
        g.columns = t.shape[outer + 1];
    if (by_head)
        g.start = (p->b * p->a->kv_heads + p->h / (p->a->heads / p->a->kv_heads)) * g.rows * g.columns;
    return g;
}

static void label_row(const struct section_table *p, const struct grid *g, size_t row, char out[TOKEN_LABEL_TEXT])
{
    const struct section *s = g->s;
    enum axis axis =
        s->t.rank == 0 ? AXIS_NONE : s->axes[g->columns > 1 && s->t.rank > 1 ? s->t.rank - 2 : s->t.rank - 1];
    if (s->t.rank > 1 && s->axes[s->t.rank - 2] == AXIS_KEY)
        axis = AXIS_KEY;
    bool is_whole = s->id == RESULT_QUANTIZED_K_DEQUANTIZED || s->id == RESULT_QUANTIZED_V_DEQUANTIZED;
    if (axis == AXIS_KEY)
        token_label_key(p->options, row + (is_whole ? 0 : side_of(p, s)->first), out);
    else if (axis == AXIS_SHARED_ROW)
        snprintf(out, TOKEN_LABEL_TEXT, "group %zu", row);
    else
        snprintf(out, TOKEN_LABEL_TEXT, "%s", "");
}

static bool print_grid(const struct section_table *p, const struct grid *g)
{
    struct section_rows rows = {.a = p->a, .section = g->s, .owner = p->out};
    size_t width = array_width(&g->s->t);
    struct text_table table = {.shaded = p->shaded,
                               .ramp = RAMP_AROUND,
                               .indent = SECTION_TABLE_INDENT,
                               .all_rows = g->rows,
                               .row_noun = "rows"};
    int decimals = g->s->t.dtype == DTYPE_INT16 ? 0 : p->arithmetic.decimals;
    table.columns = least(g->columns, TEXT_TABLE_COLUMNS);
    table.all_columns = g->columns;
    table.column_noun = "numbers";
    bool good = true;
    for (; table.rows < least(g->rows, SECTION_TABLE_ROWS); table.rows++) {
        label_row(p, g, table.rows, table.row[table.rows]);
        for (size_t c = 0; good && c < table.columns; c++) {
            size_t at = g->start + table.rows * g->columns + c;
            const void *row = section_rows_row(&rows, at / width);
            good = row != NULL;
            table.value[table.rows][c] = row ? dtype_get(g->s->t.dtype, row, at % width) : 0;
            decimal_text_print(table.cell[table.rows][c], table.value[table.rows][c], decimals);
        }
    }
    section_rows_close(&rows);
    if (good)
        text_table_print(p->out, &table);
    return good;
}

bool cache_text_head(const struct section_table *p)
{
    const struct section_list *list = &p->reply->sections;
    size_t shared = p->a->heads / p->a->kv_heads;
    bool good = true;
    for (size_t x = 1; good && x < list->count; x++) {
        const struct section *s = &list->at[x];
        bool once = s->result->axes[0] != AXIS_BATCH;
        if (s->result->part != PART_QUANTIZATION || s->source == SECTION_NONE || p->h % shared ||
            (once && p->b + p->h > 0))
            continue;
        const struct grid g = find_grid(p, s);
        section_table_title(p, s);
        good = print_grid(p, &g);
        buffer_string(p->out, "\n");
    }
    return good;
}

/* --- the bill and the comparison --- */

static void tell_side(const struct section_table *p, const struct quantized *q, const char *name)
{
    static const char *const methods[QUANTIZE_METHOD_COUNT] = {
#define METHOD_NAME(id, name, fewest, most) name,
        QUANTIZE_METHODS(METHOD_NAME)
#undef METHOD_NAME
    };
    char figure[3][DECIMAL_TEXT_SIZE];
    if (!q->side)
        return;
    double numbers = (double)q->batch * (double)q->heads * (double)q->tokens * (double)q->width;
    double per_number = q->bits / numbers;
    double code = q->side->bits ? (double)q->side->bits : 8;
    buffer_format(p->out, "  %s  %s: %s bits a number, %s bytes in all; 16 / %s = %s\n", name, methods[q->side->method],
                  decimal_text_print(figure[0], per_number, 2), decimal_text_print(figure[1], ceil(q->bits / 8), 0),
                  figure[0], decimal_text_print(figure[2], 16 / per_number, 2));
    if (per_number > PER_NUMBER_MUCH * code)
        buffer_string(p->out, "     (in so small a cache the scales cost more than the codes)\n");
}

static void put_line(const struct section_table *p, const char *name, double max, double rms)
{
    char figure[2][DECIMAL_TEXT_SIZE];
    int decimals = p->arithmetic.decimals;
    buffer_format(p->out, "  %-8s largest %s", name, decimal_text_print(figure[0], max, decimals));
    if (rms >= 0)
        buffer_format(p->out, ", root mean square %s", decimal_text_print(figure[1], rms, decimals));
    buffer_string(p->out, "\n");
}

static void print_cosines(const struct section_table *p)
{
    const struct section *s = section_find(&p->reply->sections, RESULT_ERROR_COSINE);
    struct text_table table = {.indent = SECTION_TABLE_INDENT, .columns = 2, .all_columns = 2, .row_noun = "rows"};
    const struct section *kl = section_find(&p->reply->sections, RESULT_ERROR_KL_BITS);
    bool same = tensor_count(s->t) == tensor_count(kl->t);
    table.all_rows = tensor_count(s->t);
    table.columns = table.all_columns = same ? 2 : 1;
    snprintf(table.column[0], TOKEN_LABEL_TEXT, "cosine");
    snprintf(table.column[1], TOKEN_LABEL_TEXT, "kl_bits");
    buffer_string(p->out, same ? "  rows of the output, and sum of w * log2(w / rounded w) of their weights:\n"
                               : "  rows of the output:\n");
    for (; table.rows < least(table.all_rows, SECTION_TABLE_ROWS); table.rows++) {
        token_label_query(p->options, table.rows % p->a->queries, table.row[table.rows]);
        decimal_text_print(table.cell[table.rows][0], dtype_get(s->t.dtype, s->t.data, table.rows),
                           p->arithmetic.decimals);
        if (same)
            decimal_text_print(table.cell[table.rows][1], dtype_get(kl->t.dtype, kl->t.data, table.rows),
                               p->arithmetic.decimals);
    }
    text_table_print(p->out, &table);
}

static void tell_formats(const struct section_table *p)
{
    const struct precision *precision = &p->a->precision;
    buffer_format(p->out, "precision: formats of the stages, sums %s\n",
                  precision->pairwise ? "pairwise" : "one term after another");
    for (size_t x = 0; x < PRECISION_STAGE_COUNT; x++)
        buffer_format(p->out, "  %-10s  %-11s  1 and the next number differ by %.3g\n",
                      precision_stage_name((enum precision_stage)x), format_name(precision->stage[x]),
                      format_ulp(precision->stage[x]));
    buffer_format(p->out, "  %zu roundings stopped at the largest number, %zu became 0\n", p->reply->tally.saturated,
                  p->reply->tally.zeroed);
}

void cache_text_error(const struct section_table *p)
{
    const struct comparison *c = &p->reply->comparison;
    if (!p->a->request->quantize.on && !p->a->precision.on)
        return;
    if (p->a->precision.on) {
        tell_formats(p);
    } else {
        buffer_string(p->out, "quantization: what the cache costs\n");
        tell_side(p, &p->a->quantized_k, "k");
        tell_side(p, &p->a->quantized_v, "v");
    }
    buffer_format(p->out, "\nerror: differences from the %s result\n", p->a->precision.on ? "float64" : "exact");
    put_line(p, "scores", c->scores_max, c->scores_rms);
    put_line(p, "weights", c->weights_max, -1);
    put_line(p, "output", c->output_max, c->output_rms);
    buffer_format(p->out, "  the first key of the largest weight is another in %zu %s\n", c->argmax_changed,
                  c->argmax_changed == 1 ? "row" : "rows");
    print_cosines(p);
    buffer_string(p->out, "\n");
}
