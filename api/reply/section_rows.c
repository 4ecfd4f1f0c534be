/* Fetching rows. */
#include "api/reply/section_rows.h"

#include "api/json/array.h"

#include <stdlib.h>

static size_t first_query(const struct attention *a, struct attention_rows at)
{
    return (at.b * a->heads + at.h) * a->queries + at.first;
}

size_t section_rows_block(const struct attention *a, size_t query)
{
    size_t low = 0;
    size_t high = attention_blocks(a);
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (first_query(a, attention_block(a, middle)) <= query)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Row `query` of an [n][m] quantity, by way of its block. */
static const void *block_row(struct section_rows *s, enum quantity quantity, enum dtype dtype, size_t query)
{
    const struct attention *a = s->a;
    size_t bytes = attention_width(a, quantity) * dtype_size(dtype);
    if (!s->block || query < first_query(a, s->at) || query >= first_query(a, s->at) + s->at.count) {
        size_t block = section_rows_block(a, query);
        struct attention_results results = {.of = {0}};
        section_rows_close(s);
        s->at = attention_block(a, block);
        s->block = malloc(s->at.count * bytes);
        results.of[quantity] = s->block;
        if (!s->block || !attention_block_run(a, block, &results))
            return NULL;
    }
    return (const char *)s->block + (query - first_query(a, s->at)) * bytes;
}

static const void *weights_row(struct section_rows *s, size_t query)
{
    const struct attention *a = s->a;
    enum quantity quantity = attention_lacks(a, QUANTITY_DROPPED) ? QUANTITY_WEIGHTS : QUANTITY_DROPPED;
    if (s->weights)
        return (const char *)s->weights + query * a->keys * dtype_size(a->dtype);
    return block_row(s, quantity, a->dtype, query);
}

static bool compute_terms(struct section_rows *s, size_t query)
{
    const struct attention *a = s->a;
    size_t h = query / a->queries % a->heads;
    size_t b = query / a->queries / a->heads;
    const void *weights = NULL;
    if (s->section->result->quantity == QUANTITY_CONTRIBUTIONS && !(weights = weights_row(s, query)))
        return false;
    if (!s->terms)
        s->terms = malloc(a->keys * array_width(&s->section->t) * dtype_size(a->dtype));
    if (!s->terms)
        return false;
    if (weights)
        attention_contributions(a, b, h, weights, s->terms);
    else
        attention_products(a, b, h, query % a->queries, s->terms);
    return true;
}

static const void *terms_row(struct section_rows *s, size_t row)
{
    const struct attention *a = s->a;
    size_t query = row / a->keys;
    if ((!s->terms || s->query != query) && !compute_terms(s, query))
        return NULL;
    s->query = query;
    return (const char *)s->terms + row % a->keys * array_width(&s->section->t) * dtype_size(a->dtype);
}

/* Row `query` of an [n][m] gradient, by way of its block. */
static const void *back_row(struct section_rows *s, enum gradient gradient, size_t query)
{
    const struct attention *a = s->a;
    size_t bytes = a->keys * dtype_size(a->dtype);
    if (!s->block || query < first_query(a, s->at) || query >= first_query(a, s->at) + s->at.count) {
        size_t block = section_rows_block(a, query);
        struct backward_results results = {.of = {0}};
        section_rows_close(s);
        s->at = attention_block(a, block);
        s->block = malloc(s->at.count * bytes);
        results.of[gradient] = s->block;
        if (!s->block || !backward_block_run(s->back, block, &results))
            return NULL;
    }
    return (const char *)s->block + (query - first_query(a, s->at)) * bytes;
}

static const void *back_block_row(struct section_rows *s, size_t row)
{
    return back_row(s, s->section->result->gradient, row);
}

static bool compute_back_terms(struct section_rows *s, size_t query)
{
    const struct attention *a = s->a;
    size_t head = query / a->queries;
    const void *scores = NULL;
    if (s->section->result->gradient == GRADIENT_PRODUCTS && !(scores = back_row(s, GRADIENT_SCORES, query)))
        return false;
    if (!s->terms)
        s->terms = malloc(a->keys * array_width(&s->section->t) * dtype_size(a->dtype));
    if (!s->terms)
        return false;
    if (!scores)
        return backward_jacobian(s->back, head / a->heads, head % a->heads, query % a->queries, s->terms);
    backward_products(a, scores, s->terms);
    return true;
}

static const void *back_terms_row(struct section_rows *s, size_t row)
{
    const struct attention *a = s->a;
    size_t query = row / a->keys;
    if ((!s->terms || s->query != query) && !compute_back_terms(s, query))
        return NULL;
    s->query = query;
    return (const char *)s->terms + row % a->keys * array_width(&s->section->t) * dtype_size(a->dtype);
}

/* A row of the strided view. */
static const void *stored_row(struct section_rows *r, size_t row)
{
    const struct section *s = r->section;
    size_t offset = 0;
    for (size_t a = s->t.rank > 0 ? s->t.rank - 1 : 0; a-- > 0; row /= s->t.shape[a])
        offset += row % s->t.shape[a] * s->t.stride[a];
    return (const char *)s->t.data + offset * dtype_size(s->t.dtype);
}

static const void *computed_row(struct section_rows *s, size_t row)
{
    return block_row(s, s->section->result->quantity, s->section->t.dtype, row);
}

const void *section_rows_row(struct section_rows *s, size_t row)
{
    static const void *(*const rows[])(struct section_rows * s, size_t row) = {
        [SECTION_VIEW] = stored_row,           [SECTION_BLOCKS] = computed_row,
        [SECTION_TERMS] = terms_row,           [SECTION_BACK_BLOCKS] = back_block_row,
        [SECTION_BACK_TERMS] = back_terms_row,
    };
    return rows[s->section->source](s, row);
}

void section_rows_close(struct section_rows *s)
{
    free(s->block);
    free(s->terms);
    s->block = NULL;
    s->terms = NULL;
}
