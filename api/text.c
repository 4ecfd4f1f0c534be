/* Growable bytes: doubling. */
#include "api/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void text_free(struct text *text)
{
    free(text->data);
    *text = (struct text){0};
}

char *text_reserve(struct text *text, size_t more)
{
    if (text->failed)
        return NULL;
    if (text->capacity - text->length >= more)
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

void text_append(struct text *text, const char *bytes, size_t length)
{
    char *room = text_reserve(text, length);
    if (!room || length == 0)
        return;
    memcpy(room, bytes, length);
    text->length += length;
}

void text_string(struct text *text, const char *string)
{
    text_append(text, string, strlen(string));
}

void text_format(struct text *text, const char *format, ...)
{
    va_list values;
    va_list again;
    va_start(values, format);
    va_copy(again, values);
    int length = vsnprintf(NULL, 0, format, values);
    char *room = length < 0 ? NULL : text_reserve(text, (size_t)length + 1);
    if (room) {
        vsnprintf(room, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    }
    va_end(again);
    va_end(values);
}
