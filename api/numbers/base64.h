/* Base64 (RFC 4648 section 4, with padding): bytes in JSON strings. */
#ifndef API_NUMBERS_BASE64_H
#define API_NUMBERS_BASE64_H

#include "api/numbers/buffer.h"

#include <stdbool.h>
#include <stddef.h>

/* Bytes that `length` characters decode to, if they are base64. */
size_t base64_bytes(const char *characters, size_t length);

/* Decodes into base64_bytes bytes. False when they are no base64: wrong length, a foreign character, padding in the
 * wrong place, or set bits that no byte has. */
bool base64_decode(const char *characters, size_t length, unsigned char *out);

/* The position of what base64_decode refuses; `length` when characters are missing. */
size_t base64_find_fault(const char *characters, size_t length);

/* An encoder that is fed in pieces. Zero-initialise. */
struct base64 {
    unsigned char carried[3];
    size_t count;
};
void base64_append(struct base64 *state, struct buffer *out, const void *bytes, size_t length);
void base64_end(struct base64 *state, struct buffer *out); /* the last characters and the padding */

#endif
