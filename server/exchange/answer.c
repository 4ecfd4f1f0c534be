/* Sending replies. */
#include "server/exchange/answer.h"

#include "server/exchange/exchange.h"
#include "server/exchange/service.h"
#include "server/exchange/stream.h"
#include "server/http/content_encoding.h"
#include "server/http/cors.h"
#include "server/http/page_cache.h"
#include "server/listen/connections.h"
#include "server/watch/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES ((size_t)64 * 1024)

#define SPENT_ID "no-memory" /* this reply is the same for all */

static const char spent[] = "{\"type\":\"/problems/no-memory\",\"title\":\"The memory for requests is spent\","
                            "\"status\":503,\"code\":\"no-memory\",\"detail\":\"There is no memory for this request.\","
                            "\"request_id\":\"" SPENT_ID "\"}\n";

static void set_header(struct MHD_Response *response, const char *name, const char *value)
{
    if (value)
        MHD_add_response_header(response, name, value);
}

static void set_retry(struct MHD_Response *response, unsigned seconds)
{
    char value[16];
    if (seconds == 0)
        return;
    snprintf(value, sizeof value, "%u", seconds);
    set_header(response, "Retry-After", value);
}

/* Every reply that the handlers make passes here. */
static void set_headers(const struct exchange *x, const struct answer *answer, struct MHD_Response *response)
{
    bool last = x->close || atomic_load(&x->service->phase) >= SERVICE_DRAINING;
    set_header(response, "Content-Type", answer->media_type);
    set_header(response, "X-Request-Id", x->id);
    set_header(response, "X-Content-Type-Options", "nosniff");
    set_header(response, "Referrer-Policy", x->head.method == METHOD_POST ? NULL : "no-referrer");
    set_header(response, "Cache-Control", answer->page ? "no-cache" : "no-store");
    set_header(response, "ETag", answer->page ? answer->page->etag : NULL);
    set_header(response, "Allow", answer->allow);
    set_header(response, "WWW-Authenticate", answer->challenge);
    set_header(response, "Accept-Post", answer->accept_post);
    set_header(response, "Accept-Encoding", answer->accept_encoding);
    set_header(response, "Server-Timing", answer->timing);
    set_header(response, "Connection", last ? "close" : NULL);
    set_header(response, "Content-Encoding", answer->packed ? "gzip" : NULL);
    set_header(response, "Vary", cors_varies(&x->service->settings) ? "Origin, Accept-Encoding" : "Accept-Encoding");
    set_retry(response, answer->retry_after);
    cors_set_headers(response, &x->service->settings, &x->head, answer->allow);
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
    bool empty = answer->status == 304;
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
    x->status = response ? answer->status : 503;
    if (x->peer && !connections_move(x->peer, CONNECTION_REPLY, find_deadline(x))) {
        if (response)
            MHD_destroy_response(response);
        return MHD_NO;
    }
    if (!response)
        return MHD_queue_response(x->connection, 503, x->service->spent);
    set_headers(x, answer, response);
    enum MHD_Result queued = MHD_queue_response(x->connection, answer->status, response);
    MHD_destroy_response(response);
    return queued;
}

/* Seconds; they differ from client to client so that not all come back at once. */
static unsigned find_retry(const struct exchange *x)
{
    return 1 + (unsigned char)x->id[0] % 3;
}

enum MHD_Result answer_problem(struct exchange *x, const struct problem *problem, struct buffer *text)
{
    struct answer answer = {.status = problem_status(problem->code), .media_type = "application/problem+json"};
    x->problem = problem->code;
    if (text) {
        answer.body = *text;
        *text = (struct buffer){0};
    }
    if (answer.body.length == 0)
        problem_write(&answer.body, problem, x->id, x->route ? x->route->path : NULL);
    if (answer.status == 503 || answer.status == 429)
        answer.retry_after = x->retry_after ? x->retry_after : find_retry(x);
    if (answer.status == 401)
        answer.challenge = "Bearer realm=\"attentiond\"";
    if (problem->code == PROBLEM_METHOD_NOT_ALLOWED && x->route)
        answer.allow = x->route->allow;
    if (problem->code == PROBLEM_UNSUPPORTED_TYPE)
        answer.accept_post = "application/json";
    if (problem->code == PROBLEM_UNSUPPORTED_CODING)
        answer.accept_encoding = "gzip, deflate";
    return answer_send(x, &answer);
}

struct MHD_Response *answer_make_spent(const struct settings *settings)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(sizeof spent - 1, (void *)(uintptr_t)spent, MHD_RESPMEM_PERSISTENT);
    if (!response)
        return NULL;
    set_header(response, "Content-Type", "application/problem+json");
    set_header(response, "X-Content-Type-Options", "nosniff");
    set_header(response, "Cache-Control", "no-store");
    set_header(response, "X-Request-Id", SPENT_ID);
    if (!cors_varies(settings))
        set_header(response, "Access-Control-Allow-Origin", cors_find_allowed(settings, NULL));
    set_retry(response, 1);
    return response;
}
