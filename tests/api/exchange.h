/* One request through the whole of api, in process. */
#ifndef TESTS_API_EXCHANGE_H
#define TESTS_API_EXCHANGE_H

#include "api/job.h"
#include "core/tensor/pool.h"

#include <jansson.h>
#include <stdbool.h>

/* A reply, or why there is none. */
struct exchange {
    bool good;
    struct error err;
    struct buffer text; /* all blocks, in order */
    size_t blocks;
    char media_type[40];
    json_t *reply; /* NULL when the text is no JSON */
};

/* How a request is run. Zeroes: JSON attention, wide limits, the usual threshold, the calling thread alone. */
struct exchange_how {
    enum job_kind kind;
    enum job_format format;
    struct request_limits limits; /* a zero is a wide limit */
    struct pool *pool;            /* also encodes the blocks, all at the same time */
    struct document_memory *memory;
    const struct options *defaults;
};

struct exchange exchange_run(const char *body, struct exchange_how how);
void exchange_end(struct exchange *exchange);

/* The reply to a body that has to be accepted. The caller owns it. */
json_t *exchange_reply(const char *body);

/* The body has to be refused with this code; some fault has this name, and its text holds `part`. */
void exchange_refused(const char *body, enum error_code code, const char *name, const char *part);

/* The value at "steps.exp.0.1" in a reply; the test fails when there is none. */
json_t *exchange_at(const json_t *reply, const char *path);

/* reply[path] is the array written in `expected`, each number within `tolerance`; null, true, false and strings
 * exactly. */
void exchange_near(const json_t *reply, const char *path, const char *expected, double tolerance);

#endif
