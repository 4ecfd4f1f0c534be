/* Paths: one row each, from which dispatch, Allow, labels and the list of links come. */
#ifndef SERVER_SERVICE_ROUTE_H
#define SERVER_SERVICE_ROUTE_H

#include "api/job.h"
#include "api/numbers/buffer.h"
#include "server/http/request_head.h"

#include <stdbool.h>
#include <stddef.h>

struct service;

/* What GET answers. Zero-initialise, but for the maximum of the body. */
struct page {
    bool text;       /* wanted: the form for people, text/plain, of a page that has one */
    unsigned status; /* stays 0 when there is nothing of the name, which only a ROUTE_PAGE has */
    const char *media_type;
    struct buffer body;
    unsigned retry_after; /* seconds; 0: not sent */
};

/* Fills in the page of a path that ends with `name` ("" without one); never waits. */
typedef void route_page(const struct service *service, const char *name, struct page *page);

enum route_kind {
    ROUTE_PROBE, /* GET, asked all the time: logged at debug, answered whatever the load, without a key */
    ROUTE_PAGE,  /* GET, the same as long as the process lives: it has an ETag */
    ROUTE_NOW,   /* GET, made each time it is asked for */
    ROUTE_ASK,   /* the same of POST, whatever the body */
    ROUTE_JOB,   /* POST, computes */
};

#define ROUTE_MAX 48 /* rows at most */

struct route {
    const char *path; /* "/problems/{name}": what starts at the brace is the name */
    enum route_kind kind;
    route_page *page;    /* of the kinds that GET asks for */
    enum job_kind job;   /* of a ROUTE_JOB */
    bool tables;         /* there is a form for people, text/plain */
    bool picture;        /* there is a picture, image/svg+xml */
    bool binary;         /* bytes may follow the JSON of a ROUTE_JOB, and of its reply */
    bool file;           /* the page has a type of its own, whatever Accept says */
    bool html;           /* the page has a form for browsers, text/html */
    bool release;        /* the path changes with what is there: it may be kept for good */
    const char *media;   /* of the page, NULL: application/json */
    bool open;           /* needs no key, as probes do not */
    const char *summary; /* for the list of links */
};

/* The row of a path (below a model, with or without its version), and its name in *name ("" without one); NULL: there
 * is nothing at this path. */
const struct route *route_find(const char *path, const char **name);

/* Row `index`, or NULL past the last. */
const struct route *route_row(size_t index);

/* Which row it is. */
size_t route_index(const struct route *route);

/* The methods, as the header Allow tells them; those of all paths for NULL. */
const char *route_allow(const struct route *route);

/* Whether the method is served there. OPTIONS is, everywhere. */
bool route_allows(const struct route *route, enum method method);

/* Whether Accept chooses among forms of the reply. False for NULL, an unknown path. */
bool route_has_forms(const struct route *route);

/* False for NULL, an unknown path. */
bool route_is(const struct route *route, enum route_kind kind);

#endif
