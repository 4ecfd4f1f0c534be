/* One computation on its way through the pool for a suspended connection. Shared by the connection and a worker: each
 * holds it, the last one frees it, and whoever changes its state from WORK_PENDING resumes the connection. */
#ifndef SERVER_EXCHANGE_WORK_H
#define SERVER_EXCHANGE_WORK_H

#include "api/job.h"
#include "server/http/content_encoding.h"
#include "server/http/problem.h"
#include "server/listen/connections.h"

#include <microhttpd.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct service;

enum work_state {
    WORK_PENDING,
    WORK_DONE,     /* the result below is there */
    WORK_REFUSED,  /* the queue was full */
    WORK_LATE,     /* given up: past the deadline */
    WORK_UNWANTED, /* given up: the client has gone */
    WORK_STOPPED,  /* given up: the service stops */
};

struct work {
    struct service *service;
    struct MHD_Connection *connection;
    char request_id[129];
    const char *instance;
    enum job_kind kind;
    enum job_format format;
    struct buffer body;           /* charged to the server's budget until it is decoded */
    size_t charged;               /* for the body, later for the job of a reply in blocks */
    enum content_encoding coding; /* of the body */
    bool wants_gzip;              /* the reply may be packed */

    /* The result: a job, with its reply in `reply` when that is one block; or a problem, whose text is there. */
    struct job *job;
    enum problem_code problem;
    struct buffer reply;
    bool packed;           /* the reply is gzip */
    int64_t queued, begun; /* when */
    int64_t serialize;     /* how long the reply in one block took to write; 0 for others */

    atomic_int state; /* enum work_state */
    atomic_bool cancel;
    atomic_int holders;
};

/* A new piece of work that takes over `body` and its charge; NULL when there is no memory. */
struct work *work_new(struct service *service, struct MHD_Connection *connection, enum job_kind kind,
                      enum job_format format, struct buffer *body, size_t charged);
void work_release(struct work *work); /* NULL is fine */

/* Does it here and now if it is tiny: true, and the result is there. false: it has to go to the pool. */
bool work_try(struct work *work);

/* Hands it to the pool; the connection must be suspended. It is resumed when state has left WORK_PENDING. */
void work_submit(struct work *work);

/* What the connection waits for, and how to give it up. */
struct connection_wait work_wait(struct work *work);

#endif
