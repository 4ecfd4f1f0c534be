/* Judging the head of a request. */
#include "server/exchange/admission.h"

#include "server/coding/content_encoding.h"
#include "server/coding/media_type.h"
#include "server/exchange/request.h"
#include "server/listen/client_limits.h"
#include "server/listen/connections.h"
#include "server/service/keys.h"
#include "server/service/service.h"

#include <math.h>
#include <string.h>

static bool check_load(const struct service *service, const struct request *r, struct problem *problem)
{
    if (route_is(r->route, ROUTE_PROBE))
        return true;
    if (!r->peer)
        return problem_set(problem, PROBLEM_NO_MEMORY, "There is no memory for one more connection.");
    if (r->peer->excess != PROBLEM_CONNECTIONS)
        return true;
    problem->last = true; /* kept, it would be refused for ever */
    return problem_set(problem, PROBLEM_CONNECTIONS, "More than %zu connections are open.",
                       service->settings.max_connections);
}

/* The connections that were there before go on; behind a proxy it is requests that count. */
static bool check_client_connections(const struct service *service, const struct request *r, struct problem *problem)
{
    size_t limit = service->settings.max_client_connections;
    bool excess = r->forwarded ? limit > 0 && client_limits_connections(r->client) > limit
                               : r->peer->excess == PROBLEM_CLIENT_CONNECTIONS;
    if (!excess)
        return true;
    problem->last = !r->forwarded;
    return problem_set(problem, PROBLEM_CLIENT_CONNECTIONS, "More than %zu connections of this client are open.",
                       limit);
}

static bool check_key(const struct service *service, const struct request *r, struct problem *problem)
{
    if (r->head.method == METHOD_OPTIONS || route_is(r->route, ROUTE_PROBE) || (r->route && r->route->open) ||
        keys_check(service->keys, r->head.authorization, r->head.api_key))
        return true;
    return problem_set(problem, PROBLEM_UNAUTHORIZED, "Show a key: Authorization: Bearer KEY, or X-API-Key: KEY.");
}

static bool check_client(struct service *service, const struct request *r, struct problem *problem)
{
    const struct settings *settings = &service->settings;
    if (!r->peer || route_is(r->route, ROUTE_PROBE))
        return true;
    if (!check_client_connections(service, r, problem))
        return false;
    if (r->head.method == METHOD_OPTIONS) /* a browser's question before its request, which counts */
        return true;
    double delay = client_limits_delay(service->clients, r->client, r->begun);
    if (delay <= 0)
        return true;
    problem->retry_after = (unsigned)ceil(delay);
    return problem_set(problem, PROBLEM_RATE, "This client may send %g requests a second.", settings->rate_limit);
}

static bool check_route(const struct request *r, struct problem *problem)
{
    if (r->head.method == METHOD_OPTIONS)
        return true;
    if (!r->route)
        return problem_set(problem, PROBLEM_NOT_FOUND, "There is nothing at this path; GET / lists what there is.");
    if (!route_allows(r->route, r->head.method))
        return problem_set(problem, PROBLEM_METHOD_NOT_ALLOWED, "The methods here are %s.", route_allow(r->route));
    return true;
}

/* Probes answer whatever comes with them; pages for browsers read their own parameters. */
static bool check_query(const struct request *r, struct problem *problem)
{
    if (!r->query.fault[0] || r->head.method == METHOD_OPTIONS || route_is(r->route, ROUTE_PROBE) ||
        request_wants_html(r))
        return true;
    return problem_set(problem, PROBLEM_UNKNOWN_PARAMETER, "%s", r->query.fault);
}

static bool check_size(struct service *service, const struct request *r, struct problem *problem)
{
    size_t limit = service->settings.max_body;
    if (r->head.length > limit) {
        problem->limit = limit;
        return problem_set(problem, PROBLEM_BODY_TOO_LARGE, "The body has %zu bytes; the limit is %zu.", r->head.length,
                           limit);
    }
    if (!budget_has(&service->held, r->head.length))
        return problem_set(problem, PROBLEM_NO_MEMORY,
                           "A body of %zu bytes does not fit in what is left of the %zu for all requests.",
                           r->head.length, service->settings.memory);
    return true;
}

static bool check_body(struct service *service, const struct request *r, struct problem *problem)
{
    if (r->head.expect && strcasecmp(r->head.expect, "100-continue") != 0)
        return problem_set(problem, PROBLEM_EXPECTATION, "The only expectation known is 100-continue.");
    if (!route_is(r->route, ROUTE_JOB) || r->head.method != METHOD_POST)
        return check_size(service, r, problem);
    if (!media_type_may_be_json(r->head.content_type))
        return problem_set(problem, PROBLEM_UNSUPPORTED_TYPE,
                           "The body must be JSON: send it with Content-Type: application/json.");
    if (content_encoding_find(r->head.content_encoding) == CONTENT_ENCODING_UNKNOWN)
        return problem_set(problem, PROBLEM_UNSUPPORTED_CODING,
                           "The content codings known are zstd, gzip and deflate.");
    return check_size(service, r, problem);
}

static bool check_accept(const struct request *r, struct problem *problem)
{
    const struct route *route = r->route;
    const char *media = route && route->media ? route->media : "application/json";
    bool any = (route && route->file) || r->head.method == METHOD_OPTIONS || route_is(route, ROUTE_PROBE);
    if (any || media_type_weight(r->head.accept, media) > 0)
        return true;
    if (route && route->binary && media_type_weight(r->head.accept, "application/octet-stream") > 0)
        return true;
    if (route && route->tables && media_type_weight(r->head.accept, "text/plain") > 0)
        return true;
    if (route && route->picture && media_type_weight(r->head.accept, "image/svg+xml") > 0)
        return true;
    if (route && route->html && media_type_weight(r->head.accept, "text/html") > 0)
        return true;
    return problem_set(problem, PROBLEM_NOT_ACCEPTABLE, "The reply is %s, which Accept excludes.", media);
}

bool admission_check(struct service *service, const struct request *r, struct problem *problem)
{
    return check_load(service, r, problem) && check_client(service, r, problem) && check_key(service, r, problem) &&
           check_route(r, problem) && check_query(r, problem) && check_body(service, r, problem) &&
           check_accept(r, problem);
}
