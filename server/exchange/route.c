/* Paths. */
#include "server/exchange/route.h"

#include "server/exchange/pages.h"

#include <string.h>

#define READ "GET, HEAD, OPTIONS"
#define COMPUTE "POST, OPTIONS"

static const struct route rows[] = {
    {.path = "/", .allow = READ, .page = pages_links, .open = true, .lasting = true, .summary = "this list"},
    {.path = "/livez", .allow = READ, .page = pages_alive, .probe = true, .summary = "whether the process is alive"},
    {.path = "/readyz", .allow = READ, .page = pages_ready, .probe = true, .summary = "whether it takes requests"},
    {.path = "/health", .allow = READ, .page = pages_ready, .probe = true, .summary = "the same as /readyz"},
    {.path = "/metrics",
     .allow = READ,
     .page = pages_metrics,
     .media = "text/plain",
     .probe = true,
     .summary = "counters for Prometheus"},
    {.path = "/v1/info",
     .allow = READ,
     .page = pages_info,
     .lasting = true,
     .summary = "versions, limits and features"},
    {.path = "/openapi.json",
     .allow = READ,
     .page = pages_openapi,
     .open = true,
     .lasting = true,
     .summary = "all of this as OpenAPI 3.1"},
    {.path = "/problems",
     .allow = READ,
     .page = pages_problems,
     .open = true,
     .lasting = true,
     .summary = "every refusal and what to do about it"},
    {.path = "/problems/{name}",
     .allow = READ,
     .page = pages_problem,
     .open = true,
     .lasting = true,
     .summary = "one of them"},
    {.path = "/v1/examples", .allow = READ, .page = pages_examples, .lasting = true, .summary = "worked examples"},
    {.path = "/v1/examples/{name}",
     .allow = READ,
     .page = pages_example,
     .lasting = true,
     .summary = "one of them, a request for /v1/attention"},
    {.path = "/v1/attention",
     .allow = COMPUTE,
     .computes = true,
     .kind = JOB_ATTENTION,
     .tables = true,
     .summary = "compute attention"},
    {.path = "/v1/attention/explain",
     .allow = COMPUTE,
     .computes = true,
     .kind = JOB_EXPLAIN,
     .tables = true,
     .summary = "one cell told as arithmetic"},
    {.path = "/v1/attention/merge",
     .allow = COMPUTE,
     .computes = true,
     .kind = JOB_MERGE,
     .summary = "join partial results over disjoint keys"},
};

_Static_assert(sizeof rows / sizeof *rows <= ROUTE_MAX, "ROUTE_MAX is too small");

/* The name that `path` has where the pattern ends with one, "" for a pattern without; NULL: it does not fit. */
static const char *match(const char *pattern, const char *path)
{
    size_t fixed = strcspn(pattern, "{");
    if (!pattern[fixed])
        return strcmp(pattern, path) == 0 ? "" : NULL;
    bool fits = strncmp(pattern, path, fixed) == 0 && path[fixed] && !strchr(path + fixed, '/');
    return fits ? path + fixed : NULL;
}

const struct route *route_find(const char *path, const char **name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        *name = match(rows[i].path, path);
        if (*name)
            return &rows[i];
    }
    return NULL;
}

const struct route *route_row(size_t index)
{
    return index < sizeof rows / sizeof *rows ? &rows[index] : NULL;
}

size_t route_index(const struct route *route)
{
    return (size_t)(route - rows);
}

bool route_allows(const struct route *route, enum method method)
{
    switch (method) {
    case METHOD_GET:
    case METHOD_HEAD:
        return route->page != NULL;
    case METHOD_POST:
        return route->computes;
    case METHOD_OPTIONS:
        return true;
    case METHOD_OTHER:
        return false;
    }
    return false;
}
