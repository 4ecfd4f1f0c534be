/* Growable bytes: doubling. */
#include "api/numbers/buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define FORMAT_GUESS 128 /* most formatted pieces are shorter and are written once */

void buffer_free(struct buffer *text)
{
    free(text->data);
    *text = (struct buffer){0};
}

void buffer_trim(struct buffer *text)
{
    char *data = text->length > 0 ? realloc(text->data, text->length) : NULL;
    if (!data)
        return;
    text->data = data;
    text->capacity = text->length;
}

char *buffer_reserve(struct buffer *text, size_t more)
{
    if (text->failed)
        return NULL;
    if (text->data && text->capacity - text->length >= more)
        return text->data + text->length;
    size_t capacity = text->capacity < 256 ? 256 : text->capacity;
    while (capacity - text->length < more && capacity <= (size_t)-1 / 2)
        capacity *= 2;
    char *data = capacity - text->length < more ? NULL : realloc(text->data, capacity);
    if (!data) {
        text->failed = true;
        return NULL;
    }
    text->data = data;
    text->capacity = capacity;
    return data + text->length;
}

void buffer_format(struct buffer *text, const char *format, ...)
{
    va_list values;
    va_list again;
    va_start(values, format);
    va_copy(again, values);
    char *room = buffer_reserve(text, FORMAT_GUESS);
    int length = room ? vsnprintf(room, FORMAT_GUESS, format, values) : -1;
    if (length >= FORMAT_GUESS && (room = buffer_reserve(text, (size_t)length + 1)) != NULL)
        vsnprintf(room, (size_t)length + 1, format, again);
    if (room && length >= 0)
        text->length += (size_t)length;
    va_end(again);
    va_end(values);
}
