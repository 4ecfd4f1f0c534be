/* Growable bytes. */
#ifndef API_NUMBERS_BUFFER_H
#define API_NUMBERS_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Zero-initialise; free with buffer_free. When memory runs out `failed` is set, the contents stay as they were and all
 * later appends do nothing: check once, at the end. */
struct buffer {
    char *data;
    size_t length, capacity;
    bool failed;
};

void buffer_free(struct buffer *text); /* and zeroes it */

/* Gives room past the text back. */
void buffer_trim(struct buffer *text);

/* Room for `more` bytes past length, or NULL (failed is set): write there, then add to length. */
char *buffer_reserve(struct buffer *text, size_t more);

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
