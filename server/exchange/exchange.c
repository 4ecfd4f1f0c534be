/* One request: its head is judged before a byte of the body is read, then the body, then the work, then the reply. Each
 * part of its state is written by the file that the part is named after; what comes next is decided here. */
#include "server/exchange/exchange.h"

#include "server/coding/media_type.h"
#include "server/compute/work.h"
#include "server/exchange/admission.h"
#include "server/exchange/answer_page.h"
#include "server/exchange/answer_result.h"
#include "server/exchange/body.h"
#include "server/exchange/record.h"
#include "server/exchange/request.h"
#include "server/listen/connection_cut.h"
#include "server/listen/connections.h"
#include "server/service/service.h"
#include "server/watch/clock.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* What the next call of the handler is for. */
enum exchange_state {
    EXCHANGE_TAKE_BODY, /* for the work that follows it */
    EXCHANGE_PASS_BODY, /* read and forgotten, if there is one; then a page or the refusal */
    EXCHANGE_WAIT,      /* the work has ended */
    EXCHANGE_END,       /* a reply is on its way, or there is none */
};

/* Belongs to the event thread. */
struct exchange {
    struct service *service;
    struct request request;
    enum exchange_state state;
    struct problem refusal; /* PROBLEM_NONE: it has been admitted */
    struct body body;
    struct work *work; /* NULL: none */
    struct reply reply;
};

static struct exchange *make_exchange(struct service *service, struct MHD_Connection *connection, const char *url)
{
    struct exchange *x = calloc(1, sizeof *x);
    if (!x)
        return NULL;
    x->service = service;
    request_open(&x->request, service, connection, url);
    x->body.deadline = x->request.begun + clock_from_seconds(service->settings.body_timeout);
    atomic_fetch_add(&service->requests, 1);
    return x;
}

static enum MHD_Result refuse(struct exchange *x, const struct problem *problem)
{
    x->state = EXCHANGE_END;
    return answer_problem(x->service, &x->request, problem, &x->reply);
}

/* Without the body: the connection ends with the reply. */
static enum MHD_Result refuse_now(struct exchange *x)
{
    x->refusal.last = true;
    return refuse(x, &x->refusal);
}

static bool move_to_body(struct exchange *x)
{
    const struct request *request = &x->request;
    const struct raw_refusal of = {.id = request->id,
                                   .origin = request->head.origin,
                                   .instance = request->route ? request->route->path : NULL,
                                   .allow = request->route ? route_allow(request->route) : NULL,
                                   .method = request->head.method};
    return !request->peer || connections_move_to_body(request->peer, x->body.deadline, &of);
}

/* Whether a refused body is small enough to be read all the same, so that the connection can go on. */
static bool can_pass_body(const struct exchange *x)
{
    return !x->request.head.expect && x->request.head.length <= body_enough(x->service);
}

/* Whether bytes follow the JSON. */
static bool is_split(const struct request *request)
{
    return request->route->binary && request->head.json_length;
}

/* Of such a body; (size_t)-1: not a number. */
static size_t find_json_length(const struct request *request)
{
    const char *digits = request->head.json_length;
    if (!is_split(request))
        return 0;
    errno = 0;
    unsigned long long length = strtoull(digits, NULL, 10);
    bool number = digits[0] && strspn(digits, "0123456789") == strlen(digits) && errno == 0 && length < SIZE_MAX;
    return number ? (size_t)length : SIZE_MAX;
}

static enum MHD_Result begin(struct exchange *x, const char *method, const char *version)
{
    const struct request_head *head = &x->request.head;
    if (!request_read(&x->request, x->service, method, version, &x->refusal))
        return refuse_now(x);
    bool fine = admission_check(x->service, &x->request, &x->refusal);
    bool works = fine && head->method == METHOD_POST && route_is(x->request.route, ROUTE_JOB);
    x->state = works ? EXCHANGE_TAKE_BODY : EXCHANGE_PASS_BODY;
    if (!head->has_body)
        return MHD_YES;
    if (!fine && !can_pass_body(x))
        return refuse_now(x);
    if (!move_to_body(x))
        return MHD_NO;
    if (works)
        body_begin(&x->body, x->service, head->length,
                   media_type_is_plain(head->content_encoding) ? find_json_length(&x->request) : 0);
    return MHD_YES;
}

static bool was_told(const struct exchange *x)
{
    return x->request.peer && connection_cut_told(x->request.peer) != PROBLEM_NONE;
}

/* A refused body is read on for a while: a reply sent in the middle of it may be lost. One without a length that goes
 * on is refused in the middle all the same, and read up to twice the limit. */
static enum MHD_Result take(struct exchange *x, const char *data, size_t *size)
{
    struct service *service = x->service;
    size_t enough = body_enough(service);
    x->body.received += *size;
    if (clock_now() > x->body.deadline || x->body.received > 2 * enough)
        return MHD_NO;
    if (x->state == EXCHANGE_TAKE_BODY && !body_append(&x->body, service, data, *size, &x->refusal)) {
        body_drop(&x->body, service);
        x->state = EXCHANGE_PASS_BODY;
    }
    if (x->body.received > enough && x->request.peer) {
        if (x->refusal.code == PROBLEM_NONE)
            body_refuse_size(service, &x->refusal);
        connection_cut_refuse(x->request.peer, &x->refusal);
    }
    *size = 0;
    return MHD_YES;
}

static struct work *make_work(struct exchange *x)
{
    const struct request *request = &x->request;
    const struct work_order order = {
        .job = {.kind = request->route->job,
                .format = request_format(request),
                .split = is_split(request),
                .json_length = find_json_length(request),
                .lead = x->body.lead},
        .coding = content_encoding_find(request->head.content_encoding),
        .wanted = content_encoding_choose(request->head.accept_encoding, x->service->settings.compression),
        .pretty = request->query.pretty,
        .request_id = request->id,
        .path = request->route->path};
    return work_new(x->service, request->connection, &order, &x->body.text, &x->body.charged);
}

/* The order matters: suspended first, then known to the reaper, then given to the pool (reliability rules of
 * libmicrohttpd: whoever resumes must find the connection suspended). */
static enum MHD_Result submit(struct exchange *x)
{
    struct service *service = x->service;
    const struct request *request = &x->request;
    if (!connections_move(request->peer, CONNECTION_WORK, clock_now() + clock_from_seconds(service->settings.deadline)))
        return MHD_NO;
    if (!connections_suspend(service->connections, request->connection))
        return refuse(x, &(struct problem){.code = PROBLEM_DRAINING, .last = true});
    x->state = EXCHANGE_WAIT;
    connections_attach(service->connections, request->peer, work_wait(x->work));
    work_submit(x->work);
    return MHD_YES;
}

static enum MHD_Result send_result(struct exchange *x)
{
    enum problem_code reason = PROBLEM_NONE;
    struct work_result *result = work_find_result(x->work, &reason);
    if (result)
        return answer_result(x->service, &x->request, result, &x->reply);
    return reason == PROBLEM_NONE ? MHD_NO : answer_no_result(x->service, &x->request, reason, &x->reply);
}

static enum MHD_Result start_work(struct exchange *x)
{
    if (x->body.received < x->request.head.length)
        return MHD_NO;
    x->work = make_work(x);
    if (!x->work)
        return refuse(x, &(struct problem){.code = PROBLEM_NO_MEMORY});
    return work_try(x->work) ? send_result(x) : submit(x);
}

static enum MHD_Result finish_work(struct exchange *x)
{
    connections_attach(x->service->connections, x->request.peer, (struct connection_wait){0});
    return send_result(x);
}

static enum MHD_Result send_page(struct exchange *x)
{
    if (was_told(x))
        return MHD_NO;
    return x->refusal.code == PROBLEM_NONE ? answer_page(x->service, &x->request, &x->reply) : refuse(x, &x->refusal);
}

static enum MHD_Result finish(struct exchange *x)
{
    enum exchange_state state = x->state;
    x->state = EXCHANGE_END;
    switch (state) {
    case EXCHANGE_TAKE_BODY:
        return start_work(x);
    case EXCHANGE_PASS_BODY:
        return send_page(x);
    case EXCHANGE_WAIT:
        return finish_work(x);
    case EXCHANGE_END:
        return MHD_NO;
    }
    return MHD_NO;
}

enum MHD_Result exchange_handle(void *service, struct MHD_Connection *connection, const char *url, const char *method,
                                const char *version, const char *data, size_t *size, void **context)
{
    struct exchange *x = *context;
    if (x)
        return *size > 0 ? take(x, data, size) : finish(x);
    x = make_exchange(service, connection, url);
    if (!x)
        return MHD_queue_response(connection, 503, ((struct service *)service)->spent);
    *context = x;
    return begin(x, method, version);
}

void *exchange_note_target(void *context, const char *target, struct MHD_Connection *connection)
{
    struct service *service = context;
    struct connection *peer = connections_find(connection);
    if (!peer)
        return NULL;
    peer->target = (struct problem){.code = PROBLEM_NONE};
    peer->target_end = target + strlen(target);
    request_head_check_target(target, &peer->target);
    connections_move(peer, CONNECTION_HEAD, clock_now() + clock_from_seconds(service->settings.header_timeout));
    return NULL;
}

/* A reply that was sent from outside counts as this one's. */
static void note_told(struct exchange *x)
{
    if (x->reply.status != 0 || !was_told(x))
        return;
    x->reply.problem = connection_cut_told(x->request.peer);
    x->reply.status = problem_status(x->reply.problem);
}

void exchange_complete(void *context, struct MHD_Connection *connection, void **slot,
                       enum MHD_RequestTerminationCode code)
{
    struct service *service = context;
    struct exchange *x = *slot;
    (void)connection;
    if (!x)
        return;
    *slot = NULL;
    note_told(x);
    if (x->request.peer) {
        connections_attach(service->connections, x->request.peer, (struct connection_wait){0});
        connections_move(x->request.peer, CONNECTION_IDLE,
                         clock_now() + clock_from_seconds(service->settings.idle_timeout));
    }
    record_request(service, &x->request, x->body.received, &x->reply, x->work, code);
    body_drop(&x->body, service);
    work_release(x->work);
    request_close(&x->request, service);
    free(x);
    atomic_fetch_sub(&service->requests, 1);
}
