/* Requests: where they go, who asks. */
#include "server/exchange/request.h"

#include "server/coding/media_type.h"
#include "server/listen/client_limits.h"
#include "server/listen/connections.h"
#include "server/service/pages.h"
#include "server/service/service.h"
#include "server/watch/clock.h"
#include "server/watch/printable.h"

#include <string.h>

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
    if (route && ((route->page == pages_metrics && !metrics) || (side && !route_is(route, ROUTE_PROBE))))
        return NULL;
    return route;
}

/* Behind a trusted proxy the client is whom the proxy names; a request counts as a connection of it. */
static void find_client(struct request *request, struct service *service)
{
    const struct connection *peer = request->peer;
    request->client = peer ? peer->client : NULL;
    if (peer)
        memcpy(request->client_name, peer->name, sizeof request->client_name);
    else
        address_print(&(struct address){.family = ADDRESS_NONE}, request->client_name);
    if (!peer || !proxies_trust(&service->proxies, &peer->address))
        return;
    struct address client = proxies_find_client(&service->proxies, request->connection, &peer->address);
    address_print(&client, request->client_name);
    request->forwarded = memcmp(&client, &peer->address, sizeof client) != 0;
    if (request->forwarded)
        request->client = client_limits_open(service->clients, &client);
}

void request_open(struct request *request, struct service *service, struct MHD_Connection *connection, const char *url)
{
    request->connection = connection;
    request->peer = connections_find(connection);
    request->begun = clock_now();
    find_client(request, service);
    request->route = find_route(service, request->peer, url, &request->name);
    if (!request->route || *request->name)
        printable_path(request->path, sizeof request->path, find_path(url));
}

void request_close(struct request *request, struct service *service)
{
    request_head_free(&request->head);
    if (request->forwarded)
        client_limits_close(service->clients, request->client);
}

static bool check_head(struct request *request, const struct service *service, const char *method, const char *version,
                       struct problem *problem)
{
    if (!request_head_read(&request->head, request->connection, method, version, service->settings.max_header, problem))
        return false;
    if (!request->peer)
        return true;
    if (request->peer->target.code == PROBLEM_NONE)
        return request_head_check_end(request->peer->target_end, version, problem);
    *problem = request->peer->target;
    return false;
}

bool request_read(struct request *request, const struct service *service, const char *method, const char *version,
                  struct problem *problem)
{
    bool sound = check_head(request, service, method, version, problem);
    query_read(&request->query, request->connection);
    request_id_set(request->id, request->head.request_id);
    traceparent_read(request->trace, request->head.traceparent);
    return sound;
}

bool request_wants_text(const struct request *request)
{
    double json = media_type_weight(request->head.accept, "application/json");
    return request->route->tables && media_type_weight(request->head.accept, "text/plain") > json;
}

enum job_format request_format(const struct request *request)
{
    bool text = request_wants_text(request);
    double other = media_type_weight(request->head.accept, text ? "text/plain" : "application/json");
    if (request->route->picture && media_type_weight(request->head.accept, "image/svg+xml") > other)
        return JOB_PICTURE;
    return !text ? JOB_JSON : request->query.color ? JOB_SHADED : JOB_TEXT;
}

bool request_wants_html(const struct request *request)
{
    const char *other = request_wants_text(request) ? "text/plain" : "application/json";
    return request->route->html &&
           media_type_weight(request->head.accept, "text/html") > media_type_weight(request->head.accept, other);
}
