/* Rows of sections as bytes. */
#include "api/raw/raw_reply.h"

#include "api/reply/section_rows.h"

#define PIECE_BYTES ((size_t)1024 * 1024) /* of a tensor that lies in memory: what one block sends, or packs */

bool raw_reply_is_tensor(const struct section *s)
{
    return s->result && s->source != SECTION_NONE;
}

size_t raw_reply_bytes(const struct section *s, enum dtype dtype)
{
    return s->numbers * dtype_size(dtype);
}

/* Known before it is computed: operands may be views with holes, the rest is dense. */
static bool lies_in_memory(const struct section *s, enum dtype dtype)
{
    return s->source == SECTION_VIEW && s->t.dtype == dtype &&
           (s->result->quantity != QUANTITY_COUNT || s->result->gradient != GRADIENT_COUNT);
}

const void *raw_reply_view(const struct section *s, enum dtype dtype, size_t local, size_t *bytes)
{
    size_t first = local * PIECE_BYTES;
    size_t rest = raw_reply_bytes(s, dtype) - first;
    *bytes = rest < PIECE_BYTES ? rest : PIECE_BYTES;
    return lies_in_memory(s, dtype) ? (const char *)s->t.data + first : NULL;
}

size_t raw_reply_blocks(const struct section *s, enum dtype dtype)
{
    size_t bytes = raw_reply_bytes(s, dtype);
    return lies_in_memory(s, dtype) ? bytes / PIECE_BYTES + (bytes % PIECE_BYTES != 0) : s->block_count;
}

/* The first block of a section has the most rows, the last piece of a row the most numbers. */
size_t raw_reply_room(const struct reply *r, const struct section *s, enum dtype dtype)
{
    if (lies_in_memory(s, dtype))
        return raw_reply_bytes(s, dtype) < PIECE_BYTES ? raw_reply_bytes(s, dtype) : PIECE_BYTES;
    struct section_span first = section_block_rows(s, r->a, 0);
    struct section_span last = section_block_rows(s, r->a, s->block_count - 1);
    return first.count * (last.to - last.from) * dtype_size(dtype);
}

static void append_as(struct buffer *out, enum dtype from, enum dtype to, const void *values, size_t count)
{
    size_t bytes = count * dtype_size(to);
    if (from == to) {
        buffer_append(out, values, bytes);
        return;
    }
    for (size_t x = 0; x < count; x++) {
        _Alignas(double) char rounded[sizeof(double)];
        dtype_set(to, rounded, 0, dtype_get(from, values, x));
        buffer_append(out, rounded, dtype_size(to));
    }
}

static bool write_rows(struct section_rows *source, struct section_span span, enum dtype dtype, struct buffer *out)
{
    const struct section *s = source->section;
    size_t size = dtype_size(s->t.dtype);
    for (size_t row = span.first; row < span.first + span.count; row++) {
        const char *values = section_rows_row(source, row);
        if (!values)
            return false;
        append_as(out, s->t.dtype, dtype, values + span.from * size, span.to - span.from);
    }
    return !out->failed;
}

bool raw_reply_block(const struct reply *r, const struct section *s, enum dtype dtype, size_t local, struct buffer *out)
{
    struct section_rows source = {
        .a = reply_attention(r, s), .section = s, .owner = out, .weights = reply_weights(r), .back = &r->back.core};
    size_t bytes;
    const char *view = raw_reply_view(s, dtype, local, &bytes);
    if (view) {
        buffer_append(out, view, bytes);
        return !out->failed;
    }
    struct section_span span = section_block_rows(s, r->a, local);
    bool good = section_rows_row(&source, span.first) && /* before room for the rows is taken */
                buffer_reserve(out, raw_reply_room(r, s, dtype)) && write_rows(&source, span, dtype, out);
    section_rows_close(&source);
    return good;
}
