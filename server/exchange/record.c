/* Records of requests. */
#include "server/exchange/record.h"

#include "server/compute/work.h"
#include "server/exchange/answer.h"
#include "server/exchange/request.h"
#include "server/service/metrics.h"
#include "server/service/service.h"
#include "server/watch/clock.h"

static const char *find_message(const struct reply *reply, enum MHD_RequestTerminationCode code)
{
    if (code == MHD_REQUEST_TERMINATED_COMPLETED_OK)
        return "request";
    return reply->status == 0 ? "request aborted" : "reply aborted";
}

static void log_one(struct log *log, const struct request *request, const struct metrics_request *counts,
                    const char *message)
{
    enum log_level level = route_is(request->route, ROUTE_PROBE) ? LOG_DEBUG : LOG_INFO;
    if (!log_wants(log, level))
        return;
    log_request(log, level,
                &(struct log_request){.message = message,
                                      .id = request->id,
                                      .client = request->client_name,
                                      .trace = request->trace[0] ? request->trace : NULL,
                                      .method = request->head.method_name,
                                      .route = request->route ? request->route->path : "other",
                                      .path = request->path[0] ? request->path : NULL,
                                      .code = counts->refusal == PROBLEM_NONE ? NULL : problem_slug(counts->refusal),
                                      .status = counts->status,
                                      .bytes_in = counts->bytes_in,
                                      .bytes_out = counts->bytes_out,
                                      .duration = counts->duration,
                                      .queue = counts->queue});
}

void record_request(const struct service *service, const struct request *request, size_t received,
                    const struct reply *reply, struct work *work, enum MHD_RequestTerminationCode code)
{
    enum problem_code reason = PROBLEM_NONE;
    const struct work_result *result = work ? work_find_result(work, &reason) : NULL;
    struct metrics_request counts = {.route = request->route,
                                     .method = request->head.method,
                                     .status = reply->status,
                                     .duration = clock_now() - request->begun,
                                     .bytes_in = received,
                                     .bytes_out = atomic_load_explicit(&reply->sent, memory_order_relaxed),
                                     .refusal = reply->problem,
                                     .queued = work && work_is_submitted(work)};
    if (result) {
        counts.queue = result->queue;
        counts.computed = result->numbers > 0;
        counts.compute_seconds = result->compute;
        counts.parse_seconds = result->parse;
        counts.serialize = result->serialize;
        counts.numbers = result->numbers;
    }
    log_one(service->log, request, &counts, find_message(reply, code));
    metrics_record(service->metrics, &counts);
}
