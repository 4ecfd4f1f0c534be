/* Content codings: their names, which one a client gets, and bodies that come packed. */
#ifndef SERVER_CODING_CONTENT_ENCODING_H
#define SERVER_CODING_CONTENT_ENCODING_H

#include "api/numbers/buffer.h"
#include "core/tensor/error.h"
#include "server/config/settings.h"
#include "server/watch/budget.h"

#include <stdbool.h>
#include <stddef.h>

#define CONTENT_ENCODING_ACCEPTED "zstd, gzip, deflate" /* for bodies of requests */

enum content_encoding {
    CONTENT_ENCODING_NONE,
    CONTENT_ENCODING_GZIP,
    CONTENT_ENCODING_ZSTD,
    CONTENT_ENCODING_DEFLATE, /* of requests only */
    CONTENT_ENCODING_UNKNOWN,
};

/* What a Content-Encoding field (NULL: none) names. */
enum content_encoding content_encoding_find(const char *content_encoding);

/* "gzip", "zstd"; NULL for none. */
const char *content_encoding_name(enum content_encoding coding);

/* The coding of the reply to a client with this Accept-Encoding (NULL: none), among those that the operator lets be:
 * the one of the greatest weight, of equals zstd before gzip before none. "*" means gzip, which everybody can read. */
enum content_encoding content_encoding_choose(const char *accept_encoding, enum settings_compression most);

/* Replaces a packed body by what it holds, `limit` bytes at most, charged to `budget` in place of the *charged bytes so
 * far. ERROR_SYNTAX: it is not what the coding says; ERROR_TOO_LARGE; ERROR_MEMORY: the budget is spent. */
bool content_encoding_unpack(struct buffer *body, enum content_encoding coding, size_t limit, struct budget *budget,
                             size_t *charged, struct error *err);

#endif
