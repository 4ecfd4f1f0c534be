/* Growable bytes, with a maximum from the start. */
#ifndef API_NUMBERS_BUFFER_H
#define API_NUMBERS_BUFFER_H

#include "core/tensor/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Make one with buffer_new, end it with buffer_free; a zeroed one takes nothing. When there is no room `failed` is set,
 * the contents stay as they were and all later appends do nothing: check once, at the end. */
struct buffer {
    char *data;
    size_t length, capacity;
    size_t lent; /* bytes of blocks that buffer_lend has given out */
    size_t most; /* of capacity and lent together */
    bool failed;
    bool full; /* of a failed one: by its maximum, not by the system's */
};

#define BUFFER_SENTENCE ((size_t)16 * 1024)   /* a maximum for names and sentences of ours */
#define BUFFER_PAGE ((size_t)8 * 1024 * 1024) /* for documents of ours, for a reply's head or a problem */

/* An empty one that never holds more than `most` bytes, with what it lends. */
static inline struct buffer buffer_new(size_t most)
{
    return (struct buffer){.most = most};
}

void buffer_free(struct buffer *text); /* and empties it; the maximum stays */

/* False and an error when it has failed: ERROR_TOO_LARGE by its maximum, ERROR_MEMORY by the system's; `what` is the
 * text in words ("the text of the reply"). */
bool buffer_check(const struct buffer *text, const char *what, struct error *err);

/* Gives room past the text back. */
void buffer_trim(struct buffer *text);

/* Room for `more` bytes past length, or NULL (failed is set): write there, then add to length. */
char *buffer_reserve(struct buffer *text, size_t more);

/* Bytes that there is room for yet, within the maximum. */
size_t buffer_room(const struct buffer *text);

/* Scratch for whoever writes the text, at a multiple of ARENA_ALIGNMENT and not cleared: it counts as if it stood in
 * the text. NULL (failed is set) when there is no room. */
void *buffer_lend(struct buffer *text, size_t size);
void buffer_take_back(struct buffer *text, void *block); /* NULL is fine */

/* Most appends are a few bytes into room that is there: worth no call. */
static inline void buffer_append(struct buffer *text, const char *bytes, size_t length)
{
    if (length == 0)
        return;
    char *room = text->capacity - text->length >= length && !text->failed ? text->data + text->length
                                                                          : buffer_reserve(text, length);
    if (!room)
        return;
    memcpy(room, bytes, length);
    text->length += length;
}

static inline void buffer_string(struct buffer *text, const char *string)
{
    buffer_append(text, string, strlen(string));
}

void buffer_format(struct buffer *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
