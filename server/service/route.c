/* Paths: the rows of api/openapi/endpoint.h. */
#include "server/service/route.h"

#include "server/service/pages.h"

#include <string.h>

#define READ "GET, HEAD, OPTIONS"

static const struct {
    const char *allow;
    bool methods[METHOD_OTHER + 1];
} kinds[] = {
    [ROUTE_PROBE] = {READ, {[METHOD_GET] = true, [METHOD_HEAD] = true, [METHOD_OPTIONS] = true}},
    [ROUTE_PAGE] = {READ, {[METHOD_GET] = true, [METHOD_HEAD] = true, [METHOD_OPTIONS] = true}},
    [ROUTE_NOW] = {READ, {[METHOD_GET] = true, [METHOD_HEAD] = true, [METHOD_OPTIONS] = true}},
    [ROUTE_ASK] = {"POST, OPTIONS", {[METHOD_POST] = true, [METHOD_OPTIONS] = true}},
    [ROUTE_JOB] = {"POST, OPTIONS", {[METHOD_POST] = true, [METHOD_OPTIONS] = true}},
};

static const struct route rows[] = {
#define PAGE_ROW(function, at, id, link, told, traits, type, schema) \
    {.path = at, \
     .kind = (traits)&ENDPOINT_PROBE     ? ROUTE_PROBE \
             : (traits)&ENDPOINT_LASTING ? ROUTE_PAGE \
             : (traits)&ENDPOINT_POSTED  ? ROUTE_ASK \
                                         : ROUTE_NOW, \
     .page = pages_##function, \
     .media = type, \
     .tables = (traits)&ENDPOINT_TEXT, \
     .open = (traits)&ENDPOINT_OPEN, \
     .file = (traits)&ENDPOINT_FILE, \
     .html = (traits)&ENDPOINT_HTML, \
     .release = (traits)&ENDPOINT_RELEASE, \
     .summary = link},
#define JOB_ROW(which, functions, at, id, link, told, traits, reply, table) \
    {.path = at, \
     .kind = ROUTE_JOB, \
     .job = JOB_##which, \
     .tables = (traits)&ENDPOINT_TEXT, \
     .picture = (traits)&ENDPOINT_PICTURE, \
     .binary = (traits)&ENDPOINT_BINARY, \
     .summary = link},
    ENDPOINT_PAGES(PAGE_ROW) ENDPOINT_JOBS(JOB_ROW)
#undef PAGE_ROW
#undef JOB_ROW
};

_Static_assert(sizeof rows / sizeof *rows <= ROUTE_MAX, "ROUTE_MAX is too small");

static bool has_equal_depth(const char *one, const char *two)
{
    while (one && two) {
        one = strchr(one, '/');
        two = strchr(two, '/');
        if (one && two) {
            one++;
            two++;
        }
    }
    return !one && !two;
}

/* The name that `path` has where the pattern ends with one, "" for a pattern without; NULL: it does not fit. */
static const char *match(const char *pattern, const char *path)
{
    size_t fixed = strcspn(pattern, "{");
    if (!pattern[fixed])
        return strcmp(pattern, path) == 0 ? "" : NULL;
    bool fits = strncmp(pattern, path, fixed) == 0 && path[fixed] && has_equal_depth(pattern + fixed, path + fixed);
    return fits ? path + fixed : NULL;
}

/* The same of a path below a model that names its version. */
static const char *match_version(const char *pattern, const char *path)
{
    size_t model = strlen(ENDPOINT_MODEL);
    size_t version = strlen(ENDPOINT_VERSION);
    if (strncmp(pattern, ENDPOINT_MODEL, model) != 0 || strncmp(path, ENDPOINT_VERSION, version) != 0)
        return NULL;
    return strcmp(pattern + model, path + version) == 0 ? "" : NULL;
}

const struct route *route_find(const char *path, const char **name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        *name = match(rows[i].path, path);
        if (!*name)
            *name = match_version(rows[i].path, path);
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

const char *route_allow(const struct route *route)
{
    return route ? kinds[route->kind].allow : "GET, HEAD, POST, OPTIONS";
}

bool route_allows(const struct route *route, enum method method)
{
    return kinds[route->kind].methods[method];
}

bool route_has_forms(const struct route *route)
{
    return route && (route->html || route->tables || route->picture);
}

bool route_is(const struct route *route, enum route_kind kind)
{
    return route && route->kind == kind;
}
