/* Rows as nested arrays or base64. */
#include "api/reply/reply_json.h"

#include "api/json/array.h"
#include "api/numbers/base64.h"
#include "api/reply/section_rows.h"

#define USUAL_NUMBER 16 /* bytes of one with its comma */

bool reply_json_prepare(struct reply *r, struct arena *arena, struct error *err)
{
    return skeleton_write(r, arena, err);
}

static bool write_rows(const struct style *style, struct section_rows *source, struct section_span span,
                       struct buffer *out)
{
    const struct section *s = source->section;
    for (size_t row = span.first; row < span.first + span.count; row++) {
        const void *values = section_rows_row(source, row);
        if (!values)
            return false;
        array_open(out, &s->t, row);
        array_numbers(out, style, s->t.dtype, values, array_width(&s->t));
        array_close(out, &s->t, row);
    }
    return true;
}

/* Base64 goes by groups of three bytes. A block writes the groups that begin in its rows: it leaves out the first bytes
 * that belong to a group begun before, and borrows from the next row what its last group lacks. */
static bool write_bytes(struct section_rows *source, struct section_span span, struct buffer *out)
{
    const struct section *s = source->section;
    size_t row_bytes = array_width(&s->t) * dtype_size(s->t.dtype);
    size_t skip = (3 - span.first * row_bytes % 3) % 3;
    struct base64 state = {0};
    size_t row = span.first;
    for (; row < span.first + span.count; row++, skip = 0) {
        const char *bytes = section_rows_row(source, row);
        if (!bytes)
            return false;
        base64_append(&state, out, bytes + skip, row_bytes - skip);
    }
    if (state.count > 0 && row < array_rows(&s->t)) {
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
    struct section_rows source = {
        .a = reply_attention(r, s), .section = s, .weights = reply_weights(r), .back = &r->back.core};
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

static size_t measure_section(const struct reply *r, const struct section *s)
{
    size_t x = (size_t)(s - r->sections.at);
    size_t texts = r->skeleton.at[x].before_length + r->skeleton.at[x].after_length;
    if (s->source == SECTION_NONE)
        return texts;
    size_t rows = section_block_rows(s, r->a, 0).count;
    size_t numbers = rows * array_width(&s->t);
    if (section_is_packed(s, &r->options->style))
        return texts + (numbers * dtype_size(s->t.dtype) + 2) / 3 * 4 + 4;
    return texts + numbers * array_number_room(&r->options->style, s->t.dtype) + rows * 2 * (s->t.rank + 1);
}

/* The first block of a section has the most rows. */
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
