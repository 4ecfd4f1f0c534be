/* Brackets and numbers. Room is reserved once per chunk of numbers, not per number. */
#include "api/writing/array.h"

#include "api/numbers/base64.h"
#include "api/numbers/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define CHUNK 1024
#define SHORTEST_MAX 32 /* bytes of a shortest number, of null, of true and of "-Infinity" */

size_t array_width(const struct tensor *t)
{
    return t->rank > 0 ? t->shape[t->rank - 1] : 1;
}

size_t array_rows(const struct tensor *t)
{
    size_t rows = 1;
    for (size_t a = 0; a + 1 < t->rank; a++)
        rows *= t->shape[a];
    return rows;
}

/* How many axes start at `row`, that of its numbers included. */
static size_t count_starting(const struct tensor *t, size_t row)
{
    size_t starting = t->rank > 0;
    for (size_t a = t->rank > 0 ? t->rank - 1 : 0; a-- > 0 && row % t->shape[a] == 0; row /= t->shape[a])
        starting++;
    return starting;
}

void array_open(struct buffer *out, const struct tensor *t, size_t row)
{
    if (row > 0)
        buffer_append(out, ",", 1);
    for (size_t levels = count_starting(t, row); levels > 0; levels--)
        buffer_append(out, "[", 1);
}

void array_close(struct buffer *out, const struct tensor *t, size_t row)
{
    for (size_t levels = count_starting(t, row + 1); levels > 0; levels--)
        buffer_append(out, "]", 1);
}

size_t array_number_room(const struct style *style, enum dtype dtype)
{
    bool wide = dtype == DTYPE_FLOAT64;
    if (!style->rounded)
        return 1 + (wide ? NUMBER_FLOAT64_MAX : NUMBER_FLOAT32_MAX);
    return 1 + (size_t)style->decimals + (wide ? NUMBER_FLOAT64_WHOLE_MAX : NUMBER_FLOAT32_WHOLE_MAX);
}

static char *put(char *at, const char *word)
{
    size_t length = strlen(word);
    memcpy(at, word, length);
    return at + length;
}

static char *put_special(char *at, const struct style *style, double value)
{
    return put(at, style->infinity_text && value == -HUGE_VAL ? "\"-Infinity\"" : "null");
}

static char *put_float64(char *at, const struct style *style, const double *values, size_t count)
{
    for (size_t x = 0; x < count; x++) {
        at = isfinite(values[x]) ? number_print_float64(at, values[x]) : put_special(at, style, values[x]);
        *at++ = ',';
    }
    return at;
}

static char *put_float32(char *at, const struct style *style, const float *values, size_t count)
{
    for (size_t x = 0; x < count; x++) {
        at = isfinite(values[x]) ? number_print_float32(at, values[x]) : put_special(at, style, (double)values[x]);
        *at++ = ',';
    }
    return at;
}

static char *put_booleans(char *at, const unsigned char *values, size_t count)
{
    for (size_t x = 0; x < count; x++)
        at = put(at, values[x] ? "true," : "false,");
    return at;
}

static char *put_codes(char *at, const int16_t *values, size_t count)
{
    for (size_t x = 0; x < count; x++)
        at += sprintf(at, "%d,", values[x]);
    return at;
}

static char *put_rounded(char *at, const struct style *style, enum dtype dtype, const void *values, size_t count)
{
    for (size_t x = 0; x < count; x++) {
        double value = dtype_get(dtype, values, x);
        at = isfinite(value) ? number_print_rounded(at, value, (int)style->decimals) : put_special(at, style, value);
        *at++ = ',';
    }
    return at;
}

static char *put_chunk(char *at, const struct style *style, enum dtype dtype, const void *values, size_t count)
{
    if (dtype == DTYPE_BOOL)
        return put_booleans(at, values, count);
    if (dtype == DTYPE_INT16)
        return put_codes(at, values, count);
    if (style->rounded)
        return put_rounded(at, style, dtype, values, count);
    return dtype == DTYPE_FLOAT64 ? put_float64(at, style, values, count) : put_float32(at, style, values, count);
}

void array_numbers(struct buffer *out, const struct style *style, enum dtype dtype, const void *values, size_t count)
{
    size_t most = style->rounded ? NUMBER_TEXT_MAX : SHORTEST_MAX;
    for (size_t done = 0; done < count; done += CHUNK) {
        size_t part = count - done < CHUNK ? count - done : CHUNK;
        char *room = buffer_reserve(out, part * (most + 1));
        if (!room)
            return;
        char *end = put_chunk(room, style, dtype, (const char *)values + done * dtype_size(dtype), part);
        out->length += (size_t)(end - room);
    }
    if (count > 0 && !out->failed)
        out->length--; /* the last comma */
}

void array_number(struct writer *w, const struct style *style, enum dtype dtype, double value)
{
    float narrow = (float)value;
    array_numbers(w->out, style, dtype, dtype == DTYPE_FLOAT64 ? (const void *)&value : &narrow, 1);
    w->comma = true;
}

void array_next(struct writer *w, const struct style *style, enum dtype dtype, double value)
{
    if (w->comma)
        buffer_append(w->out, ",", 1);
    array_number(w, style, dtype, value);
}

void array_packed(struct buffer *out, struct tensor t)
{
    buffer_format(out, "{\"dtype\":\"%s\",\"shape\":[", dtype_name(t.dtype));
    for (size_t axis = 0; axis < t.rank; axis++)
        buffer_format(out, axis == 0 ? "%zu" : ",%zu", t.shape[axis]);
    buffer_string(out, "],\"base64\":\"");
}

void array_tensor(struct buffer *out, const struct style *style, struct tensor t)
{
    struct base64 state = {0};
    size_t row_bytes = array_width(&t) * dtype_size(t.dtype);
    if (style->base64) {
        array_packed(out, t);
        base64_append(&state, out, t.data, array_rows(&t) * row_bytes);
        base64_end(&state, out);
        buffer_string(out, "\"}");
        return;
    }
    for (size_t row = 0; row < array_rows(&t); row++) {
        array_open(out, &t, row);
        array_numbers(out, style, t.dtype, (const char *)t.data + row * row_bytes, array_width(&t));
        array_close(out, &t, row);
    }
}
