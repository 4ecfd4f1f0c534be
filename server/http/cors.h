/* Cross-origin sharing: which pages of other origins a browser lets read the replies. */
#ifndef SERVER_HTTP_CORS_H
#define SERVER_HTTP_CORS_H

#include "server/http/request_head.h"

#include <microhttpd.h>
#include <stdbool.h>

/* The headers of ours that pages may read. */
#define CORS_EXPOSED "X-Request-Id, Retry-After, Server-Timing, ETag, Allow"

struct settings;

/* What Access-Control-Allow-Origin says to a request from `origin` (NULL: it names none); NULL: it is not sent. */
const char *cors_find_allowed(const struct settings *settings, const char *origin);

/* Adds what the Fetch standard asks of every reply, refusals included. `allow`: the methods, for a reply to OPTIONS. An
 * origin that is not allowed is served like any other client; its browser keeps the reply to itself. Never credentials.
 */
void cors_set_headers(struct MHD_Response *response, const struct settings *settings, const struct request_head *head,
                      const char *allow);

/* Whether replies differ from origin to origin, which caches have to know. */
bool cors_varies(const struct settings *settings);

#endif
