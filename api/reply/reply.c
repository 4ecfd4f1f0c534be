/* Pricing, computing, and encoding blocks of rows. */
#include "api/reply/reply.h"

#include "api/json/array.h"
#include "api/numbers/base64.h"
#include "api/reply/section_rows.h"
#include "api/reply/skeleton.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define NUMBERS_PER_BLOCK 16384

/* --- price --- */

/* What this item of `include` asks for in all: "steps" is many arrays. */
static size_t count_item(const struct reply *r, const char *item)
{
    char other[64];
    size_t sum = 0;
    for (size_t s = 0; s < r->sections.count; s++) {
        const struct section *section = &r->sections.at[s];
        if (strcmp(section_item(section, &r->options->include, other, sizeof other), item) == 0)
            sum = section->numbers > SIZE_MAX - sum ? SIZE_MAX : sum + section->numbers;
    }
    return sum;
}

/* The item of `include` that asks for the most numbers. */
static size_t find_largest(const struct reply *r, char *item, size_t size)
{
    char other[64];
    size_t largest = 0;
    for (size_t s = 0; s < r->sections.count; s++) {
        size_t numbers = count_item(r, section_item(&r->sections.at[s], &r->options->include, other, sizeof other));
        if (numbers <= largest)
            continue;
        largest = numbers;
        snprintf(item, size, "%s", other);
    }
    return largest;
}

static bool check_reply_size(const struct reply *r, const struct request_limits *limits, struct error *err)
{
    char item[64] = "";
    if (r->sections.numbers <= limits->reply_elements)
        return true;
    size_t largest = find_largest(r, item, sizeof item);
    return error_set(
        err, ERROR_TOO_LARGE, "include",
        "The reply would hold %zu numbers; the limit is %zu (--max-reply-elements). Leave %s out of include: it "
        "has %zu.",
        r->sections.numbers, limits->reply_elements, item, largest);
}

/* What stays in memory while the reply is made, counted in double: no product of sizes overflows it. */
static bool check_computed_size(const struct reply *r, const struct request_limits *limits, struct error *err)
{
    const struct attention *a = r->a;
    double rows = (double)a->batch * (double)a->queries;
    double keys = (double)a->batch * (double)a->kv_heads * (double)a->keys;
    double numbers = rows * (double)a->heads * (double)a->d_v;
    if (a->request->w_o.data)
        numbers += rows * (double)a->d_out;
    if (a->request->x.data || a->request->rope.on)
        numbers += rows * (double)a->heads * (double)a->d_k;
    if (a->request->x.data || a->request->rope.on || a->past > 0)
        numbers += keys * (double)(a->d_k + a->d_v);
    return numbers <= (double)limits->elements ||
           error_set(
               err, ERROR_TOO_LARGE, "",
               "The output and what it is computed from would hold %.0f numbers; the limit is %zu (--max-elements).",
               numbers, limits->elements);
}

bool reply_plan(struct reply *r, const struct options *options, const struct attention *a,
                const struct request_limits *limits, struct error *err)
{
    size_t whole_max = limits->whole_elements ? limits->whole_elements : REPLY_WHOLE_MAX;
    r->options = options;
    r->a = a;
    section_plan(&r->sections, options, a);
    r->whole = r->sections.numbers <= whole_max;
    return check_reply_size(r, limits, err) && check_computed_size(r, limits, err);
}

/* --- compute --- */

static bool make_room(struct reply *r, enum quantity quantity, struct arena *arena, struct error *err)
{
    size_t size = quantity == QUANTITY_ALLOWED ? 1 : dtype_size(r->a->dtype);
    if (!r->results.of[quantity])
        r->results.of[quantity] = arena_calloc(arena, attention_count(r->a, quantity), size, err);
    return r->results.of[quantity] != NULL;
}

static enum quantity terms_weights(const struct attention *a)
{
    return attention_lacks(a, QUANTITY_DROPPED) ? QUANTITY_WEIGHTS : QUANTITY_DROPPED;
}

static bool make_rooms(struct reply *r, struct arena *arena, struct error *err)
{
    bool good = make_room(r, QUANTITY_OUTPUT, arena, err);
    for (size_t x = 0; good && x < r->sections.count; x++) {
        struct section *s = &r->sections.at[x];
        if (s->quantity == QUANTITY_COUNT)
            continue;
        if (s->source == SECTION_BLOCKS && r->whole)
            s->source = SECTION_VIEW;
        if (s->source == SECTION_VIEW)
            good = make_room(r, s->quantity, arena, err);
        if (s->quantity == QUANTITY_CONTRIBUTIONS && r->whole)
            good = make_room(r, terms_weights(r->a), arena, err);
    }
    return good;
}

static bool project(struct reply *r, struct pool *pool, struct arena *arena, struct error *err)
{
    const struct attention *a = r->a;
    r->output = r->results.of[QUANTITY_OUTPUT];
    if (!a->request->w_o.data)
        return true;
    size_t rows = a->batch * a->queries;
    r->output = arena_calloc(arena, rows * a->d_out, dtype_size(a->dtype), err);
    return r->output && attention_project_output(a, r->results.of[QUANTITY_OUTPUT], r->output, pool, err);
}

/* The view without the axes that the reply has not. */
static void bind_operand(const struct attention *a, struct section *s, struct tensor view)
{
    size_t at = 0;
    for (size_t axis = 0; axis < 4; axis++)
        if (axis > 1 || (axis == 0 && a->has_batch) || (axis == 1 && a->has_heads))
            s->t.stride[at++] = view.stride[axis];
    s->t.data = view.data;
}

static void bind(const struct reply *r, struct section *s)
{
    const struct attention *a = r->a;
    if (s->source != SECTION_VIEW)
        return;
    if (s->quantity == QUANTITY_OUTPUT)
        s->t.data = r->output;
    else if (s->quantity != QUANTITY_COUNT)
        s->t.data = r->results.of[s->quantity];
    else
        bind_operand(a, s, s->name[0] == 'q' ? a->q : s->name[0] == 'k' ? a->k : a->v);
}

/* --- blocks --- */

/* Core blocks that make one block of ours: three where bytes are grouped by three, so that a group rarely straddles
 * two. */
static size_t stride_of(const struct reply *r, const struct section *s)
{
    return section_is_packed(s, &r->options->style) ? 3 : 1;
}

static size_t first_row_of_core_block(const struct attention *a, size_t block)
{
    if (block >= attention_blocks(a))
        return a->batch * a->heads * a->queries;
    struct attention_rows at = attention_block(a, block);
    return (at.b * a->heads + at.h) * a->queries + at.first;
}

static void count_blocks(struct reply *r, struct section *s)
{
    size_t stride = stride_of(r, s);
    s->first_block = r->blocks;
    s->block_count = 1;
    if (s->source == SECTION_BLOCKS)
        s->block_count = (attention_blocks(r->a) + stride - 1) / stride;
    if (s->source == SECTION_VIEW || s->source == SECTION_TERMS) {
        size_t unit = s->source == SECTION_TERMS ? r->a->keys : 1;
        size_t units = NUMBERS_PER_BLOCK / array_width(s->t) / unit;
        s->rows_per_block = (units > 0 ? units : 1) * unit;
        s->block_count = (array_rows(s->t) + s->rows_per_block - 1) / s->rows_per_block;
    }
    r->blocks += s->block_count;
}

bool reply_compute(struct reply *r, struct pool *pool, const atomic_bool *cancel, struct arena *arena,
                   struct error *err)
{
    if (!make_rooms(r, arena, err) || !attention_run(r->a, &r->results, pool, cancel, arena, err) ||
        !project(r, pool, arena, err))
        return false;
    for (size_t x = 0; x < r->sections.count; x++) {
        bind(r, &r->sections.at[x]);
        count_blocks(r, &r->sections.at[x]);
    }
    if (r->whole)
        r->blocks = 1;
    if (r->options->readout_tokens.values && !readout_compute(&r->readout, r->options, r->a, r->output, arena, err))
        return false;
    return skeleton_write(&r->sections, r->options, r->a, &r->readout, arena, err);
}

/* --- encoding --- */

/* Rows first, first + 1, .. of a section that block `local` of it has. */
struct span {
    size_t first, count;
};

static struct span rows_of(const struct reply *r, const struct section *s, size_t local)
{
    size_t stride = stride_of(r, s);
    if (s->source == SECTION_NONE)
        return (struct span){0, 0};
    if (s->source == SECTION_BLOCKS) {
        size_t first = first_row_of_core_block(r->a, local * stride);
        return (struct span){first, first_row_of_core_block(r->a, (local + 1) * stride) - first};
    }
    size_t first = local * s->rows_per_block;
    size_t left = array_rows(s->t) - first;
    return (struct span){first, left < s->rows_per_block ? left : s->rows_per_block};
}

static bool write_rows(const struct reply *r, struct section_rows *source, struct span span, struct buffer *out)
{
    const struct section *s = source->section;
    for (size_t row = span.first; row < span.first + span.count; row++) {
        const void *values = section_rows_row(source, row);
        if (!values)
            return false;
        array_open(out, s->t, row);
        array_numbers(out, &r->options->style, s->t.dtype, values, array_width(s->t));
        array_close(out, s->t, row);
    }
    return true;
}

/* Base64 goes by groups of three bytes. A block writes the groups that begin in its rows: it leaves out the first bytes
 * that belong to a group begun before, and borrows from the next row what its last group lacks. */
static bool write_bytes(struct section_rows *source, struct span span, struct buffer *out)
{
    const struct section *s = source->section;
    size_t row_bytes = array_width(s->t) * dtype_size(s->t.dtype);
    size_t skip = (3 - span.first * row_bytes % 3) % 3;
    struct base64 state = {0};
    size_t row = span.first;
    for (; row < span.first + span.count; row++, skip = 0) {
        const char *bytes = section_rows_row(source, row);
        if (!bytes)
            return false;
        base64_append(&state, out, bytes + skip, row_bytes - skip);
    }
    if (state.count > 0 && row < array_rows(s->t)) {
        const void *next = section_rows_row(source, row);
        if (!next)
            return false;
        base64_append(&state, out, next, 3 - state.count);
    }
    base64_end(&state, out);
    return true;
}

static bool write_section(const struct reply *r, const struct section *s, size_t local, struct buffer *out)
{
    struct section_rows source = {.a = r->a, .section = s, .weights = r->results.of[terms_weights(r->a)]};
    struct span span = rows_of(r, s, local);
    if (local == 0)
        buffer_append(out, s->lead, s->lead_length);
    bool good =
        section_is_packed(s, &r->options->style) ? write_bytes(&source, span, out) : write_rows(r, &source, span, out);
    section_rows_close(&source);
    if (local + 1 == s->block_count)
        buffer_append(out, s->trail, s->trail_length);
    return good && !out->failed;
}

static bool write_whole(const struct reply *r, struct buffer *out)
{
    for (size_t x = 0; x < r->sections.count; x++)
        for (size_t local = 0; local < r->sections.at[x].block_count; local++)
            if (!write_section(r, &r->sections.at[x], local, out))
                return false;
    return true;
}

bool reply_block(const struct reply *r, size_t index, struct buffer *out)
{
    const struct section *s = r->sections.at;
    if (r->whole)
        return write_whole(r, out);
    while (index >= s->first_block + s->block_count)
        s++;
    return write_section(r, s, index - s->first_block, out);
}
