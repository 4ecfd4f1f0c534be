/* From a body to a reply, here or by way of the pool. */
#include "server/exchange/dispatch.h"

#include "server/exchange/answer.h"
#include "server/exchange/exchange.h"
#include "server/exchange/service.h"
#include "server/exchange/stream.h"
#include "server/exchange/work.h"
#include "server/http/media_type.h"
#include "server/listen/connections.h"
#include "server/watch/clock.h"
#include "server/watch/digits.h"

#include <string.h>

#define TIMING_SIZE (4 * DIGITS_MAX + 80)

static char *put_timing(char *out, const char *name, int64_t nanoseconds)
{
    return digits_put_milliseconds(stpcpy(stpcpy(out, name), ";dur="), nanoseconds);
}

static void write_timing(const struct exchange *x, char out[TIMING_SIZE])
{
    out = put_timing(out, "parse", clock_from_seconds(job_parse_seconds(x->work->job)));
    out = put_timing(out, ", queue", x->queue);
    out = put_timing(out, ", compute", clock_from_seconds(job_compute_seconds(x->work->job)));
    if (x->work->serialize > 0) /* a reply in blocks is written after its head has gone */
        out = put_timing(out, ", serialize", x->work->serialize);
    *out = '\0';
}

static enum MHD_Result send_result(struct exchange *x)
{
    struct work *work = x->work;
    char timing[TIMING_SIZE];
    x->queue = work->begun - work->queued;
    if (work->job) {
        x->compute_seconds = job_compute_seconds(work->job);
        x->numbers = job_numbers(work->job);
    }
    if (work->problem != PROBLEM_NONE)
        return answer_problem(x, &(struct problem){.code = work->problem}, &work->reply);
    write_timing(x, timing);
    struct answer answer = {.head = {.status = 200, .media_type = job_media_type(work->job), .timing = timing}};
    if (job_blocks(work->job) == 1) {
        answer.packed = work->packed;
        answer.body = work->reply;
        work->reply = (struct buffer){0};
    } else {
        answer.packed = work->wants_gzip;
        answer.stream = stream_new(x->service, x->connection, work->job, work->charged, work->wants_gzip, &x->sent);
        work->charged = 0;
        work->job = NULL;
        answer.body.failed = !answer.stream;
    }
    return answer_send(x, &answer);
}

enum MHD_Result dispatch_finish(struct exchange *x)
{
    struct problem problem = {.code = PROBLEM_NONE};
    connections_attach(x->service->connections, x->peer, (struct connection_wait){0});
    switch ((enum work_state)atomic_load(&x->work->state)) {
    case WORK_DONE:
        return send_result(x);
    case WORK_REFUSED:
        problem_set(&problem, PROBLEM_QUEUE_FULL, "%zu requests are waiting already.", x->service->settings.queue);
        break;
    case WORK_LATE:
        problem_set(&problem, PROBLEM_DEADLINE, "It was not finished within %g s.", x->service->settings.deadline);
        break;
    case WORK_STOPPED:
        problem_set(&problem, PROBLEM_DRAINING, "The service is shutting down.");
        break;
    case WORK_UNWANTED:
    case WORK_PENDING:
        return MHD_NO;
    }
    return answer_problem(x, &problem, NULL);
}

/* The order matters: suspended first, then known to the reaper, then given to the pool (reliability rules of
 * libmicrohttpd: whoever resumes must find the connection suspended). */
static enum MHD_Result submit(struct exchange *x)
{
    int64_t deadline = clock_now() + clock_from_seconds(x->service->settings.deadline);
    if (!connections_move(x->peer, CONNECTION_WORK, deadline))
        return MHD_NO;
    if (!connections_suspend(x->service->connections, x->connection)) {
        return answer_problem(x, &(struct problem){.code = PROBLEM_DRAINING, .last = true}, NULL);
    }
    x->queued = true;
    connections_attach(x->service->connections, x->peer, work_wait(x->work));
    work_submit(x->work);
    return MHD_YES;
}

/* People who ask for text get tables; whoever takes both gets JSON. */
static enum job_format find_format(const struct exchange *x)
{
    double json = media_type_weight(x->head.accept, "application/json");
    return x->route->tables && media_type_weight(x->head.accept, "text/plain") > json ? JOB_TEXT : JOB_JSON;
}

enum MHD_Result dispatch_start(struct exchange *x)
{
    if (x->received < x->head.length)
        return MHD_NO;
    x->state = EXCHANGE_WORK;
    x->work = work_new(x->service, x->connection, x->route->kind, find_format(x), &x->body, x->charged);
    if (!x->work)
        return answer_problem(x, &(struct problem){.code = PROBLEM_NO_MEMORY}, NULL);
    x->charged = 0;
    x->work->coding = content_encoding_find(x->head.content_encoding);
    x->work->wants_gzip = content_encoding_wants_gzip(x->head.accept_encoding);
    memcpy(x->work->request_id, x->id, sizeof x->id);
    x->work->instance = x->route->path;
    return work_try(x->work) ? send_result(x) : submit(x);
}
