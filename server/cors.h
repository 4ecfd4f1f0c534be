/* Cross-origin sharing: which pages of other origins a browser lets read the replies. */
#ifndef SERVER_CORS_H
#define SERVER_CORS_H

#include "server/head.h"

#include <microhttpd.h>
#include <stdbool.h>

struct settings;

/* Adds what the Fetch standard asks of every reply, refusals included. `allow`: the methods, for a reply to OPTIONS. An
 * origin that is not allowed is served like any other client; its browser keeps the reply to itself. Never credentials.
 */
void cors_set_headers(struct MHD_Response *response, const struct settings *settings, const struct head *head,
                      const char *allow);

/* Whether replies differ from origin to origin, which caches have to know. */
bool cors_varies(const struct settings *settings);

#endif
