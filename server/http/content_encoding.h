/* Content codings: gzip and deflate, in requests and replies. */
#ifndef SERVER_HTTP_CONTENT_ENCODING_H
#define SERVER_HTTP_CONTENT_ENCODING_H

#include "api/numbers/buffer.h"
#include "core/error.h"
#include "server/watch/budget.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONTENT_ENCODING_LEAST ((size_t)1024) /* bytes of a reply below which packing does not pay */

enum content_encoding {
    CONTENT_ENCODING_NONE,
    CONTENT_ENCODING_GZIP,
    CONTENT_ENCODING_DEFLATE,
    CONTENT_ENCODING_UNKNOWN,
};

/* What a Content-Encoding field (NULL: none) names. */
enum content_encoding content_encoding_find(const char *content_encoding);

/* Whether a client with this Accept-Encoding (NULL: none) prefers a gzip reply. */
bool content_encoding_wants_gzip(const char *accept_encoding);

/* Replaces a packed body by what it holds, `limit` bytes at most, charged to `budget` in place of the *charged bytes so
 * far. ERROR_SYNTAX: it is not what the coding says; ERROR_TOO_LARGE; ERROR_MEMORY: the budget is spent. */
bool content_encoding_unpack(struct buffer *body, enum content_encoding coding, size_t limit, struct budget *budget,
                             size_t *charged, struct error *err);

/* Replaces a whole text by its gzip form; false (and the text stays) when there is no memory. */
bool content_encoding_pack(struct buffer *text);

/* A gzip stream in pieces that are packed independently, on any thread: content_encoding_begin once,
 * content_encoding_pack_piece for each piece
 * (`last` for the last), the sum of a piece folded into the stream's in order, content_encoding_end once. */
struct content_encoding_sum {
    unsigned long crc;
    size_t length;
};

void content_encoding_begin(struct buffer *out);
bool content_encoding_pack_piece(const struct buffer *plain, bool last, struct buffer *out,
                                 struct content_encoding_sum *sum);
void content_encoding_fold(struct content_encoding_sum *stream, const struct content_encoding_sum *piece);
void content_encoding_end(const struct content_encoding_sum *stream, struct buffer *out);

#endif
