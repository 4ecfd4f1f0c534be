/* Paths: one row each, from which dispatch, Allow, labels and the list of links come. */
#ifndef SERVER_EXCHANGE_ROUTE_H
#define SERVER_EXCHANGE_ROUTE_H

#include "api/job.h"
#include "api/numbers/buffer.h"
#include "server/http/request_head.h"

#include <stdbool.h>
#include <stddef.h>

struct service;

/* What GET answers. Zero-initialise. */
struct page {
    unsigned status; /* stays 0 when there is nothing of the name, which only a lasting page has */
    const char *media_type;
    struct buffer body;
    unsigned retry_after; /* seconds; 0: not sent */
};

/* Fills in the page of a path that ends with `name` ("" without one); never waits. */
typedef void route_page(const struct service *service, const char *name, struct page *page);

#define ROUTE_MAX 32 /* rows at most */

struct route {
    const char *path;  /* "/problems/{name}": the last part is the name */
    const char *allow; /* the methods, as the header tells them */
    route_page *page;  /* GET and HEAD, or NULL */
    bool computes;     /* POST runs a job of `kind` */
    enum job_kind kind;
    bool tables;         /* the job has a form for people, text/plain */
    const char *media;   /* of the page, NULL: application/json */
    bool open;           /* needs no key, as probes do not */
    bool lasting;        /* GET answers the same as long as the process lives: it has an ETag */
    bool probe;          /* asked all the time: logged at debug, answered whatever the load */
    const char *summary; /* for the list of links */
};

/* The row of a path, and its name in *name ("" without one); NULL: there is nothing at this path. */
const struct route *route_find(const char *path, const char **name);

/* Row `index`, or NULL past the last. */
const struct route *route_row(size_t index);

/* Which row it is. */
size_t route_index(const struct route *route);

/* Whether the method is served there. OPTIONS is, everywhere. */
bool route_allows(const struct route *route, enum method method);

#endif
