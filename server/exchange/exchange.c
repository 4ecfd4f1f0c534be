/* One request: its head is judged before a byte of the body is read, then the body, then the work, then the reply. */
#include "server/exchange/exchange.h"

#include "server/exchange/admission.h"
#include "server/exchange/answer.h"
#include "server/exchange/dispatch.h"
#include "server/exchange/metrics.h"
#include "server/exchange/pages.h"
#include "server/exchange/service.h"
#include "server/exchange/work.h"
#include "server/http/content_encoding.h"
#include "server/http/page_cache.h"
#include "server/listen/client_limits.h"
#include "server/listen/connection_cut.h"
#include "server/listen/connections.h"
#include "server/watch/clock.h"
#include "server/watch/printable.h"

#include <stdlib.h>
#include <string.h>

#define DISCARD_SLACK ((size_t)64 * 1024) /* bytes past the body limit that are still read before the refusal */

/* RFC 9112 section 3.2.2: a target may have the address before the path, and is the same then. */
static const char *find_path(const char *url)
{
    const char *host = strncasecmp(url, "http://", 7) == 0    ? url + 7
                       : strncasecmp(url, "https://", 8) == 0 ? url + 8
                                                              : NULL;
    const char *path = host && *host ? host + strcspn(host, "/") : url;
    return *path ? path : "/";
}

/* Where probes and metrics have a listener of their own, it has nothing else, and only it has the metrics. */
static const struct route *find_route(const struct service *service, const struct connection *peer, const char *url,
                                      const char **name)
{
    const struct route *route = route_find(find_path(url), name);
    bool side = peer && peer->side;
    bool metrics = !service->settings.no_metrics && (side || !*service->settings.metrics_listen);
    if (route && ((route->page == pages_metrics && !metrics) || (side && !route->probe)))
        return NULL;
    return route;
}

/* Behind a trusted proxy the client is whom the proxy names; a request counts as a connection of it. */
static void find_client(struct exchange *x)
{
    const struct connection *peer = x->peer;
    x->client = peer ? peer->client : NULL;
    if (peer)
        memcpy(x->client_name, peer->name, sizeof x->client_name);
    else
        address_print(&(struct address){.family = ADDRESS_NONE}, x->client_name);
    if (!peer || !proxies_trust(&x->service->proxies, &peer->address))
        return;
    struct address client = proxies_find_client(&x->service->proxies, x->connection, &peer->address);
    address_print(&client, x->client_name);
    x->forwarded = memcmp(&client, &peer->address, sizeof client) != 0;
    if (x->forwarded)
        x->client = client_limits_open(x->service->clients, &client);
}

static struct exchange *make_exchange(struct service *service, struct MHD_Connection *connection, const char *url)
{
    struct exchange *x = calloc(1, sizeof *x);
    if (!x)
        return NULL;
    x->service = service;
    x->connection = connection;
    x->peer = connections_find(connection);
    find_client(x);
    x->route = find_route(service, x->peer, url, &x->name);
    if (!x->route || *x->name)
        printable_path(x->path, sizeof x->path, find_path(url));
    x->begun = clock_now();
    x->deadline = x->begun + clock_from_seconds(service->settings.body_timeout);
    atomic_fetch_add(&service->requests, 1);
    return x;
}

/* Whether a refused body is small enough to be read all the same, so that the connection can go on. */
static bool can_discard(const struct exchange *x)
{
    return !x->head.expect && x->head.length <= x->service->settings.max_body + DISCARD_SLACK;
}

static enum MHD_Result refuse_now(struct exchange *x)
{
    x->refusal.last = true;
    return answer_problem(x, &x->refusal, NULL);
}

/* The announced length is reserved at once, so that the body is never copied; pages are touched as bytes arrive. */
static void reserve_body(struct exchange *x)
{
    if (x->head.length == 0)
        return;
    x->body.data = malloc(x->head.length);
    x->body.capacity = x->body.data ? x->head.length : 0;
}

static enum MHD_Result begin(struct exchange *x, const char *method, const char *version)
{
    bool sound = admission_check_http(x, method, version);
    request_id_set(x->id, x->head.request_id);
    traceparent_read(x->trace, x->head.traceparent);
    if (!sound)
        return refuse_now(x);
    bool fine = admission_check(x);
    x->state = fine && x->head.method == METHOD_POST ? EXCHANGE_STORE : EXCHANGE_DISCARD;
    if (!x->head.has_body)
        return MHD_YES;
    if (!fine && !can_discard(x))
        return refuse_now(x);
    const struct raw_refusal of = {.id = x->id,
                                   .origin = x->head.origin,
                                   .instance = x->route ? x->route->path : NULL,
                                   .allow = x->route ? x->route->allow : NULL,
                                   .method = x->head.method};
    if (x->peer && !connections_move_to_body(x->peer, x->deadline, &of))
        return MHD_NO;
    if (fine)
        reserve_body(x);
    return MHD_YES;
}

static void drop_body(struct exchange *x)
{
    buffer_free(&x->body);
    budget_give(&x->service->held, x->charged);
    x->charged = 0;
    x->state = EXCHANGE_DISCARD;
}

static bool refuse_size(struct exchange *x)
{
    x->refusal.limit = x->service->settings.max_body;
    return problem_set(&x->refusal, PROBLEM_BODY_TOO_LARGE, "The body has more than %zu bytes, the limit.",
                       x->refusal.limit);
}

static bool store(struct exchange *x, const char *data, size_t size)
{
    if (x->received > x->service->settings.max_body)
        return refuse_size(x);
    if (!budget_take(&x->service->held, size))
        return problem_set(&x->refusal, PROBLEM_NO_MEMORY, "The %zu bytes for the bodies of all requests are spent.",
                           x->service->settings.memory);
    x->charged += size;
    buffer_append(&x->body, data, size);
    return !x->body.failed || problem_set(&x->refusal, PROBLEM_NO_MEMORY, "There is no memory for the body.");
}

static bool was_told(const struct exchange *x)
{
    return x->peer && connection_cut_told(x->peer) != PROBLEM_NONE;
}

/* A refused body is read on for a while: a reply sent in the middle of it may be lost. One without a length that goes
 * on is refused in the middle all the same, and read up to twice the limit. */
static enum MHD_Result take(struct exchange *x, const char *data, size_t *size)
{
    size_t enough = x->service->settings.max_body + DISCARD_SLACK;
    x->received += *size;
    if (clock_now() > x->deadline || x->received > 2 * enough)
        return MHD_NO;
    if (x->state == EXCHANGE_STORE && !store(x, data, *size))
        drop_body(x);
    if (x->received > enough && x->peer && !was_told(x)) {
        if (x->refusal.code == PROBLEM_NONE)
            refuse_size(x);
        connection_cut_refuse(x->peer, &x->refusal);
    }
    *size = 0;
    return MHD_YES;
}

/* Made when it is asked for first. */
static const struct page_cache_page *find_lasting(struct exchange *x, bool *missing)
{
    bool packed = content_encoding_wants_gzip(x->head.accept_encoding);
    const struct page_cache_page *kept = page_cache_find(x->service->pages, x->route->path, x->name, packed);
    struct page page = {0};
    if (kept)
        return kept;
    x->route->page(x->service, x->name, &page);
    *missing = page.status == 0;
    if (*missing || !page_cache_keep(x->service->pages, x->route->path, x->name, &page.body, page.media_type))
        return NULL;
    return page_cache_find(x->service->pages, x->route->path, x->name, packed);
}

static enum MHD_Result send_lasting(struct exchange *x)
{
    bool missing = false;
    const struct page_cache_page *page = find_lasting(x, &missing);
    if (missing)
        return answer_problem(
            x, &(struct problem){.code = PROBLEM_NOT_FOUND, .detail = "There is nothing of this name."}, NULL);
    if (!page)
        return answer_problem(x, &(struct problem){.code = PROBLEM_NO_MEMORY}, NULL);
    bool known = page_cache_matches(x->head.if_none_match, page->etag);
    struct answer answer = {
        .head = {.status = known ? 304 : 200, .media_type = known ? NULL : page->media_type, .etag = page->etag},
        .page = page,
        .packed = page->packed};
    return answer_send(x, &answer);
}

static enum MHD_Result send_page(struct exchange *x)
{
    struct answer answer = {0};
    if (x->head.method == METHOD_OPTIONS) {
        answer.head.status = 204;
        answer.head.allow = x->route ? x->route->allow : "GET, HEAD, POST, OPTIONS";
    } else if (x->route->lasting) {
        return send_lasting(x);
    } else {
        struct page page = {0};
        x->route->page(x->service, x->name, &page);
        answer.head.status = page.status;
        answer.head.media_type = page.media_type;
        answer.body = page.body;
        answer.head.retry_after = page.retry_after;
    }
    return answer_send(x, &answer);
}

static enum MHD_Result finish(struct exchange *x)
{
    switch (x->state) {
    case EXCHANGE_STORE:
        return dispatch_start(x);
    case EXCHANGE_DISCARD:
        if (was_told(x))
            return MHD_NO;
        return x->refusal.code == PROBLEM_NONE ? send_page(x) : answer_problem(x, &x->refusal, NULL);
    case EXCHANGE_WORK:
        return dispatch_finish(x);
    case EXCHANGE_SENT:
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

static const char *find_message(const struct exchange *x, enum MHD_RequestTerminationCode code)
{
    if (code == MHD_REQUEST_TERMINATED_COMPLETED_OK)
        return "request";
    return x->status == 0 ? "request aborted" : "reply aborted";
}

static void count_exchange(const struct exchange *x)
{
    metrics_record(x->service->metrics,
                   &(struct metrics_request){.route = x->route,
                                             .method = x->head.method,
                                             .status = x->status,
                                             .duration = clock_now() - x->begun,
                                             .bytes_in = x->received,
                                             .bytes_out = atomic_load_explicit(&x->sent, memory_order_relaxed),
                                             .refusal = x->problem,
                                             .queued = x->queued,
                                             .queue = x->queue,
                                             .computed = x->numbers > 0,
                                             .compute_seconds = x->compute_seconds,
                                             .numbers = x->numbers});
}

static void log_exchange(const struct exchange *x, enum MHD_RequestTerminationCode code)
{
    enum log_level level = x->route && x->route->probe ? LOG_DEBUG : LOG_INFO;
    if (!log_wants(x->service->log, level))
        return;
    log_request(x->service->log, level,
                &(struct log_request){.message = find_message(x, code),
                                      .id = x->id,
                                      .client = x->client_name,
                                      .trace = x->trace[0] ? x->trace : NULL,
                                      .method = x->head.method_name,
                                      .route = x->route ? x->route->path : "other",
                                      .path = x->path[0] ? x->path : NULL,
                                      .code = x->problem == PROBLEM_NONE ? NULL : problem_slug(x->problem),
                                      .status = x->status,
                                      .bytes_in = x->received,
                                      .bytes_out = atomic_load_explicit(&x->sent, memory_order_relaxed),
                                      .duration = clock_now() - x->begun,
                                      .queue = x->queue});
}

/* A reply that was sent from outside counts as this one's. */
static void note_cut(struct exchange *x)
{
    if (x->status != 0)
        return;
    x->problem = connection_cut_told(x->peer);
    x->status = x->problem == PROBLEM_NONE ? 0 : problem_status(x->problem);
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
    if (x->peer) {
        note_cut(x);
        connections_attach(service->connections, x->peer, (struct connection_wait){0});
        connections_move(x->peer, CONNECTION_IDLE, clock_now() + clock_from_seconds(service->settings.idle_timeout));
    }
    log_exchange(x, code);
    count_exchange(x);
    drop_body(x);
    work_release(x->work);
    request_head_free(&x->head);
    if (x->forwarded)
        client_limits_close(service->clients, x->client);
    free(x);
    atomic_fetch_sub(&service->requests, 1);
}
