/* Cross-origin sharing: which pages of other origins a browser lets read the replies. */
#ifndef SERVER_HTTP_CORS_H
#define SERVER_HTTP_CORS_H

#include <stdbool.h>

struct settings;

/* What Access-Control-Allow-Origin says to a request from `origin` (NULL: it names none); NULL: it is not sent. */
const char *cors_find_allowed(const struct settings *settings, const char *origin);

/* Puts what the Fetch standard asks of every reply, refusals included. `allow`: the methods, for a reply to OPTIONS,
 * else NULL. An origin that is not allowed is served like any other client; its browser keeps the reply to itself.
 * Never credentials. */
void cors_put_fields(const struct settings *settings, const char *origin, const char *allow,
                     void (*put)(void *context, const char *name, const char *value), void *context);

/* Whether replies differ from origin to origin, which caches have to know. */
bool cors_varies(const struct settings *settings);

#endif
