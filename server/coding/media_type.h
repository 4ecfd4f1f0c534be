/* Media types and codings: what a body may be, what a client accepts. */
#ifndef SERVER_CODING_MEDIA_TYPE_H
#define SERVER_CODING_MEDIA_TYPE_H

#include <stdbool.h>

/* Whether a body of this Content-Type (NULL: none) may be JSON. Only what plainly is something else may not: `curl -d`
 * says application/x-www-form-urlencoded. */
bool media_type_may_be_json(const char *content_type);

/* Whether a Content-Encoding (NULL: none) leaves the bytes as they are. */
bool media_type_is_plain(const char *content_encoding);

/* The weight 0 .. 1 that an Accept field (NULL: none) gives to a type such as "application/json"; RFC 9110
 * section 12.5.1. */
double media_type_weight(const char *accept, const char *type);

/* The weight that an Accept-Encoding field gives to a coding; 0 for one that it does not name, but a little above 0 for
 * "identity", which is always possible unless excluded. */
double media_type_coding_weight(const char *accept_encoding, const char *coding);

/* The same where "*" names none. */
double media_type_named_weight(const char *accept_encoding, const char *coding);

#endif
