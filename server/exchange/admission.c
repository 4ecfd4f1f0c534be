/* Judging the head of a request. */
#include "server/exchange/admission.h"

#include "server/exchange/exchange.h"
#include "server/exchange/service.h"
#include "server/http/content_encoding.h"
#include "server/http/keys.h"
#include "server/http/media_type.h"
#include "server/listen/client_limits.h"
#include "server/listen/connections.h"

#include <math.h>
#include <string.h>

bool admission_check_http(struct exchange *x, const char *method, const char *version)
{
    if (!request_head_read(&x->head, x->connection, method, version, x->service->settings.max_header, &x->refusal))
        return false;
    if (!x->peer)
        return true;
    if (x->peer->target.code == PROBLEM_NONE)
        return request_head_check_end(x->peer->target_end, version, &x->refusal);
    x->refusal = x->peer->target;
    return false;
}

static bool check_load(struct exchange *x)
{
    struct problem *refusal = &x->refusal;
    if (x->route && x->route->probe)
        return true;
    if (!x->peer)
        return problem_set(refusal, PROBLEM_NO_MEMORY, "There is no memory for one more connection.");
    if (x->peer->excess != PROBLEM_CONNECTIONS)
        return true;
    x->refusal.last = true; /* kept, it would be refused for ever */
    return problem_set(refusal, PROBLEM_CONNECTIONS, "More than %zu connections are open.",
                       x->service->settings.max_connections);
}

/* The connections that were there before go on; behind a proxy it is requests that count. */
static bool check_client_connections(struct exchange *x)
{
    size_t limit = x->service->settings.max_client_connections;
    bool excess = x->forwarded ? limit > 0 && client_limits_connections(x->client) > limit
                               : x->peer->excess == PROBLEM_CLIENT_CONNECTIONS;
    if (!excess)
        return true;
    x->refusal.last = !x->forwarded;
    return problem_set(&x->refusal, PROBLEM_CLIENT_CONNECTIONS, "More than %zu connections of this client are open.",
                       limit);
}

static bool check_key(struct exchange *x)
{
    if (x->head.method == METHOD_OPTIONS || (x->route && (x->route->probe || x->route->open)) ||
        keys_check(x->service->keys, x->head.authorization, x->head.api_key))
        return true;
    return problem_set(&x->refusal, PROBLEM_UNAUTHORIZED, "Show a key: Authorization: Bearer KEY, or X-API-Key: KEY.");
}

static bool check_client(struct exchange *x)
{
    const struct settings *settings = &x->service->settings;
    if (!x->peer || (x->route && x->route->probe))
        return true;
    if (!check_client_connections(x))
        return false;
    if (x->head.method == METHOD_OPTIONS) /* a browser's question before its request, which counts */
        return true;
    double delay = client_limits_delay(x->service->clients, x->client, x->begun);
    if (delay <= 0)
        return true;
    x->refusal.retry_after = (unsigned)ceil(delay);
    return problem_set(&x->refusal, PROBLEM_RATE, "This client may send %g requests a second.", settings->rate_limit);
}

static bool check_route(struct exchange *x)
{
    if (x->head.method == METHOD_OPTIONS)
        return true;
    if (!x->route)
        return problem_set(&x->refusal, PROBLEM_NOT_FOUND, "There is nothing at this path; GET / lists what there is.");
    if (!route_allows(x->route, x->head.method))
        return problem_set(&x->refusal, PROBLEM_METHOD_NOT_ALLOWED, "The methods here are %s.", x->route->allow);
    return true;
}

static bool check_size(struct exchange *x)
{
    struct service *service = x->service;
    size_t limit = service->settings.max_body;
    if (x->head.length > limit) {
        x->refusal.limit = limit;
        return problem_set(&x->refusal, PROBLEM_BODY_TOO_LARGE, "The body has %zu bytes; the limit is %zu.",
                           x->head.length, limit);
    }
    if (!budget_has(&service->held, x->head.length))
        return problem_set(&x->refusal, PROBLEM_NO_MEMORY,
                           "A body of %zu bytes does not fit in what is left of the %zu for all requests.",
                           x->head.length, service->settings.memory);
    return true;
}

static bool check_body(struct exchange *x)
{
    if (x->head.expect && strcasecmp(x->head.expect, "100-continue") != 0)
        return problem_set(&x->refusal, PROBLEM_EXPECTATION, "The only expectation known is 100-continue.");
    if (!x->route || !x->route->computes || x->head.method != METHOD_POST)
        return check_size(x);
    if (!media_type_may_be_json(x->head.content_type))
        return problem_set(&x->refusal, PROBLEM_UNSUPPORTED_TYPE,
                           "The body must be JSON: send it with Content-Type: application/json.");
    if (content_encoding_find(x->head.content_encoding) == CONTENT_ENCODING_UNKNOWN)
        return problem_set(&x->refusal, PROBLEM_UNSUPPORTED_CODING, "The content codings known are gzip and deflate.");
    return check_size(x);
}

static bool check_accept(struct exchange *x)
{
    const struct route *route = x->route;
    const char *media = route && route->media ? route->media : "application/json";
    if (x->head.method == METHOD_OPTIONS || (route && route->probe) || media_type_weight(x->head.accept, media) > 0)
        return true;
    if (route && route->tables && media_type_weight(x->head.accept, "text/plain") > 0)
        return true;
    return problem_set(&x->refusal, PROBLEM_NOT_ACCEPTABLE, "The reply is %s, which Accept excludes.", media);
}

bool admission_check(struct exchange *x)
{
    return check_load(x) && check_client(x) && check_key(x) && check_route(x) && check_body(x) && check_accept(x);
}
