/* Sending results. */
#include "server/exchange/answer_result.h"

#include "server/compute/stream.h"
#include "server/exchange/request.h"
#include "server/service/service.h"
#include "server/watch/clock.h"
#include "server/watch/digits.h"

#include <string.h>

#define TIMING_SIZE (4 * DIGITS_MAX + 80)

static char *put_timing(char *out, const char *name, int64_t nanoseconds)
{
    return digits_put_milliseconds(stpcpy(stpcpy(out, name), ";dur="), nanoseconds);
}

static void write_timing(const struct work_result *result, char out[TIMING_SIZE])
{
    out = put_timing(out, "parse", clock_from_seconds(result->parse));
    out = put_timing(out, ", queue", result->queue);
    out = put_timing(out, ", compute", clock_from_seconds(result->compute));
    if (result->serialize > 0) /* a reply in blocks is written after its head has gone */
        out = put_timing(out, ", serialize", result->serialize);
    *out = '\0';
}

static struct stream *open_stream(struct service *service, const struct request *request, struct work_result *result,
                                  enum content_encoding coding, struct reply *reply)
{
    struct stream *stream =
        stream_new(service, request->connection, result->job, result->charged, coding, &reply->sent);
    result->job = NULL;
    result->charged = 0;
    return stream;
}

static struct buffer take_text(struct work_result *result)
{
    struct buffer text = result->text;
    result->text = (struct buffer){0};
    return text;
}

enum MHD_Result answer_result(struct service *service, const struct request *request, struct work_result *result,
                              struct reply *reply)
{
    char timing[TIMING_SIZE];
    struct answer answer = {.body = take_text(result), .coding = result->coding};
    if (result->problem != PROBLEM_NONE)
        return answer_problem_text(service, request, result->problem, &answer, reply);
    write_timing(result, timing);
    answer.head = (struct reply_head){
        .status = 200, .media_type = result->media_type, .timing = timing, .json_length = result->json_length};
    if (result->job) {
        answer.coding = content_encoding_choose(request->head.accept_encoding, service->settings.compression);
        answer.length = answer.coding == CONTENT_ENCODING_NONE ? job_length(result->job) : 0;
        answer.stream = open_stream(service, request, result, answer.coding, reply);
        answer.body.failed = !answer.stream;
    }
    return answer_send(service, request, &answer, reply);
}

enum MHD_Result answer_no_result(struct service *service, const struct request *request, enum problem_code reason,
                                 struct reply *reply)
{
    struct problem problem = {.code = PROBLEM_NONE};
    const struct settings *settings = &service->settings;
    if (reason == PROBLEM_QUEUE_FULL)
        problem_set(&problem, reason, "%zu requests are waiting already.", settings->queue);
    else if (reason == PROBLEM_DEADLINE)
        problem_set(&problem, reason, "It was not finished within %g s.", settings->deadline);
    else
        problem_set(&problem, reason, "The service is shutting down.");
    return answer_problem(service, request, &problem, reply);
}
