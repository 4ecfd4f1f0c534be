/* Growable bytes: doubling. */
#include "api/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define FORMAT_GUESS 128 /* most formatted pieces are shorter and are written once */

void text_free(struct text *text)
{
    free(text->data);
    *text = (struct text){0};
}

char *text_reserve(struct text *text, size_t more)
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

void text_format(struct text *text, const char *format, ...)
{
    va_list values;
    va_list again;
    va_start(values, format);
    va_copy(again, values);
    char *room = text_reserve(text, FORMAT_GUESS);
    int length = room ? vsnprintf(room, FORMAT_GUESS, format, values) : -1;
    if (length >= FORMAT_GUESS && (room = text_reserve(text, (size_t)length + 1)) != NULL)
        vsnprintf(room, (size_t)length + 1, format, again);
    if (room && length >= 0)
        text->length += (size_t)length;
    va_end(again);
    va_end(values);
}
