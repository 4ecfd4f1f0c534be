/* Sending replies. */
#include "server/exchange/answer.h"

#include "api/writing/indent.h"

#include "server/compute/stream.h"
#include "server/exchange/request.h"
#include "server/listen/connections.h"
#include "server/service/page_cache.h"
#include "server/service/service.h"
#include "server/watch/clock.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES ((size_t)64 * 1024)
#define PIECE_BYTES ((size_t)256 * 1024) /* of a stream whose length is known: it is sent from them as it is */
#define CHARGED_BYTES \
    ((size_t)16 * 1024) /* of a reply in one piece; smaller ones are part of what a connection takes */

#define SPENT_ID "no-memory" /* this reply is the same for all */

static const char spent[] = "{\"type\":\"/problems/no-memory\",\"title\":\"The memory for requests is spent\","
                            "\"status\":503,\"code\":\"no-memory\",\"detail\":\"There is no memory for this request.\","
                            "\"request_id\":\"" SPENT_ID "\"}\n";

static void put_field(void *response, const char *name, const char *value)
{
    MHD_add_response_header(response, name, value);
}

/* Every reply that the handlers make passes here. */
static void set_head(const struct service *service, const struct request *request, struct answer *answer,
                     struct MHD_Response *response)
{
    struct reply_head *head = &answer->head;
    head->last = head->last || atomic_load(&service->phase) >= SERVICE_DRAINING;
    head->id = request->id;
    head->origin = request->head.origin;
    head->forms = route_has_forms(request->route);
    head->method = request->head.method;
    head->content_encoding = content_encoding_name(answer->coding);
    reply_head_write(head, &service->settings, put_field, response);
}

static void count_sent(const struct request *request, struct reply *reply, size_t bytes)
{
    if (request->head.method != METHOD_HEAD)
        atomic_store_explicit(&reply->sent, bytes, memory_order_relaxed);
}

/* A body that is charged until libmicrohttpd has sent it, or its client has gone. */
struct charged_body {
    char *data;
    size_t bytes;
    struct budget *budget;
};

static void free_charged(void *context)
{
    struct charged_body *body = context;
    budget_give(body->budget, body->bytes);
    free(body->data);
    free(body);
}

/* Takes the body over where it returns a response. */
static struct MHD_Response *make_charged(struct service *service, const struct buffer *body)
{
    struct charged_body *charged = malloc(sizeof *charged);
    if (!charged || !budget_take(&service->held, body->capacity)) {
        free(charged);
        return NULL;
    }
    *charged = (struct charged_body){body->data, body->capacity, &service->held};
    struct MHD_Response *response =
        MHD_create_response_from_buffer_with_free_callback_cls(body->length, body->data, free_charged, charged);
    if (!response) {
        budget_give(&service->held, body->capacity);
        free(charged);
    }
    return response;
}

static struct MHD_Response *make_buffer(struct service *service, const struct request *request, struct buffer *body,
                                        struct reply *reply)
{
    struct buffer taken = *body;
    struct MHD_Response *response = NULL;
    *body = (struct buffer){0};
    if (!taken.failed && !taken.data)
        response = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    else if (!taken.failed && taken.capacity < CHARGED_BYTES)
        response = MHD_create_response_from_buffer_with_free_callback(taken.length, taken.data, free);
    else if (!taken.failed) {
        buffer_trim(&taken);
        response = make_charged(service, &taken);
    }
    if (response)
        count_sent(request, reply, taken.length);
    else
        buffer_free(&taken);
    return response;
}

static struct MHD_Response *make_page(const struct request *request, const struct answer *answer, struct reply *reply)
{
    const struct buffer *body = &answer->page->body;
    size_t length = answer->head.status == 304 ? 0 : body->length;
    count_sent(request, reply, length);
    return MHD_create_response_from_buffer(length, body->data, MHD_RESPMEM_PERSISTENT);
}

static struct MHD_Response *make_stream(struct answer *answer)
{
    struct stream *stream = answer->stream;
    uint64_t length = answer->length > 0 ? answer->length : MHD_SIZE_UNKNOWN;
    size_t chunk = answer->length > 0 ? PIECE_BYTES : CHUNK_BYTES;
    answer->stream = NULL;
    struct MHD_Response *response = MHD_create_response_from_callback(length, chunk, stream_read, stream, stream_close);
    if (!response)
        stream_close(stream);
    return response;
}

static struct MHD_Response *make_response(struct service *service, const struct request *request, struct answer *answer,
                                          struct reply *reply)
{
    if (answer->stream)
        return make_stream(answer);
    return answer->page ? make_page(request, answer, reply) : make_buffer(service, request, &answer->body, reply);
}

static int64_t find_deadline(const struct service *service, const struct reply *reply)
{
    size_t parts = 1 + atomic_load_explicit(&reply->sent, memory_order_relaxed) / STREAM_PART;
    return clock_now() + clock_from_seconds(service->settings.write_timeout) * (int64_t)parts;
}

enum MHD_Result answer_send(struct service *service, const struct request *request, struct answer *answer,
                            struct reply *reply)
{
    struct MHD_Response *response = make_response(service, request, answer, reply);
    reply->status = response ? answer->head.status : 503;
    if (request->peer && !connections_move(request->peer, CONNECTION_REPLY, find_deadline(service, reply))) {
        if (response)
            MHD_destroy_response(response);
        return MHD_NO;
    }
    if (!response)
        return MHD_queue_response(request->connection, 503, service->spent);
    set_head(service, request, answer, response);
    enum MHD_Result queued = MHD_queue_response(request->connection, answer->head.status, response);
    MHD_destroy_response(response);
    return queued;
}

void answer_indent(const struct request *request, struct answer *answer)
{
    struct buffer indented = buffer_new(indent_most(&answer->body));
    if (!request->query.pretty || answer->body.failed)
        return;
    indent_json(&answer->body, &indented);
    buffer_free(&answer->body);
    answer->body = indented;
}

/* The path that was asked: that of the route, where it has no name in it. */
static const char *find_instance(const struct request *request)
{
    if (request->path[0])
        return request->path;
    return request->route ? request->route->path : NULL;
}

enum MHD_Result answer_problem(struct service *service, const struct request *request, const struct problem *problem,
                               struct reply *reply)
{
    struct answer answer = {.head = {.id = request->id, .last = problem->last}};
    reply->problem = problem->code;
    reply_head_refuse(&answer.head, problem, request->route ? route_allow(request->route) : NULL,
                      find_instance(request));
    answer.body = buffer_new(BUFFER_PAGE);
    problem_write(&answer.body, problem, request->id, find_instance(request));
    answer_indent(request, &answer);
    return answer_send(service, request, &answer, reply);
}

enum MHD_Result answer_problem_text(struct service *service, const struct request *request, enum problem_code code,
                                    struct answer *answer, struct reply *reply)
{
    reply->problem = code;
    answer->head.id = request->id;
    reply_head_refuse(&answer->head, &(struct problem){.code = code}, route_allow(request->route),
                      request->route->path);
    return answer_send(service, request, answer, reply);
}

struct MHD_Response *answer_make_spent(const struct settings *settings)
{
    const struct reply_head head = {
        .status = 503, .media_type = "application/problem+json", .id = SPENT_ID, .retry_after = 1};
    struct MHD_Response *response =
        MHD_create_response_from_buffer(sizeof spent - 1, (void *)(uintptr_t)spent, MHD_RESPMEM_PERSISTENT);
    if (response)
        reply_head_write(&head, settings, put_field, response);
    return response;
}
