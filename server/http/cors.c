/* Cross-origin sharing. */
#include "server/http/cors.h"

#include "server/config/settings.h"

#define MAX_AGE "7200"

/* A bare "*" does not stand for Authorization, so it is named; what is not foreseen here is in the "*". */
#define HEADERS "authorization, content-type, x-request-id, x-api-key, traceparent, tracestate, if-none-match, *"

const char *cors_find_allowed(const struct settings *settings, const char *origin)
{
    if (settings->no_cors)
        return NULL;
    if (settings_list_has(&settings->cors_origin, "*"))
        return "*";
    return origin && settings_list_has(&settings->cors_origin, origin) ? origin : NULL;
}

static void set_preflight_headers(struct MHD_Response *response, const char *allow)
{
    MHD_add_response_header(response, "Access-Control-Allow-Methods", allow);
    MHD_add_response_header(response, "Access-Control-Allow-Headers", HEADERS);
    MHD_add_response_header(response, "Access-Control-Max-Age", MAX_AGE);
}

void cors_set_headers(struct MHD_Response *response, const struct settings *settings, const struct request_head *head,
                      const char *allow)
{
    const char *allowed = cors_find_allowed(settings, head->origin);
    if (!allowed)
        return;
    MHD_add_response_header(response, "Access-Control-Allow-Origin", allowed);
    MHD_add_response_header(response, "Access-Control-Expose-Headers", CORS_EXPOSED);
    MHD_add_response_header(response, "Timing-Allow-Origin", allowed);
    if (head->method == METHOD_OPTIONS && allow)
        set_preflight_headers(response, allow);
}

bool cors_varies(const struct settings *settings)
{
    return !settings->no_cors && !settings_list_has(&settings->cors_origin, "*");
}
