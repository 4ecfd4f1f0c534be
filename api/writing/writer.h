/* Writing JSON text, a token at a time; commas are the writer's business. */
#ifndef API_WRITING_WRITER_H
#define API_WRITING_WRITER_H

#include "api/numbers/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Initialise with {.out = text}. Errors are the text's (`failed`). */
struct writer {
    struct buffer *out;
    bool comma; /* the next value or key needs one */
};

void writer_object_begin(struct writer *w);
void writer_object_end(struct writer *w);
void writer_array_begin(struct writer *w);
void writer_array_end(struct writer *w);
void writer_key(struct writer *w, const char *name); /* a name of ours: nothing to escape */

/* A string of `length` bytes of valid UTF-8; quotes, backslashes and control characters are escaped. */
void writer_string_n(struct writer *w, const char *bytes, size_t length);
void writer_string(struct writer *w, const char *string);
void writer_integer(struct writer *w, int64_t value);
void writer_real(struct writer *w, double value); /* shortest float64; null when not finite */
void writer_bool(struct writer *w, bool value);
void writer_null(struct writer *w);

/* The value as it stands: JSON made elsewhere. */
void writer_raw(struct writer *w, const char *json, size_t length);

/* key and value in one line */
void writer_member_string(struct writer *w, const char *name, const char *string);
void writer_member_integer(struct writer *w, const char *name, int64_t value);
void writer_member_real(struct writer *w, const char *name, double value);
void writer_member_bool(struct writer *w, const char *name, bool value);

#endif
