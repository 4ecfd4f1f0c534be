/* One computation, here or on its way through the pool for a suspended connection. Shared by the connection and a
 * worker: each holds it, the last one frees it, and whoever ends it resumes the connection. */
#ifndef SERVER_COMPUTE_WORK_H
#define SERVER_COMPUTE_WORK_H

#include "api/job.h"
#include "api/numbers/buffer.h"
#include "server/coding/content_encoding.h"
#include "server/http/problem.h"
#include "server/listen/connections.h"

#include <microhttpd.h>
#include <stdbool.h>
#include <stdint.h>

struct service;
struct work;

/* What is to be done. */
struct work_order {
    struct job_order job;
    enum content_encoding coding; /* of the body */
    enum content_encoding wanted; /* of the reply, if packing it pays */
    bool pretty;                  /* JSON in one block is indented */
    const char *request_id;       /* copied */
    const char *path;             /* must last */
};

/* What came of it. */
struct work_result {
    enum problem_code problem;    /* PROBLEM_NONE: none */
    struct buffer text;           /* the problem's JSON, or the reply when that is one block */
    enum content_encoding coding; /* of the text */
    const char *media_type;       /* of the reply */
    struct job *job;              /* a reply in blocks is encoded from it; NULL: the text is all there is */
    size_t charged;               /* to the budget, for the job and one block */
    int64_t queue, serialize;     /* nanoseconds: waiting for a worker, writing the text */
    double parse, compute;        /* seconds */
    size_t numbers;               /* in the reply */
    size_t json_length;           /* of a reply that goes on after its JSON; else 0 */
};

/* Takes over the text of the body and the bytes of it in the budget; NULL when there is no memory. */
struct work *work_new(struct service *service, struct MHD_Connection *connection, const struct work_order *order,
                      struct buffer *body, size_t *charged);
void work_release(struct work *work); /* NULL is fine */

/* Does it here and now if it is tiny: true, and the result is there. false: it has to go to the pool. */
bool work_try(struct work *work);

/* Hands it to the pool; the connection must be suspended. It is resumed when the work has ended. */
void work_submit(struct work *work);

/* Whether work_submit was called. */
bool work_is_submitted(const struct work *work);

/* What the connection waits for, and how to give it up. */
struct connection_wait work_wait(struct work *work);

/* After the end: the result, of which the caller may take what it needs, and leave nothing that is not its own. NULL:
 * there is none, *reason says what the client is told; PROBLEM_NONE: it has gone, or work has not ended. */
struct work_result *work_find_result(struct work *work, enum problem_code *reason);

#endif
