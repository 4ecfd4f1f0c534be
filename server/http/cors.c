/* Cross-origin sharing. */
#include "server/http/cors.h"

#include "server/config/settings.h"
#include "server/http/request_head.h"

/* The headers of ours that pages may read. */
#define EXPOSED \
    "X-Request-Id, Retry-After, Server-Timing, ETag, Allow, Content-Encoding, " \
    "Content-Length, " REQUEST_HEAD_JSON_LENGTH

#define MAX_AGE "7200"

/* A bare "*" does not stand for Authorization, so it is named; what is not foreseen here is in the "*". */
#define HEADERS \
    "authorization, content-type, x-request-id, x-api-key, traceparent, tracestate, if-none-match, " \
    "inference-header-content-length, *"

const char *cors_find_allowed(const struct settings *settings, const char *origin)
{
    if (settings->no_cors)
        return NULL;
    if (settings_list_has(&settings->cors_origin, "*"))
        return "*";
    return origin && settings_list_has(&settings->cors_origin, origin) ? origin : NULL;
}

void cors_put_fields(const struct settings *settings, const char *origin, const char *allow,
                     void (*put)(void *context, const char *name, const char *value), void *context)
{
    const char *allowed = cors_find_allowed(settings, origin);
    if (!allowed)
        return;
    put(context, "Access-Control-Allow-Origin", allowed);
    put(context, "Access-Control-Expose-Headers", EXPOSED);
    put(context, "Timing-Allow-Origin", allowed);
    if (!allow)
        return;
    put(context, "Access-Control-Allow-Methods", allow);
    put(context, "Access-Control-Allow-Headers", HEADERS);
    put(context, "Access-Control-Max-Age", MAX_AGE);
}

bool cors_varies(const struct settings *settings)
{
    return !settings->no_cors && !settings_list_has(&settings->cors_origin, "*");
}
