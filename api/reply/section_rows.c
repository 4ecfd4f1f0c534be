/* Fetching rows. */
#include "api/reply/section_rows.h"

#include "api/writing/array.h"

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

/* --- room --- */

/* Of a block computed again: scratch, and the rows that it shows. */
struct rooms {
    size_t scratch, block, terms, decoded;
};

static size_t align(size_t bytes)
{
    return (bytes + ARENA_ALIGNMENT - 1) / ARENA_ALIGNMENT * ARENA_ALIGNMENT;
}

static bool is_jacobian(const struct section *s)
{
    return s->source == SECTION_BACK_TERMS && s->result->gradient == GRADIENT_JACOBIAN;
}

/* Do the rows of core's blocks have to be computed again? */
static bool needs_block(const struct section_rows *s)
{
    const struct section *section = s->section;
    if (section->source == SECTION_TERMS)
        return section->result->quantity == QUANTITY_CONTRIBUTIONS && !s->weights;
    return section->source != SECTION_NONE && section->source != SECTION_VIEW && !is_jacobian(section);
}

static size_t scratch_size(const struct section_rows *s)
{
    if (is_jacobian(s->section))
        return align(backward_jacobian_scratch(s->back));
    if (!needs_block(s))
        return 0;
    bool back = s->section->source == SECTION_BACK_BLOCKS || s->section->source == SECTION_BACK_TERMS;
    return align(back ? backward_block_scratch(s->back) : attention_block_scratch(s->a));
}

static struct rooms measure(const struct section_rows *s)
{
    const struct section *section = s->section;
    bool terms = section->source == SECTION_TERMS || section->source == SECTION_BACK_TERMS;
    size_t row = s->a->keys * dtype_size(terms ? s->a->dtype : section->t.dtype);
    struct rooms rooms = {.scratch = scratch_size(s)};
    if (needs_block(s))
        rooms.block = align(attention_block(s->a, 0).count * row);
    if (terms)
        rooms.terms = align(section_terms_keys(section, s->a) * array_width(&section->t) * dtype_size(s->a->dtype));
    rooms.decoded = attention_keys_room(s->a, 1) + attention_values_room(s->a, 1);
    return rooms;
}

size_t section_rows_room(const struct section_rows *s)
{
    struct rooms rooms = measure(s);
    return align(rooms.scratch + rooms.block + rooms.terms + rooms.decoded);
}

static bool make_room(struct section_rows *s)
{
    struct rooms rooms = measure(s);
    if (s->room)
        return true;
    s->room = buffer_lend(s->owner, section_rows_room(s));
    if (!s->room)
        return false;
    s->block = s->room + rooms.scratch;
    s->terms = s->block + rooms.block;
    s->decoded = s->terms + rooms.terms;
    return true;
}

/* --- blocks --- */

/* Row `query` of an [n][m] quantity or gradient, whose block is there. */
static const void *find_row(const struct section_rows *s, enum dtype dtype, size_t query)
{
    return s->block + (query - first_query(s->a, s->at)) * s->a->keys * dtype_size(dtype);
}

/* Which block to compute so that `query` is there; false: it is. */
static bool moves_to(struct section_rows *s, size_t query, size_t *block)
{
    if (s->at.count > 0 && query >= first_query(s->a, s->at) && query < first_query(s->a, s->at) + s->at.count)
        return false;
    *block = section_rows_block(s->a, query);
    s->at = attention_block(s->a, *block);
    return true;
}

static const void *block_row(struct section_rows *s, enum quantity quantity, enum dtype dtype, size_t query)
{
    size_t block;
    if (!make_room(s))
        return NULL;
    if (moves_to(s, query, &block)) {
        struct attention_results results = {.of = {0}};
        results.of[quantity] = s->block;
        attention_block_run(s->a, block, &results, s->room);
    }
    return find_row(s, dtype, query);
}

static const void *back_row(struct section_rows *s, enum gradient gradient, size_t query)
{
    size_t block;
    if (!make_room(s))
        return NULL;
    if (moves_to(s, query, &block)) {
        struct backward_results results = {.of = {0}};
        results.of[gradient] = s->block;
        backward_block_run(s->back, block, &results, s->room);
    }
    return find_row(s, s->a->dtype, query);
}

static const void *computed_row(struct section_rows *s, size_t row)
{
    return block_row(s, s->section->result->quantity, s->section->t.dtype, row);
}

static const void *back_block_row(struct section_rows *s, size_t row)
{
    return back_row(s, s->section->result->gradient, row);
}

/* --- terms --- */

static const void *weights_row(struct section_rows *s, size_t query)
{
    const struct attention *a = s->a;
    enum quantity quantity = attention_lacks(a, QUANTITY_DROPPED) ? QUANTITY_WEIGHTS : QUANTITY_DROPPED;
    if (s->weights)
        return (const char *)s->weights + query * a->keys * dtype_size(a->dtype);
    return block_row(s, quantity, a->dtype, query);
}

static void compute_terms(struct section_rows *s, size_t query)
{
    if (s->section->result->quantity == QUANTITY_CONTRIBUTIONS)
        attention_contributions(s->a, s->kept, weights_row(s, query), s->terms, s->decoded);
    else
        attention_products(s->a, s->kept, s->terms, s->decoded);
}

static void compute_back_terms(struct section_rows *s, size_t query)
{
    if (is_jacobian(s->section))
        backward_jacobian(s->back, s->kept, s->terms, s->room);
    else
        backward_products(s->a, s->kept, back_row(s, GRADIENT_SCORES, query), s->terms);
}

/* Row `row` of [b][h][n][m]: key row % m of query row / m. */
static bool keeps(const struct section_rows *s, size_t row)
{
    const struct attention *a = s->a;
    size_t first = ((s->kept.b * a->heads + s->kept.h) * a->queries + s->kept.i) * a->keys + s->kept.first;
    return s->kept.count > 0 && row >= first && row < first + s->kept.count;
}

static const void *terms_row(struct section_rows *s, size_t row)
{
    const struct attention *a = s->a;
    size_t query = row / a->keys;
    size_t key = row % a->keys;
    size_t most = section_terms_keys(s->section, a);
    if (!make_room(s))
        return NULL;
    if (!keeps(s, row)) {
        s->kept = (struct attention_terms){query / a->queries / a->heads, query / a->queries % a->heads,
                                           query % a->queries, key, a->keys - key < most ? a->keys - key : most};
        (s->section->source == SECTION_TERMS ? compute_terms : compute_back_terms)(s, query);
    }
    return s->terms + (key - s->kept.first) * array_width(&s->section->t) * dtype_size(a->dtype);
}

/* --- what is in memory, or decoded --- */

/* Row `row` of [b][g][m] of keys or values that are decoded by tiles. */
static const void *decoded_row(struct section_rows *s, size_t row)
{
    const struct attention *a = s->a;
    enum result_id id = s->section->id;
    bool of_keys = id == RESULT_INPUTS_K || id == RESULT_QUANTIZED_K_DEQUANTIZED;
    const struct attention_span span = {row / a->keys / a->kv_heads, row / a->keys % a->kv_heads, row % a->keys, 1};
    if (!make_room(s))
        return NULL;
    return of_keys ? attention_keys(a, span, s->decoded) : attention_values(a, span, s->decoded);
}

/* A row of the strided view. */
static const void *stored_row(struct section_rows *r, size_t row)
{
    const struct section *s = r->section;
    size_t offset = 0;
    if (!s->t.data)
        return decoded_row(r, row);
    for (size_t a = s->t.rank > 0 ? s->t.rank - 1 : 0; a-- > 0; row /= s->t.shape[a])
        offset += row % s->t.shape[a] * s->t.stride[a];
    return (const char *)s->t.data + offset * dtype_size(s->t.dtype);
}

const void *section_rows_row(struct section_rows *s, size_t row)
{
    static const void *(*const rows[])(struct section_rows * s, size_t row) = {
        [SECTION_VIEW] = stored_row,      [SECTION_BLOCKS] = computed_row,
        [SECTION_TERMS] = terms_row,      [SECTION_BACK_BLOCKS] = back_block_row,
        [SECTION_BACK_TERMS] = terms_row,
    };
    return rows[s->section->source](s, row);
}

void section_rows_close(struct section_rows *s)
{
    buffer_take_back(s->owner, s->room);
    s->room = NULL;
    s->at.count = 0;
    s->kept.count = 0;
}
