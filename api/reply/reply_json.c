/* Rows as nested arrays or base64. */
#include "api/reply/reply_json.h"

#include "api/numbers/base64.h"
#include "api/reply/section_rows.h"
#include "api/writing/array.h"

#define USUAL_NUMBER 16 /* bytes of one with its comma */

bool reply_json_prepare(struct reply *r, struct arena *arena, struct error *err)
{
    return skeleton_write(r, arena, err);
}

static bool write_rows(const struct style *style, struct section_rows *source, struct section_span span,
                       struct buffer *out)
{
    const struct section *s = source->section;
    size_t size = dtype_size(s->t.dtype);
    for (size_t row = span.first; row < span.first + span.count; row++) {
        const char *values = section_rows_row(source, row);
        if (!values)
            return false;
        if (span.from == 0)
            array_open(out, &s->t, row);
        else
            buffer_append(out, ",", 1);
        array_numbers(out, style, s->t.dtype, values + span.from * size, span.to - span.from);
        if (span.to == array_width(&s->t))
            array_close(out, &s->t, row);
    }
    return true;
}

/* The bytes behind a span: of the same row when that is cut, else of the next one; NULL: *good says whether there are
 * none. */
static const char *find_next(struct section_rows *source, struct section_span span, bool *good)
{
    const struct section *s = source->section;
    bool cut = span.to < array_width(&s->t);
    size_t row = cut ? span.first : span.first + span.count;
    if (row == array_rows(&s->t))
        return NULL;
    const char *bytes = section_rows_row(source, row);
    *good = bytes != NULL;
    return cut && bytes ? bytes + span.to * dtype_size(s->t.dtype) : bytes;
}

/* Base64 goes by groups of three bytes. A block writes the groups that begin in its rows: it leaves out the first bytes
 * that belong to a group begun before, and borrows from what follows what its last group lacks. */
static bool write_bytes(struct section_rows *source, struct section_span span, struct buffer *out)
{
    const struct section *s = source->section;
    size_t size = dtype_size(s->t.dtype);
    size_t skip = (3 - (span.first * array_width(&s->t) + span.from) * size % 3) % 3;
    struct base64 state = {0};
    bool good = true;
    for (size_t row = span.first; row < span.first + span.count; row++, skip = 0) {
        const char *bytes = section_rows_row(source, row);
        if (!bytes)
            return false;
        base64_append(&state, out, bytes + span.from * size + skip, (span.to - span.from) * size - skip);
    }
    const char *next = state.count > 0 ? find_next(source, span, &good) : NULL;
    if (next)
        base64_append(&state, out, next, 3 - state.count);
    base64_end(&state, out);
    return good;
}

static bool write_section(const struct reply *r, const struct section *s, size_t local, struct buffer *out)
{
    struct section_rows source = {
        .a = reply_attention(r, s), .section = s, .owner = out, .weights = reply_weights(r), .back = &r->back.core};
    struct section_span span = section_block_rows(s, r->a, local);
    const struct style *style = &r->options->style;
    size_t x = (size_t)(s - r->sections.at);
    if (local == 0)
        buffer_append(out, r->skeleton.at[x].before, r->skeleton.at[x].before_length);
    bool good = section_is_packed(s, style) ? write_bytes(&source, span, out) : write_rows(style, &source, span, out);
    section_rows_close(&source);
    if (local + 1 == s->block_count)
        buffer_append(out, r->skeleton.at[x].after, r->skeleton.at[x].after_length);
    return good && !out->failed;
}

/* Room for most replies at once; more comes as it is needed. */
static void reserve(const struct reply *r, struct buffer *out)
{
    size_t room = r->sections.numbers * USUAL_NUMBER;
    for (size_t x = 0; x < r->sections.count; x++)
        room += r->skeleton.at[x].before_length + r->skeleton.at[x].after_length;
    buffer_reserve(out, room);
}

static bool write_whole(const struct reply *r, struct buffer *out)
{
    reserve(r, out);
    for (size_t x = 0; x < r->sections.count; x++)
        for (size_t local = 0; local < r->sections.at[x].block_count; local++)
            if (!write_section(r, &r->sections.at[x], local, out))
                return false;
    return true;
}

/* 0 before there is a skeleton. */
static size_t measure_texts(const struct reply *r, size_t x)
{
    return r->skeleton.at ? r->skeleton.at[x].before_length + r->skeleton.at[x].after_length : 0;
}

static size_t measure_section(const struct reply *r, const struct section *s)
{
    size_t texts = measure_texts(r, (size_t)(s - r->sections.at));
    if (s->source == SECTION_NONE)
        return texts;
    const struct section_span span = section_block_rows(s, r->a, s->block_count - 1);
    size_t rows = s->pieces > 1 ? span.count : section_block_rows(s, r->a, 0).count;
    size_t numbers = rows * (span.to - span.from);
    if (section_is_packed(s, &r->options->style))
        return texts + (numbers * dtype_size(s->t.dtype) + 2) / 3 * 4 + 4;
    return texts + numbers * array_number_room(&r->options->style, s->t.dtype) + rows * 2 * (s->t.rank + 1);
}

/* The first block of a section has the most rows, the last piece of a row the most numbers. */
size_t reply_json_room(const struct reply *r)
{
    size_t most = 0;
    for (size_t x = 0; x < r->sections.count; x++) {
        size_t room = measure_section(r, &r->sections.at[x]);
        most = room > most ? room : most;
    }
    return most;
}

bool reply_json_block(const struct reply *r, size_t index, struct buffer *out)
{
    if (r->whole)
        return write_whole(r, out);
    const struct section *s = reply_section(r, index);
    return write_section(r, s, index - s->first_block, out);
}
