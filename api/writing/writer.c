/* JSON text, a token at a time. */
#include "api/writing/writer.h"

#include "api/numbers/number.h"

#include <math.h>
#include <string.h>

static void separate(struct writer *w)
{
    if (w->comma)
        buffer_append(w->out, ",", 1);
    w->comma = true;
}

static void open_with(struct writer *w, const char *bracket)
{
    separate(w);
    buffer_append(w->out, bracket, 1);
    w->comma = false;
}

static void close_with(struct writer *w, const char *bracket)
{
    buffer_append(w->out, bracket, 1);
    w->comma = true;
}

void writer_object_begin(struct writer *w)
{
    open_with(w, "{");
}

void writer_object_end(struct writer *w)
{
    close_with(w, "}");
}

void writer_array_begin(struct writer *w)
{
    open_with(w, "[");
}

void writer_array_end(struct writer *w)
{
    close_with(w, "]");
}

/* Names of members are ours: nothing in them needs an escape. */
void writer_key(struct writer *w, const char *name)
{
    size_t length = strlen(name);
    char *at = buffer_reserve(w->out, length + 4);
    if (at) {
        if (w->comma)
            *at++ = ',';
        *at++ = '"';
        memcpy(at, name, length);
        memcpy(at + length, "\":", 2);
        w->out->length = (size_t)(at + length + 2 - w->out->data);
    }
    w->comma = false;
}

static void escape(struct buffer *out, unsigned char c)
{
    const char *from = "\"\\\b\f\n\r\t";
    const char *to = "\"\\bfnrt";
    const char *found = strchr(from, c);
    if (c != 0 && found)
        buffer_format(out, "\\%c", to[found - from]);
    else
        buffer_format(out, "\\u%04x", c);
}

void writer_string_n(struct writer *w, const char *bytes, size_t length)
{
    separate(w);
    buffer_append(w->out, "\"", 1);
    size_t plain = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (c >= 0x20 && c != '"' && c != '\\' && c != 0x7f)
            continue;
        buffer_append(w->out, bytes + plain, i - plain);
        escape(w->out, c);
        plain = i + 1;
    }
    buffer_append(w->out, bytes + plain, length - plain);
    buffer_append(w->out, "\"", 1);
}

void writer_string(struct writer *w, const char *string)
{
    writer_string_n(w, string, strlen(string));
}

void writer_integer(struct writer *w, int64_t value)
{
    char digits[24];
    char *at = digits + sizeof digits;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do
        *--at = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    if (value < 0)
        *--at = '-';
    separate(w);
    buffer_append(w->out, at, (size_t)(digits + sizeof digits - at));
}

void writer_real(struct writer *w, double value)
{
    if (!isfinite(value)) {
        writer_null(w);
        return;
    }
    separate(w);
    char *room = buffer_reserve(w->out, NUMBER_TEXT_MAX);
    if (room)
        w->out->length += (size_t)(number_print_float64(room, value) - room);
}

void writer_bool(struct writer *w, bool value)
{
    separate(w);
    buffer_string(w->out, value ? "true" : "false");
}

void writer_null(struct writer *w)
{
    separate(w);
    buffer_string(w->out, "null");
}

void writer_raw(struct writer *w, const char *json, size_t length)
{
    separate(w);
    buffer_append(w->out, json, length);
}

void writer_member_string(struct writer *w, const char *name, const char *string)
{
    writer_key(w, name);
    writer_string(w, string);
}

void writer_member_integer(struct writer *w, const char *name, int64_t value)
{
    writer_key(w, name);
    writer_integer(w, value);
}

void writer_member_real(struct writer *w, const char *name, double value)
{
    writer_key(w, name);
    writer_real(w, value);
}

void writer_member_bool(struct writer *w, const char *name, bool value)
{
    writer_key(w, name);
    writer_bool(w, value);
}
