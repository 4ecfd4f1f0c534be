/* One cell: its numbers as JSON, and the check that there is such a cell. */
#include "api/explain/explain.h"

#include "api/explain/explain_gradient.h"
#include "api/explain/explain_text.h"
#include "api/explain/mask_reason.h"
#include "api/text/query_steps.h"
#include "api/writing/array.h"

static bool check_index(int64_t index, size_t count, const char *name, const char *what, struct error *err)
{
    return (uint64_t)index < count ||
           error_set(err, ERROR_INVALID, name, "%s is %lld; there %s %zu %s, counted from 0.", name, (long long)index,
                     count == 1 ? "is" : "are", count, what);
}

bool explain_check(const struct options *o, const struct attention *a, struct error *err)
{
    bool good = check_index(o->cell.query, a->queries, "cell.query", a->queries == 1 ? "query" : "queries", err);
    good &= check_index(o->cell.key, a->keys, "cell.key", a->keys == 1 ? "key" : "keys", err);
    good &= check_index(o->cell.head, a->heads, "cell.head", a->heads == 1 ? "head" : "heads", err);
    return good & check_index(o->cell.batch, a->batch, "cell.batch", a->batch == 1 ? "batch" : "batches", err);
}

/* --- JSON --- */

struct explanation {
    struct writer w;
    const struct options *options;
    const struct attention *a;
    struct query_steps query;
    size_t j;
    const char *reasons[REASONS_MAX];
    size_t reason_count;
    struct explain_gradient gradient;
};

static void put_number(struct explanation *t, const char *name, double value)
{
    writer_key(&t->w, name);
    array_number(&t->w, &t->options->style, t->a->dtype, value);
}

/* Nothing where the request has no such step. */
static void put_step(struct explanation *t, const char *name, enum quantity quantity)
{
    const double *values = t->query.of[quantity];
    bool per_key = quantity_has_axis(quantity, AXIS_KEY);
    if (values)
        put_number(t, name, values[per_key ? t->j : 0]);
}

static void write_cell(struct explanation *t)
{
    writer_key(&t->w, "cell");
    writer_object_begin(&t->w);
    writer_member_integer(&t->w, "query", t->options->cell.query);
    writer_member_integer(&t->w, "key", t->options->cell.key);
    writer_member_integer(&t->w, "head", t->options->cell.head);
    writer_member_integer(&t->w, "batch", t->options->cell.batch);
    writer_object_end(&t->w);
    if (!t->options->query_tokens.values)
        return;
    writer_key(&t->w, "labels");
    writer_object_begin(&t->w);
    writer_member_string(&t->w, "query", t->options->query_tokens.values[t->query.i]);
    writer_member_string(&t->w, "key", t->options->key_tokens.values[t->j]);
    writer_object_end(&t->w);
}

static bool write_products(struct explanation *t)
{
    double *products = query_steps_products(&t->query, t->j);
    writer_key(&t->w, "products");
    writer_array_begin(&t->w);
    for (size_t f = 0; products && f < t->a->d_k; f++) {
        writer_object_begin(&t->w);
        writer_member_integer(&t->w, "feature", (int64_t)f);
        put_number(t, "q", query_steps_q(&t->query, f));
        put_number(t, "k", query_steps_k(&t->query, t->j, f));
        put_number(t, "product", products[f]);
        writer_object_end(&t->w);
    }
    writer_array_end(&t->w);
    buffer_take_back(t->w.out, products);
    return products != NULL;
}

static void write_reasons(struct explanation *t)
{
    if (!t->query.of[QUANTITY_ALLOWED])
        return;
    writer_member_bool(&t->w, "allowed", t->query.of[QUANTITY_ALLOWED][t->j] > 0);
    writer_key(&t->w, "hidden_by");
    writer_array_begin(&t->w);
    for (size_t x = 0; x < t->reason_count; x++)
        writer_string(&t->w, t->reasons[x]);
    writer_array_end(&t->w);
}

/* Without a bias it is 0: the contract has the member always. */
static void write_steps(struct explanation *t)
{
    const double *bias = t->query.of[QUANTITY_BIAS];
    const struct style plain = {0};
    put_step(t, "score", QUANTITY_SCORES);
    writer_key(&t->w, "scale");
    array_number(&t->w, &plain, t->a->dtype, t->a->scale);
    put_step(t, "scaled", QUANTITY_SCALED);
    put_step(t, "capped", QUANTITY_CAPPED);
    put_number(t, "bias", bias ? bias[t->j] : 0);
    put_step(t, "biased", QUANTITY_BIASED);
    write_reasons(t);
    put_step(t, "masked", QUANTITY_MASKED);
    put_step(t, "row_max", QUANTITY_ROW_MAX);
    put_step(t, "shifted", QUANTITY_SHIFTED);
    put_step(t, "exp", QUANTITY_EXP);
    put_step(t, "row_sum", QUANTITY_ROW_SUM);
    put_step(t, "weight", QUANTITY_WEIGHTS);
    put_step(t, "dropped", QUANTITY_DROPPED);
}

static bool write_values(struct explanation *t)
{
    double *terms = query_steps_contributions(&t->query, t->j, 1);
    writer_key(&t->w, "value");
    writer_array_begin(&t->w);
    for (size_t f = 0; f < t->a->d_v; f++)
        array_next(&t->w, &t->options->style, t->a->dtype, query_steps_v(&t->query, t->j, f));
    writer_array_end(&t->w);
    writer_key(&t->w, "contribution");
    writer_array_begin(&t->w);
    for (size_t f = 0; terms && f < t->a->d_v; f++)
        array_next(&t->w, &t->options->style, t->a->dtype, terms[f]);
    writer_array_end(&t->w);
    buffer_take_back(t->w.out, terms);
    return terms != NULL;
}

/* What the cell adds: d_score k_j to d q_i, d_score q_i to d k_j. */
static void write_share(struct explanation *t, const char *name, bool of_key)
{
    writer_key(&t->w, name);
    writer_array_begin(&t->w);
    for (size_t f = 0; f < t->a->d_k; f++) {
        double other = of_key ? query_steps_q(&t->query, f) : query_steps_k(&t->query, t->j, f);
        array_next(&t->w, &t->options->style, t->a->dtype, t->gradient.d_score * other + 0);
    }
    writer_array_end(&t->w);
}

static void write_gradient(struct explanation *t)
{
    const struct explain_gradient *g = &t->gradient;
    if (!g->there)
        return;
    writer_key(&t->w, "gradient");
    writer_object_begin(&t->w);
    put_number(t, "d_weight", g->d_weight);
    if (g->softmax) {
        put_number(t, "row_dot", g->row_dot);
        put_number(t, "d_masked", g->d_masked);
    }
    put_number(t, "d_scaled", g->d_scaled);
    put_number(t, "d_score", g->d_score);
    write_share(t, "d_q", false);
    write_share(t, "d_k", true);
    writer_object_end(&t->w);
}

static bool write_lines(struct explanation *t, struct buffer *out)
{
    const struct explain_text lines = {t->options, &t->query, t->j, t->reasons, t->reason_count, &t->gradient};
    return explain_text_write(out, &lines);
}

static bool write_json(struct explanation *t)
{
    struct buffer lines = buffer_new(buffer_room(t->w.out) / 2);
    writer_object_begin(&t->w);
    if (t->options->id)
        writer_member_string(&t->w, "id", t->options->id);
    writer_member_string(&t->w, "dtype", dtype_name(t->a->dtype));
    write_cell(t);
    bool good = write_products(t);
    write_steps(t);
    good = good && write_values(t);
    write_gradient(t);
    good = good && write_lines(t, &lines) && !lines.failed;
    if (good) {
        writer_key(&t->w, "text");
        writer_string_n(&t->w, lines.data, lines.length);
    }
    writer_object_end(&t->w);
    buffer_string(t->w.out, "\n");
    t->w.out->full |= lines.full;
    buffer_free(&lines);
    return good;
}

bool explain_write(const struct options *o, const struct attention *a, const struct backward *back, bool text,
                   struct arena *arena, struct buffer *out, struct error *err)
{
    struct explanation t = {.w.out = out, .options = o, .a = a, .j = (size_t)o->cell.key};
    size_t b = (size_t)o->cell.batch;
    size_t h = (size_t)o->cell.head;
    size_t i = (size_t)o->cell.query;
    if (!mask_reason_find(a, b, h, i, t.j, arena, t.reasons, &t.reason_count, err))
        return false;
    bool good = query_steps_read(&t.query, a, b, h, i, out) &&
                explain_gradient_read(&t.gradient, back, b, h, i, t.j, out) &&
                (text ? write_lines(&t, out) : write_json(&t));
    query_steps_free(&t.query);
    out->failed |= !good;
    return buffer_check(out, "the text of the reply", err);
}
