/* Reading a query out of its block. */
#include "api/text/query_steps.h"

#include "api/numbers/decimal_text.h"
#include "api/reply/section_rows.h"

/* The key and the value that were looked at last. */
struct query_rows {
    struct attention_span key, value; /* count 0: none */
    const void *k, *v;
    char *k_room, *v_room;
};

enum quantity query_steps_mixing(const struct attention *a)
{
    return attention_lacks(a, QUANTITY_DROPPED) ? QUANTITY_WEIGHTS : QUANTITY_DROPPED;
}

static bool is_read(const struct attention *a, size_t x)
{
    enum quantity quantity = (enum quantity)x;
    return !quantity_is(quantity, IS_TERMS) && !quantity_is(quantity, IS_FROM_RUN) && !attention_lacks(a, quantity);
}

static double *widen(struct buffer *owner, enum dtype dtype, const void *values, size_t count)
{
    double *wide = buffer_lend(owner, count * sizeof *wide);
    for (size_t x = 0; wide && x < count; x++)
        wide[x] = dtype_get(dtype, values, x);
    return wide;
}

/* Every step of a whole block, of one row as double, and what the block is computed with. */
size_t query_steps_room(const struct attention *a)
{
    size_t rows = attention_block(a, 0).count;
    size_t bytes = attention_block_scratch(a) + attention_keys_room(a, 1) + attention_values_room(a, 1);
    for (size_t x = 0; x < QUANTITY_COUNT; x++)
        if (is_read(a, x))
            bytes += attention_width(a, (enum quantity)x) *
                     (rows * dtype_size(attention_dtype(a, (enum quantity)x)) + sizeof(double));
    return bytes;
}

size_t query_steps_contributions_room(const struct attention *a)
{
    return a->keys * (dtype_size(a->dtype) + a->d_v * (dtype_size(a->dtype) + sizeof(double)));
}

static bool make_rooms(const struct query_steps *q, size_t rows, struct attention_results *results)
{
    const struct attention *a = q->a;
    bool good = true;
    for (size_t x = 0; x < QUANTITY_COUNT; x++) {
        if (!is_read(a, x))
            continue;
        size_t row = attention_width(a, (enum quantity)x) * dtype_size(attention_dtype(a, (enum quantity)x));
        results->of[x] = buffer_lend(q->owner, rows * row);
        good &= results->of[x] != NULL;
    }
    return good;
}

static bool make_query_rows(struct query_steps *q)
{
    struct query_rows *rows = buffer_lend(q->owner, sizeof *rows);
    q->rows = rows;
    if (!rows)
        return false;
    *rows = (struct query_rows){0};
    rows->k_room = buffer_lend(q->owner, attention_keys_room(q->a, 1) + 1);
    rows->v_room = buffer_lend(q->owner, attention_values_room(q->a, 1) + 1);
    return rows->k_room && rows->v_room;
}

static void drop_query_rows(struct query_steps *q)
{
    if (q->rows) {
        buffer_take_back(q->owner, q->rows->k_room);
        buffer_take_back(q->owner, q->rows->v_room);
    }
    buffer_take_back(q->owner, q->rows);
}

static bool take_row(struct query_steps *q, const struct attention_results *results, size_t row)
{
    bool good = true;
    for (size_t x = 0; x < QUANTITY_COUNT; x++) {
        if (!results->of[x])
            continue;
        enum dtype dtype = attention_dtype(q->a, (enum quantity)x);
        size_t width = attention_width(q->a, (enum quantity)x);
        q->of[x] = widen(q->owner, dtype, (const char *)results->of[x] + row * width * dtype_size(dtype), width);
        good &= q->of[x] != NULL;
    }
    return good;
}

static bool run_block(const struct query_steps *q, size_t block, const struct attention_results *results)
{
    void *scratch = buffer_lend(q->owner, attention_block_scratch(q->a));
    if (scratch)
        attention_block_run(q->a, block, results, scratch);
    buffer_take_back(q->owner, scratch);
    return scratch != NULL;
}

bool query_steps_read(struct query_steps *q, const struct attention *a, size_t b, size_t h, size_t i,
                      struct buffer *owner)
{
    size_t block = section_rows_block(a, (b * a->heads + h) * a->queries + i);
    struct attention_rows at = attention_block(a, block);
    struct attention_results results = {.of = {0}};
    *q = (struct query_steps){.a = a, .b = b, .h = h, .i = i, .owner = owner};
    bool good = make_query_rows(q) && make_rooms(q, at.count, &results) && run_block(q, block, &results) &&
                take_row(q, &results, i - at.first);
    for (size_t x = 0; x < QUANTITY_COUNT; x++)
        buffer_take_back(owner, results.of[x]);
    return good;
}

void query_steps_free(struct query_steps *q)
{
    for (size_t x = 0; x < QUANTITY_COUNT; x++)
        buffer_take_back(q->owner, q->of[x]);
    drop_query_rows(q);
    *q = (struct query_steps){0};
}

double query_steps_q(const struct query_steps *q, size_t t)
{
    return dtype_get(q->a->dtype, tensor_row(q->a->q, q->b, q->h, q->i), t);
}

static size_t group(const struct query_steps *q)
{
    return q->h / (q->a->heads / q->a->kv_heads);
}

double query_steps_k(const struct query_steps *q, size_t j, size_t t)
{
    struct query_rows *rows = q->rows;
    if (rows->key.count == 0 || rows->key.first != j) {
        rows->key = (struct attention_span){q->b, group(q), j, 1};
        rows->k = attention_keys(q->a, rows->key, rows->k_room);
    }
    return dtype_get(q->a->dtype, rows->k, t);
}

double query_steps_v(const struct query_steps *q, size_t j, size_t t)
{
    struct query_rows *rows = q->rows;
    if (rows->value.count == 0 || rows->value.first != j) {
        rows->value = (struct attention_span){q->b, group(q), j, 1};
        rows->v = attention_values(q->a, rows->value, rows->v_room);
    }
    return dtype_get(q->a->dtype, rows->v, t);
}

/* The weights as core wants them: in the dtype of the request. */
static void *narrow_weights(const struct query_steps *q)
{
    const struct attention *a = q->a;
    const double *weights = q->of[query_steps_mixing(a)];
    void *narrow = buffer_lend(q->owner, a->keys * dtype_size(a->dtype));
    for (size_t j = 0; narrow && j < a->keys; j++)
        dtype_set(a->dtype, narrow, j, weights[j]);
    return narrow;
}

double *query_steps_contributions(const struct query_steps *q, size_t first, size_t count)
{
    const struct attention *a = q->a;
    const struct attention_terms at = {q->b, q->h, q->i, first, count};
    void *weights = narrow_weights(q);
    void *terms = buffer_lend(q->owner, count * a->d_v * dtype_size(a->dtype));
    double *wide = NULL;
    if (weights && terms) {
        q->rows->value.count = 0;
        attention_contributions(a, at, weights, terms, q->rows->v_room);
        wide = widen(q->owner, a->dtype, terms, count * a->d_v);
    }
    buffer_take_back(q->owner, weights);
    buffer_take_back(q->owner, terms);
    return wide;
}

double *query_steps_products(const struct query_steps *q, size_t j)
{
    const struct attention *a = q->a;
    void *terms = buffer_lend(q->owner, a->d_k * dtype_size(a->dtype));
    double *wide = NULL;
    if (terms) {
        q->rows->key.count = 0;
        attention_products(a, (struct attention_terms){q->b, q->h, q->i, j, 1}, terms, q->rows->k_room);
        wide = widen(q->owner, a->dtype, terms, a->d_k);
    }
    buffer_take_back(q->owner, terms);
    return wide;
}
