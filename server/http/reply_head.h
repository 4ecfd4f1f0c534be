/* The head of a reply: the one place that knows which fields every reply carries, and what a refusal demands. */
#ifndef SERVER_HTTP_REPLY_HEAD_H
#define SERVER_HTTP_REPLY_HEAD_H

#include "server/http/problem.h"
#include "server/http/request_head.h"

#include <stdbool.h>

struct settings;

/* Zero-initialise; what is not set is not sent. */
struct reply_head {
    unsigned status;
    const char *media_type;
    const char *etag;      /* of a page that may be kept, and asked for again */
    const char *allow;     /* methods */
    const char *challenge; /* WWW-Authenticate */
    const char *accept_post;
    const char *accept_encoding;
    const char *timing; /* Server-Timing */
    const char *content_encoding;
    unsigned retry_after; /* seconds */
    size_t json_length;   /* of a body that goes on after its JSON */
    bool last;            /* the connection ends with it */
    bool release;         /* what is at this path never changes: caches need not ask again */
    bool forms;           /* Accept chooses among forms */

    /* Of the request: */
    const char *id;
    const char *origin;
    enum method method;
};

/* What a refusal demands: its status, its type, and the fields that belong to it. `allow`: the methods of the path, or
 * NULL; `instance`: the path, or NULL. `id` has been set. */
void reply_head_refuse(struct reply_head *head, const struct problem *problem, const char *allow, const char *instance);

/* Takes one field of a head. */
typedef void reply_head_put(void *context, const char *name, const char *value);

/* Puts all fields but those about the body's length and the time, which are libmicrohttpd's. */
void reply_head_write(const struct reply_head *head, const struct settings *settings, reply_head_put *put,
                      void *context);

#endif
