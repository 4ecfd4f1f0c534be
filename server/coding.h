/* Content codings: gzip and deflate, in requests and replies. */
#ifndef SERVER_CODING_H
#define SERVER_CODING_H

#include "api/text.h"
#include "core/error.h"
#include "server/budget.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CODING_LEAST ((size_t)1024) /* bytes of a reply below which packing does not pay */

enum coding {
    CODING_NONE,
    CODING_GZIP,
    CODING_DEFLATE,
    CODING_UNKNOWN,
};

/* What a Content-Encoding field (NULL: none) names. */
enum coding coding_find(const char *content_encoding);

/* Whether a client with this Accept-Encoding (NULL: none) prefers a gzip reply. */
bool coding_wants_gzip(const char *accept_encoding);

/* Replaces a packed body by what it holds, `limit` bytes at most, charged to `budget` in place of the *charged bytes so
 * far. ERROR_SYNTAX: it is not what the coding says; ERROR_TOO_LARGE; ERROR_MEMORY: the budget is spent. */
bool coding_unpack(struct text *body, enum coding coding, size_t limit, struct budget *budget, size_t *charged,
                   struct error *err);

/* Replaces a whole text by its gzip form; false (and the text stays) when there is no memory. */
bool coding_pack(struct text *text);

/* A gzip stream in pieces that are packed independently, on any thread: coding_begin once, coding_pack_piece for each
 * piece
 * (`last` for the last), the sum of a piece folded into the stream's in order, coding_end once. */
struct coding_sum {
    unsigned long crc;
    size_t length;
};

void coding_begin(struct text *out);
bool coding_pack_piece(const struct text *plain, bool last, struct text *out, struct coding_sum *sum);
void coding_fold(struct coding_sum *stream, const struct coding_sum *piece);
void coding_end(const struct coding_sum *stream, struct text *out);

#endif
