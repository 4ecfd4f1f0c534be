/* Growable bytes. */
#ifndef API_TEXT_H
#define API_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Zero-initialise; free with text_free. When memory runs out `failed` is set, the contents stay as they were and all
 * later appends do nothing: check once, at the end. */
struct text {
    char *data;
    size_t length, capacity;
    bool failed;
};

void text_free(struct text *text); /* and zeroes it */

/* Room for `more` bytes past length, or NULL (failed is set): write there, then add to length. */
char *text_reserve(struct text *text, size_t more);

/* Most appends are a few bytes into room that is there: worth no call. */
static inline void text_append(struct text *text, const char *bytes, size_t length)
{
    if (length == 0)
        return;
    char *room = text->capacity - text->length >= length && !text->failed ? text->data + text->length
                                                                          : text_reserve(text, length);
    if (!room)
        return;
    memcpy(room, bytes, length);
    text->length += length;
}

static inline void text_string(struct text *text, const char *string)
{
    text_append(text, string, strlen(string));
}

void text_format(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
