/* Counting requests. The labels come from tables: whatever clients send, the number of series is bounded. */
#include "server/service/metrics.h"

#include "api/infer/infer_metadata.h"
#include "server/config/version.h"
#include "server/service/route.h"
#include "server/watch/clock.h"
#include "server/watch/histogram.h"
#include "server/watch/process.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define METHODS (METHOD_OTHER + 1)
enum {
#define PROBLEM_INDEX(code, status, slug, title, having, lacking, advice) INDEX_##code,
    PROBLEMS(PROBLEM_INDEX)
#undef PROBLEM_INDEX
        PROBLEM_COUNT
};

#define SUCCESSES 4
#define STATUSES (SUCCESSES + PROBLEM_COUNT)

struct metrics {
    unsigned statuses[STATUSES]; /* each once, in their order; 0: a request without a reply, or any other status */
    size_t status_count;
    uint64_t requests[ROUTE_MAX + 1][METHODS][STATUSES]; /* the last route: unknown paths */
    struct histogram durations[ROUTE_MAX + 1];
    struct histogram computing[ROUTE_MAX + 1];
    struct histogram sizes_in, sizes_out, queue;
    uint64_t rejected[PROBLEM_COUNT + 1];
    uint64_t numbers;
    struct infer_statistics inference;
};

/* Keeps the order; one that is there already is not added again. */
static void add_status(struct metrics *m, unsigned status)
{
    size_t at = m->status_count;
    while (at > 0 && m->statuses[at - 1] > status)
        at--;
    if (at > 0 && m->statuses[at - 1] == status)
        return;
    memmove(&m->statuses[at + 1], &m->statuses[at], (m->status_count - at) * sizeof *m->statuses);
    m->statuses[at] = status;
    m->status_count++;
}

struct metrics *metrics_new(void)
{
    static const unsigned statuses[STATUSES] = {0, 200, 204, 304,
#define PROBLEM_STATUS(code, status, slug, title, having, lacking, advice) status,
                                                PROBLEMS(PROBLEM_STATUS)
#undef PROBLEM_STATUS
    };
    struct metrics *m = calloc(1, sizeof *m);
    for (size_t x = 0; m && x < STATUSES; x++)
        add_status(m, statuses[x]);
    return m;
}

void metrics_free(struct metrics *metrics)
{
    free(metrics);
}

static size_t find_status(const struct metrics *m, unsigned status)
{
    for (size_t i = 1; i < m->status_count; i++)
        if (m->statuses[i] == status)
            return i;
    return 0;
}

static double seconds_of(int64_t nanoseconds)
{
    return (double)nanoseconds / (double)CLOCK_SECOND;
}

static void add_time(struct infer_times *times, double nanoseconds)
{
    times->count++;
    times->ns += (uint64_t)nanoseconds;
}

static void record_inference(struct infer_statistics *s, const struct metrics_request *r)
{
    if (r->status != 200) {
        add_time(&s->fail, (double)r->duration);
        return;
    }
    s->last = (uint64_t)time(NULL) * 1000;
    add_time(&s->success, (double)r->duration);
    add_time(&s->queue, (double)r->queue);
    add_time(&s->input, r->parse_seconds * (double)CLOCK_SECOND);
    add_time(&s->compute, r->compute_seconds * (double)CLOCK_SECOND);
    add_time(&s->output, (double)r->serialize);
}

const struct infer_statistics *metrics_inference(const struct metrics *metrics)
{
    return &metrics->inference;
}

void metrics_record(struct metrics *m, const struct metrics_request *r)
{
    size_t route = r->route ? route_index(r->route) : ROUTE_MAX;
    m->requests[route][r->method][find_status(m, r->status)]++;
    histogram_add(&m->durations[route], histogram_seconds(), seconds_of(r->duration));
    histogram_add(&m->sizes_in, histogram_bytes(), (double)r->bytes_in);
    histogram_add(&m->sizes_out, histogram_bytes(), (double)r->bytes_out);
    m->rejected[r->refusal] += r->refusal != PROBLEM_NONE;
    m->numbers += r->numbers;
    if (r->route && r->route->kind == ROUTE_JOB && r->route->job == JOB_INFER && r->method == METHOD_POST)
        record_inference(&m->inference, r);
    if (r->queued)
        histogram_add(&m->queue, histogram_seconds(), seconds_of(r->queue));
    if (r->computed)
        histogram_add(&m->computing[route], histogram_seconds(), r->compute_seconds);
}

static void write_head(struct buffer *out, const char *name, const char *type, const char *help)
{
    buffer_format(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void write_one(struct buffer *out, const char *name, const char *type, const char *help, uint64_t value)
{
    write_head(out, name, type, help);
    buffer_format(out, "%s %" PRIu64 "\n", name, value);
}

static const char *name_route(size_t index)
{
    const struct route *route = index < ROUTE_MAX ? route_row(index) : NULL;
    return route ? route->path : "other";
}

static void write_route_requests(const struct metrics *m, size_t route, struct buffer *out)
{
    for (size_t method = 0; method < METHODS; method++)
        for (size_t status = 0; status < m->status_count; status++)
            if (m->requests[route][method][status] > 0)
                buffer_format(out, "attnd_http_requests_total{route=\"%s\",method=\"%s\",code=\"%u\"} %" PRIu64 "\n",
                              name_route(route), request_head_method_name((enum method)method), m->statuses[status],
                              m->requests[route][method][status]);
}

static void write_requests(const struct metrics *m, struct buffer *out)
{
    write_head(out, "attnd_http_requests_total", "counter",
               "Finished requests; code 0: the client went away before the reply.");
    for (size_t route = 0; route <= ROUTE_MAX; route++)
        write_route_requests(m, route, out);
}

static void write_by_route(const struct histogram *histograms, const char *name, const char *label, struct buffer *out)
{
    char text[96];
    for (size_t route = 0; route <= ROUTE_MAX; route++) {
        if (histogram_count(&histograms[route]) == 0)
            continue;
        snprintf(text, sizeof text, "%s=\"%s\"", label, name_route(route));
        histogram_write(&histograms[route], histogram_seconds(), name, text, out);
    }
}

static void write_histograms(const struct metrics *m, struct buffer *out)
{
    write_head(out, "attnd_http_request_duration_seconds", "histogram", "From the head to the end of the reply.");
    write_by_route(m->durations, "attnd_http_request_duration_seconds", "route", out);
    write_head(out, "attnd_compute_duration_seconds", "histogram", "Computing, by operation.");
    write_by_route(m->computing, "attnd_compute_duration_seconds", "op", out);
    write_head(out, "attnd_http_request_size_bytes", "histogram", "Bodies of requests.");
    histogram_write(&m->sizes_in, histogram_bytes(), "attnd_http_request_size_bytes", "", out);
    write_head(out, "attnd_http_response_size_bytes", "histogram", "Bodies of replies.");
    histogram_write(&m->sizes_out, histogram_bytes(), "attnd_http_response_size_bytes", "", out);
    write_head(out, "attnd_queue_wait_seconds", "histogram", "Waiting for a worker.");
    histogram_write(&m->queue, histogram_seconds(), "attnd_queue_wait_seconds", "", out);
}

static void write_rejected(const struct metrics *m, struct buffer *out)
{
    write_head(out, "attnd_rejected_total", "counter", "Refused requests by the code of the problem.");
    for (size_t code = PROBLEM_NONE + 1; code <= PROBLEM_COUNT; code++)
        buffer_format(out, "attnd_rejected_total{reason=\"%s\"} %" PRIu64 "\n", problem_slug((enum problem_code)code),
                      m->rejected[code]);
}

static void write_state(const struct metrics *m, const struct metrics_state *state, struct buffer *out)
{
    write_one(out, "attnd_http_requests_in_flight", "gauge", "Requests between head and end of the reply.",
              state->requests);
    write_one(out, "attnd_connections_open", "gauge", "Open connections.", state->connections);
    write_one(out, "attnd_queue_depth", "gauge", "Pieces of work that wait for a worker.", state->waiting);
    write_one(out, "attnd_workers_busy", "gauge", "Workers that are computing.", state->busy);
    write_one(out, "attnd_bytes_held", "gauge", "Bytes held for bodies and for replies under way.", state->held);
    write_one(out, "attnd_elements_processed_total", "counter", "Numbers in the replies.", m->numbers);
    write_one(out, "attnd_draining", "gauge", "1 when the service is ending.", state->draining);
    write_head(out, "attnd_build_info", "gauge", "What is running; always 1.");
    buffer_format(out, "attnd_build_info{version=\"%s\",revision=\"%s\",simd=\"%s\"} 1\n", version_program(),
                  version_revision(), version_simd());
}

void metrics_write(const struct metrics *metrics, const struct metrics_state *state, struct buffer *out)
{
    write_requests(metrics, out);
    write_histograms(metrics, out);
    write_rejected(metrics, out);
    write_state(metrics, state, out);
    process_write_metrics(out);
}
