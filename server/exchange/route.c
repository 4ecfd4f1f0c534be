/* Paths: the rows of api/openapi/endpoint.h. */
#include "server/exchange/route.h"

#include "server/exchange/pages.h"

#include <string.h>

#define READ "GET, HEAD, OPTIONS"
#define COMPUTE "POST, OPTIONS"

static const struct route rows[] = {
#define PAGE_ROW(function, at, id, link, told, traits, type, schema) \
    {.path = at, \
     .allow = READ, \
     .page = pages_##function, \
     .media = type, \
     .open = (traits)&ENDPOINT_OPEN, \
     .lasting = (traits)&ENDPOINT_LASTING, \
     .probe = (traits)&ENDPOINT_PROBE, \
     .summary = link},
#define JOB_ROW(which, functions, at, id, link, told, traits, reply, table) \
    {.path = at, \
     .allow = COMPUTE, \
     .computes = true, \
     .kind = JOB_##which, \
     .tables = (traits)&ENDPOINT_TEXT, \
     .summary = link},
    ENDPOINT_PAGES(PAGE_ROW) ENDPOINT_JOBS(JOB_ROW)
#undef PAGE_ROW
#undef JOB_ROW
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
