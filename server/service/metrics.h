/* What the service counts about itself, in Prometheus' text format. All of it belongs to the event thread. */
#ifndef SERVER_SERVICE_METRICS_H
#define SERVER_SERVICE_METRICS_H

#include "api/numbers/buffer.h"
#include "server/http/problem.h"
#include "server/http/request_head.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct metrics;
struct route;

/* One finished request. */
struct metrics_request {
    const struct route *route; /* NULL: unknown path */
    enum method method;
    unsigned status;  /* 0: there was no reply */
    int64_t duration; /* nanoseconds */
    size_t bytes_in, bytes_out;
    enum problem_code refusal;
    bool queued; /* it waited for a worker: */
    int64_t queue;
    bool computed; /* a job ran: */
    double compute_seconds, parse_seconds;
    int64_t serialize;
    size_t numbers;
};

struct metrics *metrics_new(void); /* NULL: no memory */
void metrics_free(struct metrics *metrics);

void metrics_record(struct metrics *metrics, const struct metrics_request *request);

/* The model of the Open Inference Protocol so far. */
struct infer_statistics;
const struct infer_statistics *metrics_inference(const struct metrics *metrics);

/* The service now. */
struct metrics_state {
    size_t requests;    /* between head and end */
    size_t connections; /* open */
    size_t waiting;     /* pieces of work for a worker */
    size_t busy;        /* workers */
    size_t held;        /* bytes of the budget */
    bool draining;
};

/* Appends everything: what was recorded, the state of the service, and that of the process. */
void metrics_write(const struct metrics *metrics, const struct metrics_state *state, struct buffer *out);

#endif
