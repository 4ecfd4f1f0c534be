/* Pages of tables: head by head, each section a grid, then softmax and mix of each query. */
#include "api/tables.h"

#include "api/caption.h"
#include "api/grid.h"
#include "api/source.h"
#include "api/story.h"
#include "core/cost.h"

#include <stdio.h>
#include <string.h>

#define DECIMALS 3
#define INDENT 2
#define ROWS_SHOWN 10
#define HEADS_SHOWN 4
#define PAIRS_WRITTEN 12 /* dot products written out, at most */
#define WIDTH_WRITTEN 8  /* of such a product */

struct page {
    const struct reply *reply;
    const struct options *options;
    const struct attention *a;
    struct text *out;
    struct story story;
    size_t b, h;
};

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* --- one section --- */

static void put_row_label(const struct page *p, const char *axis, size_t index, char out[LABEL_TEXT])
{
    if (strcmp(axis, "query") == 0)
        label_query(p->options, index, out);
    else
        label_key(p->options, index, out);
}

static void name_columns(const struct page *p, const struct section *s, struct grid *g)
{
    bool keys = strcmp(s->axes[s->t.rank - 1], "key") == 0;
    g->all_columns = s->t.shape[s->t.rank - 1];
    g->columns = least(g->all_columns, GRID_COLUMNS);
    g->column_noun = keys ? "keys" : "features";
    for (size_t c = 0; keys && c < g->columns; c++)
        label_key(p->options, c, g->column[c]);
}

static void put_figure(const struct page *p, const struct section *s, const void *values, size_t at, char *cell)
{
    double value = figure_at(s->t.dtype, values, at);
    if (s->t.dtype == DTYPE_BOOL)
        strcpy(cell, value > 0 ? "1" : ".");
    else
        figure_print(cell, value, s->quantity == QUANTITY_ARGMAX_KEY ? 0 : p->story.decimals);
}

/* Rows first, first + 1, .. of the section as the rows of a grid. */
static bool print_rows(const struct page *p, const struct section *s, size_t first, const char *axis, size_t count,
                       size_t indent)
{
    struct grid g = {.indent = indent, .all_rows = count, .row_noun = strcmp(axis, "query") == 0 ? "queries" : "keys"};
    struct source source = {.a = p->a, .section = s, .weights = p->reply->results.of[query_mixing(p->a)]};
    bool good = true;
    name_columns(p, s, &g);
    for (; good && g.rows < least(count, ROWS_SHOWN); g.rows++) {
        const void *values = source_row(&source, first + g.rows);
        good = values != NULL;
        put_row_label(p, axis, g.rows, g.row[g.rows]);
        for (size_t c = 0; good && c < g.columns; c++)
            put_figure(p, s, values, c, g.cell[g.rows][c]);
    }
    source_close(&source);
    if (good)
        grid_print(p->out, &g);
    return good;
}

/* One number per query: the section's row holds all queries of the head. */
static bool print_column(const struct page *p, const struct section *s)
{
    struct grid g = {
        .indent = INDENT, .all_rows = p->a->queries, .row_noun = "queries", .columns = 1, .all_columns = 1};
    struct source source = {.a = p->a, .section = s};
    const void *values = source_row(&source, p->b * p->a->heads + p->h);
    for (; values && g.rows < least(p->a->queries, ROWS_SHOWN); g.rows++) {
        label_query(p->options, g.rows, g.row[g.rows]);
        put_figure(p, s, values, g.rows, g.cell[g.rows][0]);
    }
    source_close(&source);
    if (values)
        grid_print(p->out, &g);
    return values != NULL;
}

static bool print_terms(const struct page *p, const struct section *s)
{
    char label[LABEL_TEXT];
    bool good = true;
    size_t shown = least(p->a->queries, ROWS_SHOWN);
    for (size_t i = 0; good && i < shown; i++) {
        text_format(p->out, "  %s:\n", label_query(p->options, i, label));
        good = print_rows(p, s, ((p->b * p->a->heads + p->h) * p->a->queries + i) * p->a->keys, "key", p->a->keys,
                          2 * INDENT);
    }
    grid_rest(p->out, INDENT, shown, p->a->queries, "queries");
    return good;
}

static void print_title(const struct page *p, const struct section *s)
{
    if (s->quantity != QUANTITY_COUNT)
        caption_write(p->out, p->a, s->quantity);
    else if (strcmp(s->group, "present") == 0)
        text_format(p->out, "present.%s   (past and new)", s->name);
    else
        text_format(p->out, "inputs.%s   (as it enters the scores)", s->name);
    text_string(p->out, "\n");
}

/* The part of a section that belongs to the page's head. */
static bool print_section(const struct page *p, const struct section *s)
{
    const struct attention *a = p->a;
    bool of_keys = s->quantity == QUANTITY_COUNT && s->name[0] != 'q';
    size_t heads = of_keys ? a->kv_heads : a->heads;
    size_t h = of_keys ? p->h / (a->heads / a->kv_heads) : p->h;
    size_t rows = s->t.rank > 1 ? s->t.shape[s->t.rank - 2] : 1;
    print_title(p, s);
    bool good = s->source == SECTION_TERMS ? print_terms(p, s)
                : strcmp(s->axes[s->t.rank - 1], "query") == 0
                    ? print_column(p, s)
                    : print_rows(p, s, (p->b * heads + h) * rows, s->axes[s->t.rank - 2], rows, INDENT);
    text_string(p->out, "\n");
    return good;
}

static const struct section *find_section(const struct page *p, const char *group, const char *name)
{
    const struct section_list *list = &p->reply->sections;
    for (size_t x = 0; x < list->count; x++)
        if (section_is(&list->at[x], group, name))
            return &list->at[x];
    return NULL;
}

static bool print_group(const struct page *p, const char *group)
{
    const struct section_list *list = &p->reply->sections;
    bool good = true;
    for (size_t x = 0; good && x < list->count; x++)
        if (list->at[x].group && strcmp(list->at[x].group, group) == 0)
            good = print_section(p, &list->at[x]);
    return good;
}

static bool print_named(const struct page *p, const char *name)
{
    const struct section *s = find_section(p, NULL, name);
    return !s || print_section(p, s);
}

/* --- the stories --- */

static const void *output_row(const struct page *p, size_t i)
{
    const struct attention *a = p->a;
    size_t row = a->packed ? (p->b * a->queries + i) * a->heads + p->h : (p->b * a->heads + p->h) * a->queries + i;
    return (const char *)p->reply->results.of[QUANTITY_OUTPUT] + row * a->d_v * dtype_size(a->dtype);
}

static bool tell_products(const struct page *p)
{
    const struct attention *a = p->a;
    bool good = true;
    if (!find_section(p, "steps", "scores"))
        return true;
    if (a->d_k > WIDTH_WRITTEN || a->queries * a->keys > PAIRS_WRITTEN) {
        text_format(p->out,
                    "%zu products are not written out (/v1/attention/explain tells one).\n\n",
                    a->queries * a->keys);
        return true;
    }
    text_string(p->out, "q . k, term by term\n");
    for (size_t i = 0; good && i < a->queries; i++) {
        struct query q;
        good = query_read(&q, a, p->b, p->h, i);
        for (size_t j = 0; good && j < a->keys; j++)
            good = story_product(p->out, &p->story, &q, j);
        query_free(&q);
    }
    text_string(p->out, "\n");
    return good;
}

static bool tell_queries(const struct page *p, bool mix)
{
    bool good = true;
    size_t shown = least(p->a->queries, ROWS_SHOWN);
    text_string(p->out, mix ? "Mix: weighted values, added up\n" : "Softmax of each query\n");
    for (size_t i = 0; good && i < shown; i++) {
        struct query q;
        good = query_read(&q, p->a, p->b, p->h, i);
        if (good && mix)
            good = story_mix(p->out, &p->story, &q, output_row(p, i));
        else if (good)
            story_softmax(p->out, &p->story, &q);
        query_free(&q);
    }
    grid_rest(p->out, INDENT, shown, p->a->queries, "queries");
    text_string(p->out, "\n");
    return good;
}

/* --- pages --- */

static void print_head_title(const struct page *p)
{
    const struct attention *a = p->a;
    if (a->has_batch)
        text_format(p->out, "=== batch %zu", p->b);
    if (a->has_heads)
        text_format(p->out, "%s head %zu", a->has_batch ? "," : "===", p->h);
    if (a->has_batch || a->has_heads)
        text_string(p->out, " ===\n\n");
}

static bool print_head(const struct page *p)
{
    print_head_title(p);
    bool good = print_group(p, "inputs") && tell_products(p) && print_group(p, "mask") && print_group(p, "steps");
    if (good && !find_section(p, "steps", "weights"))
        good = print_named(p, "weights");
    if (good && p->a->request->variant != VARIANT_LINEAR)
        good = tell_queries(p, false);
    good = good && tell_queries(p, true) && print_named(p, "log_sum_exp") && print_group(p, "stats");
    if (good && !p->a->packed)
        good = print_named(p, "output");
    return good && print_group(p, "present");
}

/* Packed output has no head axis: it comes after the heads. */
static bool print_packed_output(struct page *p)
{
    const struct section *s = find_section(p, NULL, "output");
    size_t batches = p->a->packed && s ? least(p->a->batch, HEADS_SHOWN) : 0;
    bool good = true;
    for (size_t b = 0; good && b < batches; b++) {
        if (p->a->has_batch)
            text_format(p->out, "=== batch %zu ===\n\n", b);
        print_title(p, s);
        good = print_rows(p, s, b * p->a->queries, "query", p->a->queries, INDENT);
        text_string(p->out, "\n");
    }
    return good;
}

static void print_readout(const struct page *p)
{
    const struct readout *r = &p->reply->readout;
    for (size_t b = 0; b < least(r->batch, HEADS_SHOWN); b++) {
        struct grid g = {.indent = INDENT, .all_rows = r->words, .row_noun = "words", .columns = 2, .all_columns = 2};
        text_string(p->out, "readout: the last output row . w, and the softmax of that");
        text_format(p->out, p->a->has_batch ? "   (batch %zu)\n" : "\n", b);
        snprintf(g.column[0], LABEL_TEXT, "logit");
        snprintf(g.column[1], LABEL_TEXT, "probability");
        for (; g.rows < least(r->words, ROWS_SHOWN); g.rows++) {
            const struct readout_word *word = &r->word[b * r->words + g.rows];
            const struct options words = {.query_tokens = p->options->readout_tokens};
            label_query(&words, word->index, g.row[g.rows]);
            figure_print(g.cell[g.rows][0], word->logit, p->story.decimals);
            figure_print(g.cell[g.rows][1], word->probability, p->story.decimals);
        }
        grid_print(p->out, &g);
        text_string(p->out, "\n");
    }
}

static void put_bill(struct grid *g, const char *label, const struct attention *a, struct cost_layout layout)
{
    struct cost cost = cost_count(a, layout);
    const double cells[] = {cost.total, 4 * cost.scores, 4 * cost.cache_per_token, 4 * cost.cache, 2 * cost.cache};
    snprintf(g->row[g->rows], LABEL_TEXT, "%s", label);
    for (size_t c = 0; c < 5; c++)
        snprintf(g->cell[g->rows][c], FIGURE_TEXT, cells[c] < 1e9 ? "%.0f" : "%.3e", cells[c]);
    g->rows++;
}

static void print_bill(const struct page *p)
{
    static const char *const columns[] = {"operations", "score bytes", "cache/token", "cache", "cache, 16 bit"};
    struct grid g = {.indent = INDENT, .columns = 5, .all_columns = 5};
    for (size_t c = 0; c < 5; c++)
        snprintf(g.column[c], LABEL_TEXT, "%s", columns[c]);
    text_string(p->out, "cost   (bytes in float32)\n");
    put_bill(&g, "request", p->a, (struct cost_layout){.kv_heads = p->a->kv_heads});
    put_bill(&g, "multi-head", p->a, cost_multi_head(p->a));
    put_bill(&g, "grouped-query", p->a, cost_grouped_query(p->a));
    put_bill(&g, "multi-query", p->a, cost_multi_query());
    put_bill(&g, "latent", p->a, cost_latent(p->a));
    g.all_rows = g.rows;
    grid_print(p->out, &g);
    text_string(p->out, "\n");
}

static const char *plural(size_t count, const char *one, const char *many)
{
    return count == 1 ? one : many;
}

static void print_first_line(const struct page *p)
{
    const struct attention *a = p->a;
    text_format(p->out, "Attention: %zu %s, %zu %s, d_k %zu, d_v %zu", a->queries,
                plural(a->queries, "query", "queries"), a->keys, plural(a->keys, "key", "keys"), a->d_k, a->d_v);
    if (a->has_heads)
        text_format(p->out, ", %zu %s on %zu", a->heads, plural(a->heads, "head", "heads"), a->kv_heads);
    if (a->has_batch)
        text_format(p->out, ", batch %zu", a->batch);
    text_format(p->out, ", %s\n\n", dtype_name(a->dtype));
}

static bool print_heads(struct page *p)
{
    const struct attention *a = p->a;
    size_t pairs = a->batch * a->heads;
    bool good = true;
    for (size_t x = 0; good && x < least(pairs, HEADS_SHOWN); x++) {
        p->b = x / a->heads;
        p->h = x % a->heads;
        good = print_head(p);
    }
    grid_rest(p->out, 0, least(pairs, HEADS_SHOWN), pairs, "heads");
    text_string(p->out, pairs > HEADS_SHOWN ? "\n" : "");
    return good;
}

bool tables_write(const struct reply *r, struct text *out)
{
    const struct style *style = &r->options->style;
    struct page p = {.reply = r, .options = r->options, .a = r->a, .out = out};
    p.story = (struct story){r->options, style->rounded ? (int)style->decimals : DECIMALS};
    if (r->options->id) {
        text_string(out, "id ");
        label_append(out, r->options->id);
        text_string(out, "\n");
    }
    print_first_line(&p);
    bool good = print_heads(&p) && print_packed_output(&p);
    if (r->options->include.part[INCLUDE_COST])
        print_bill(&p);
    if (r->options->readout_tokens.values)
        print_readout(&p);
    return good && !out->failed;
}
