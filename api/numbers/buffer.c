/* Growable bytes: doubling, up to the maximum. */
#include "api/numbers/buffer.h"

#include "core/tensor/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define CAPACITY_LEAST 256
#define FORMAT_GUESS 128 /* most formatted pieces are shorter and are written once */

/* Stands in the ARENA_ALIGNMENT bytes before each block that is lent. */
struct loan {
    _Alignas(ARENA_ALIGNMENT) size_t bytes; /* the block and this */
};

void buffer_free(struct buffer *text)
{
    free(text->data);
    *text = buffer_new(text->most);
}

bool buffer_check(const struct buffer *text, const char *what, struct error *err)
{
    if (text->full)
        return error_set(err, ERROR_TOO_LARGE, "",
                         "%s takes more than the %zu bytes that this request has left for it (--request-memory).", what,
                         text->most);
    return !text->failed || error_set(err, ERROR_MEMORY, "", "There is no memory for %s.", what);
}

void buffer_trim(struct buffer *text)
{
    char *data = text->length > 0 ? realloc(text->data, text->length) : NULL;
    if (!data)
        return;
    text->data = data;
    text->capacity = text->length;
}

size_t buffer_room(const struct buffer *text)
{
    return text->most - text->lent - text->length;
}

static void *refuse(struct buffer *text, bool full)
{
    text->failed = true;
    text->full = full;
    return NULL;
}

/* At least `wanted`, which the maximum allows. */
static size_t choose_capacity(const struct buffer *text, size_t wanted)
{
    size_t most = text->most - text->lent;
    size_t capacity = text->capacity < CAPACITY_LEAST ? CAPACITY_LEAST : text->capacity;
    while (capacity < wanted && capacity <= most / 2)
        capacity *= 2;
    return capacity < wanted || capacity > most ? most : capacity;
}

char *buffer_reserve(struct buffer *text, size_t more)
{
    if (text->failed)
        return NULL;
    if (text->data && text->capacity - text->length >= more)
        return text->data + text->length;
    if (more > buffer_room(text))
        return refuse(text, true);
    size_t capacity = choose_capacity(text, text->length + more);
    char *data = realloc(text->data, capacity);
    if (!data)
        return refuse(text, false);
    text->data = data;
    text->capacity = capacity;
    return data + text->length;
}

/* For a block of this size and what stands before it. */
static bool has_room(const struct buffer *text, size_t size)
{
    size_t room = text->most - text->lent - text->capacity;
    return size <= room && room - size >= sizeof(struct loan) + ARENA_ALIGNMENT;
}

void *buffer_lend(struct buffer *text, size_t size)
{
    if (text->failed)
        return NULL;
    if (!has_room(text, size))
        buffer_trim(text);
    if (!has_room(text, size))
        return refuse(text, true);
    size_t bytes = sizeof(struct loan) + (size + ARENA_ALIGNMENT - 1) / ARENA_ALIGNMENT * ARENA_ALIGNMENT;
    struct loan *loan = aligned_alloc(ARENA_ALIGNMENT, bytes);
    if (!loan)
        return refuse(text, false);
    loan->bytes = bytes;
    text->lent += bytes;
    return loan + 1;
}

void buffer_take_back(struct buffer *text, void *block)
{
    if (!block)
        return;
    struct loan *loan = (struct loan *)block - 1;
    text->lent -= loan->bytes;
    free(loan);
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
