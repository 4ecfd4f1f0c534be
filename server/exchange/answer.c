/* Sending replies. */
#include "server/exchange/answer.h"

#include "server/exchange/exchange.h"
#include "server/exchange/service.h"
#include "server/exchange/stream.h"
#include "server/http/content_encoding.h"
#include "server/http/page_cache.h"
#include "server/listen/connections.h"
#include "server/watch/clock.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES ((size_t)64 * 1024)

#define SPENT_ID "no-memory" /* this reply is the same for all */

static const char spent[] = "{\"type\":\"/problems/no-memory\",\"title\":\"The memory for requests is spent\","
                            "\"status\":503,\"code\":\"no-memory\",\"detail\":\"There is no memory for this request.\","
                            "\"request_id\":\"" SPENT_ID "\"}\n";

static void put_field(void *response, const char *name, const char *value)
{
    MHD_add_response_header(response, name, value);
}

/* Every reply that the handlers make passes here. */
static void set_head(const struct exchange *x, struct answer *answer, struct MHD_Response *response)
{
    struct reply_head *head = &answer->head;
    head->last = head->last || atomic_load(&x->service->phase) >= SERVICE_DRAINING;
    head->id = x->id;
    head->origin = x->head.origin;
    head->method = x->head.method;
    head->content_encoding = answer->packed ? "gzip" : NULL;
    reply_head_write(head, &x->service->settings, put_field, response);
}

static struct MHD_Response *make_buffer(struct exchange *x, struct buffer *body)
{
    struct buffer taken = *body;
    *body = (struct buffer){0};
    if (taken.failed) {
        buffer_free(&taken);
        return NULL;
    }
    struct MHD_Response *response =
        taken.data ? MHD_create_response_from_buffer_with_free_callback(taken.length, taken.data, free)
                   : MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    if (!response)
        buffer_free(&taken);
    else if (x->head.method != METHOD_HEAD)
        atomic_store_explicit(&x->sent, taken.length, memory_order_relaxed);
    return response;
}

static struct MHD_Response *make_page(struct exchange *x, const struct answer *answer)
{
    const struct buffer *body = &answer->page->body;
    bool empty = answer->head.status == 304;
    if (!empty && x->head.method != METHOD_HEAD)
        atomic_store_explicit(&x->sent, body->length, memory_order_relaxed);
    return MHD_create_response_from_buffer(empty ? 0 : body->length, body->data, MHD_RESPMEM_PERSISTENT);
}

static struct MHD_Response *make_stream(struct answer *answer)
{
    struct stream *stream = answer->stream;
    answer->stream = NULL;
    struct MHD_Response *response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, CHUNK_BYTES, stream_read, stream, stream_close);
    if (!response)
        stream_close(stream);
    return response;
}

static struct MHD_Response *make_response(struct exchange *x, struct answer *answer)
{
    if (answer->stream)
        return make_stream(answer);
    return answer->page ? make_page(x, answer) : make_buffer(x, &answer->body);
}

static int64_t find_deadline(const struct exchange *x)
{
    size_t parts = 1 + atomic_load_explicit(&x->sent, memory_order_relaxed) / ANSWER_PART;
    return clock_now() + clock_from_seconds(x->service->settings.write_timeout) * (int64_t)parts;
}

static void pack_body(const struct exchange *x, struct answer *answer)
{
    if (!answer->packed && answer->body.length >= CONTENT_ENCODING_LEAST && !answer->body.failed &&
        content_encoding_wants_gzip(x->head.accept_encoding))
        answer->packed = content_encoding_pack(&answer->body);
}

enum MHD_Result answer_send(struct exchange *x, struct answer *answer)
{
    pack_body(x, answer);
    struct MHD_Response *response = make_response(x, answer);
    x->state = EXCHANGE_SENT;
    x->status = response ? answer->head.status : 503;
    if (x->peer && !connections_move(x->peer, CONNECTION_REPLY, find_deadline(x))) {
        if (response)
            MHD_destroy_response(response);
        return MHD_NO;
    }
    if (!response)
        return MHD_queue_response(x->connection, 503, x->service->spent);
    set_head(x, answer, response);
    enum MHD_Result queued = MHD_queue_response(x->connection, answer->head.status, response);
    MHD_destroy_response(response);
    return queued;
}

enum MHD_Result answer_problem(struct exchange *x, const struct problem *problem, struct buffer *text)
{
    struct answer answer = {.head = {.id = x->id, .last = problem->last}};
    x->problem = problem->code;
    reply_head_refuse(&answer.head, problem, x->route ? x->route->allow : NULL);
    if (text) {
        answer.body = *text;
        *text = (struct buffer){0};
    }
    if (answer.body.length == 0)
        problem_write(&answer.body, problem, x->id, x->route ? x->route->path : NULL);
    return answer_send(x, &answer);
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
