/* Pages of tables: head by head, each section a grid, then softmax and mix of each query. */
#include "api/text/reply_text.h"

#include "api/layout/equation.h"
#include "api/layout/text_table.h"
#include "api/text/cache_text.h"
#include "api/text/check_lines.h"
#include "api/text/gradient_tables.h"
#include "api/text/projection_text.h"
#include "api/text/section_table.h"
#include "api/text/tile_blocks.h"
#include "core/cost.h"

#include <math.h>
#include <stdio.h>

#define DECIMALS 3
#define HEADS_SHOWN 4
#define PAIRS_WRITTEN 64 /* dot products written out, at most */
#define WIDTH_WRITTEN 16 /* of such a product */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static bool print_part(const struct section_table *p, enum part part)
{
    const struct section_list *list = &p->reply->sections;
    bool good = true;
    for (size_t x = 1; good && x < list->count; x++)
        if (list->at[x].result->part == part && list->at[x].source != SECTION_NONE && !tile_blocks_tell(&list->at[x]))
            good = section_table_write(p, &list->at[x]);
    return good;
}

static const struct section *find_section(const struct section_table *p, enum result_id id)
{
    return section_find(&p->reply->sections, id);
}

/* --- the arithmetic of queries --- */

static const void *output_row(const struct section_table *p, size_t i)
{
    const struct attention *a = p->a;
    size_t row = a->packed ? (p->b * a->queries + i) * a->heads + p->h : (p->b * a->heads + p->h) * a->queries + i;
    return (const char *)p->reply->results.of[QUANTITY_OUTPUT] + row * a->d_v * dtype_size(a->dtype);
}

static bool tell_products(const struct section_table *p)
{
    const struct attention *a = p->a;
    bool good = true;
    if (!find_section(p, RESULT_STEPS_SCORES))
        return true;
    if (a->d_k > WIDTH_WRITTEN || a->queries * a->keys > PAIRS_WRITTEN) {
        buffer_format(p->out, "%zu products are not written out (/v1/attention/explain tells one).\n\n",
                      a->queries * a->keys);
        return true;
    }
    buffer_string(p->out, "q . k, term by term\n");
    for (size_t i = 0; good && i < a->queries; i++) {
        struct query_steps q;
        good = query_steps_read(&q, a, p->b, p->h, i, p->out);
        for (size_t j = 0; good && j < a->keys; j++)
            good = query_arithmetic_product(p->out, &p->arithmetic, &q, j);
        query_steps_free(&q);
    }
    buffer_string(p->out, "\n");
    return good;
}

static bool tell_queries(const struct section_table *p, bool mix)
{
    bool good = true;
    size_t shown = least(p->a->queries, SECTION_TABLE_ROWS);
    buffer_string(p->out, mix ? "Mix: weighted values, added up\n"
                              : "Softmax of each query\n"
                                "(the step exp is e^shifted = e^masked / e^row_max: the shares are the same)\n");
    for (size_t i = 0; good && i < shown; i++) {
        struct query_steps q;
        good = query_steps_read(&q, p->a, p->b, p->h, i, p->out);
        if (good && mix)
            good = query_arithmetic_mix(p->out, &p->arithmetic, &q, output_row(p, i));
        else if (good)
            query_arithmetic_softmax(p->out, &p->arithmetic, &q);
        query_steps_free(&q);
    }
    text_table_rest(p->out, SECTION_TABLE_INDENT, shown, p->a->queries, "queries");
    buffer_string(p->out, "\n");
    return good;
}

/* --- pages --- */

static void print_head_title(const struct section_table *p)
{
    const struct attention *a = p->a;
    if (a->has_batch)
        buffer_format(p->out, "=== batch %zu", p->b);
    if (a->has_heads)
        buffer_format(p->out, "%s head %zu", a->has_batch ? "," : "===", p->h);
    if (a->has_batch || a->has_heads)
        buffer_string(p->out, " ===\n\n");
}

static bool print_head(const struct section_table *p)
{
    print_head_title(p);
    bool good = print_part(p, PART_INPUTS) && cache_text_head(p);
    if (good && find_section(p, RESULT_STEPS_SCORES))
        projection_text_inputs(p);
    good = good && tell_products(p) && print_part(p, PART_MASK) && print_part(p, PART_STEPS) && tile_blocks_write(p);
    if (good && !find_section(p, RESULT_STEPS_WEIGHTS))
        good = print_part(p, PART_WEIGHTS);
    if (good && p->a->request->variant != VARIANT_LINEAR)
        good = tell_queries(p, false);
    good = good && tell_queries(p, true) && print_part(p, PART_LOG_SUM_EXP) && print_part(p, PART_STATS);
    if (good && !p->a->packed)
        good = print_part(p, PART_OUTPUT);
    return good && print_part(p, PART_PRESENT) && print_part(p, PART_PRESENT_NEW);
}

/* Packed output has no head axis: it comes after the heads. */
static bool print_packed_output(struct section_table *p)
{
    const struct section *s = find_section(p, RESULT_OUTPUT);
    size_t batches = p->a->packed && s ? least(p->a->batch, HEADS_SHOWN) : 0;
    bool good = true;
    for (size_t b = 0; good && b < batches; b++) {
        if (p->a->has_batch)
            buffer_format(p->out, "=== batch %zu ===\n\n", b);
        section_table_title(p, s);
        good = section_table_rows(p, s, b * p->a->queries, AXIS_QUERY, p->a->queries, SECTION_TABLE_INDENT);
        buffer_string(p->out, "\n");
        p->b = b;
        projection_text_output(p);
    }
    return good;
}

static void print_readout(const struct section_table *p)
{
    const struct readout *r = &p->reply->readout;
    size_t rows = r->rows / p->a->batch;
    for (size_t row = 0; row < least(r->rows, SECTION_TABLE_ROWS); row++) {
        struct text_table g = {
            .indent = SECTION_TABLE_INDENT, .all_rows = r->words, .row_noun = "words", .columns = 3, .all_columns = 3};
        char label[TOKEN_LABEL_TEXT];
        buffer_format(p->out, "readout: the %s output row . w, and the softmax of that",
                      rows == 1 ? "last" : token_label_query(p->options, row % rows, label));
        buffer_format(p->out, p->a->has_batch ? "   (batch %zu)\n" : "\n", row / rows);
        snprintf(g.column[0], TOKEN_LABEL_TEXT, "logit");
        snprintf(g.column[1], TOKEN_LABEL_TEXT, "exp");
        snprintf(g.column[2], TOKEN_LABEL_TEXT, "probability");
        for (; g.rows < least(r->words, SECTION_TABLE_ROWS); g.rows++) {
            const struct readout_word *word = &r->word[row * r->words + g.rows];
            const struct options words = {.query_tokens = p->options->readout_tokens};
            token_label_query(&words, word->index, g.row[g.rows]);
            decimal_text_print(g.cell[g.rows][0], word->logit, p->arithmetic.decimals);
            decimal_text_print(g.cell[g.rows][1], word->exp, p->arithmetic.decimals);
            decimal_text_print(g.cell[g.rows][2], word->probability, p->arithmetic.decimals);
        }
        text_table_print(p->out, &g);
        buffer_string(p->out, "\n");
    }
    text_table_rest(p->out, 0, least(r->rows, SECTION_TABLE_ROWS), r->rows, "rows");
}

#define BILL_COLUMNS 5

/* A column of numbers: with a plan of the model they are its bytes, else those of the request. */
static void put_bill(const struct section_table *p, struct text_table *g, const char *label, struct cost_layout layout)
{
    const struct cost_plan *plan = &p->options->cost;
    struct cost cost = cost_count(p->a, layout);
    struct cost_cache cache = cost_plan_cache(p->a, cost, plan);
    const double request[BILL_COLUMNS] = {cost.total, 4 * cost.scores, 4 * cost.cache_per_token, 4 * cost.cache,
                                          2 * cost.cache};
    const double model[BILL_COLUMNS] = {cost.total, cost.cache_per_token, cache.bytes_per_token, cache.bytes,
                                        cache.sequences_that_fit};
    const double *cells = plan->on ? model : request;
    snprintf(g->row[g->rows], TOKEN_LABEL_TEXT, "%s", label);
    for (size_t c = 0; c < g->columns; c++)
        snprintf(g->cell[g->rows][c], DECIMAL_TEXT_SIZE, cells[c] < 1e9 ? "%.0f" : "%.3e", cells[c]);
    g->rows++;
}

static void name_bill(const struct section_table *p, struct text_table *g)
{
    static const char *const request[BILL_COLUMNS] = {"operations", "score bytes", "cache/token", "cache",
                                                      "cache, 16 bit"};
    static const char *const model[BILL_COLUMNS] = {"operations", "numbers/token", "bytes/token", "cache",
                                                    "sequences fit"};
    const struct cost_plan *plan = &p->options->cost;
    g->columns = g->all_columns = plan->on && !(plan->memory_bytes > 0) ? BILL_COLUMNS - 1 : BILL_COLUMNS;
    for (size_t c = 0; c < g->columns; c++)
        snprintf(g->column[c], TOKEN_LABEL_TEXT, "%s", plan->on ? model[c] : request[c]);
    if (plan->on)
        buffer_format(p->out, "cost   (bytes of all %zu layers, %zu tokens)\n", plan->layers ? plan->layers : 1,
                      plan->context ? plan->context : p->a->keys);
    else
        buffer_string(p->out, "cost   (bytes in float32)\n");
}

static void print_bill(const struct section_table *p)
{
    const struct cost_layout latent = cost_latent(p->a);
    struct text_table g = {.indent = SECTION_TABLE_INDENT};
    name_bill(p, &g);
    put_bill(p, &g, "request", cost_own(p->a));
    put_bill(p, &g, "multi-head", cost_multi_head(p->a));
    put_bill(p, &g, "grouped-query", cost_grouped_query(p->a));
    put_bill(p, &g, "multi-query", cost_multi_query());
    put_bill(p, &g, "one wide head", cost_single_head());
    put_bill(p, &g, "latent", latent);
    g.all_rows = g.rows;
    text_table_print(p->out, &g);
    buffer_string(p->out, "  numbers kept for a token and layer:\n");
    buffer_format(p->out, "    multi-head     %s\n", cost_multi_head(p->a).formula);
    buffer_format(p->out, "    grouped-query  %s\n", cost_grouped_query(p->a).formula);
    buffer_format(p->out, "    multi-query    %s\n", cost_multi_query().formula);
    buffer_format(p->out, "    latent         %s\n\n", latent.formula);
}

static const char *plural(size_t count, const char *one, const char *many)
{
    return count == 1 ? one : many;
}

static void print_first_line(const struct section_table *p)
{
    const struct attention *a = p->a;
    buffer_format(p->out, "Attention: %zu %s, %zu %s, d_k %zu, d_v %zu", a->queries,
                  plural(a->queries, "query", "queries"), a->keys, plural(a->keys, "key", "keys"), a->d_k, a->d_v);
    if (a->has_heads)
        buffer_format(p->out, ", %zu %s on %zu", a->heads, plural(a->heads, "head", "heads"), a->kv_heads);
    if (a->has_batch)
        buffer_format(p->out, ", batch %zu", a->batch);
    buffer_format(p->out, ", %s\n", dtype_name(a->dtype));
    buffer_string(p->out, "Numbers are rounded; where those shown would not add up, a line has more\n"
                          "decimals or the sign " EQUATION_ABOUT ".\n\n");
}

static bool print_heads(struct section_table *p)
{
    const struct attention *a = p->a;
    size_t pairs = a->batch * a->heads;
    bool good = true;
    for (size_t x = 0; good && x < least(pairs, HEADS_SHOWN); x++) {
        p->b = x / a->heads;
        p->h = x % a->heads;
        good = print_head(p);
    }
    text_table_rest(p->out, 0, least(pairs, HEADS_SHOWN), pairs, "heads");
    buffer_string(p->out, pairs > HEADS_SHOWN ? "\n" : "");
    return good;
}

double reply_text_shade_room(const struct reply *r)
{
    double table =
        (double)SECTION_TABLE_ROWS * TEXT_TABLE_COLUMNS * SECTION_TABLE_ROWS; /* of terms: one for each query */
    double shown = fmin((double)r->sections.numbers, (double)r->sections.count * HEADS_SHOWN * table);
    return shown * TEXT_TABLE_SHADE;
}

bool reply_text_write(const struct reply *r, enum reply_text_look look, struct buffer *out)
{
    const struct style *style = &r->options->style;
    struct section_table p = {
        .reply = r, .options = r->options, .a = r->a, .out = out, .shaded = look == REPLY_TEXT_SHADED};
    p.arithmetic = (struct query_arithmetic){r->options, style->rounded ? (int)style->decimals : DECIMALS};
    if (r->options->id) {
        buffer_string(out, "id ");
        token_label_append(out, r->options->id);
        buffer_string(out, "\n");
    }
    print_first_line(&p);
    bool good = print_heads(&p) && print_packed_output(&p);
    cache_text_error(&p);
    if (r->options->include.part[PART_COST] || r->options->cost.on)
        print_bill(&p);
    if (r->options->readout_tokens.values)
        print_readout(&p);
    good = good && gradient_tables_write(&p);
    check_lines_write(out, r);
    return good && !out->failed;
}
