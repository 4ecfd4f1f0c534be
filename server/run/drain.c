/* Ending without losing a request. */
#include "server/run/drain.h"

#include "server/listen/connections.h"
#include "server/listen/listener.h"
#include "server/listen/metrics_listener.h"
#include "server/run/server.h"
#include "server/run/systemd_notify.h"
#include "server/watch/clock.h"

#define TICK_MILLISECONDS 10
#define SILENCE (CLOCK_SECOND / 2) /* how long an idle connection is kept */
#define STOP_SECONDS 10

static void delay_shutdown(struct server *server)
{
    int64_t end = clock_now() + clock_from_seconds(server->service.settings.shutdown_delay);
    while (clock_now() < end) {
        server_wait(server, TICK_MILLISECONDS);
        connections_reap(server->service.connections);
    }
}

/* libmicrohttpd stops accepting; what the kernel has accepted meanwhile is taken in by us before the port closes. */
static void close_port(struct server *server)
{
    MHD_quiesce_daemon(server->daemon);
    listener_refuse(server->listener, server->service.settings.listen);
    metrics_listener_accept(server->listener, server->daemon);
    server_wait(server, TICK_MILLISECONDS);
    metrics_listener_accept(server->listener, server->daemon);
    listener_close(server->listener);
    server->listener = -1;
}

static bool is_drained(struct server *server, int64_t since)
{
    if (atomic_load(&server->service.requests) > 0)
        return false;
    return connections_open(server->service.connections) == 0 ||
           (clock_now() - since >= SILENCE && connections_silent(server->service.connections, clock_now() - SILENCE));
}

static void finish_requests(struct server *server)
{
    int64_t since = clock_now();
    int64_t end = since + clock_from_seconds(server->service.settings.drain_timeout);
    int64_t told = since;
    while (!is_drained(server, since) && clock_now() < end) {
        server_wait(server, TICK_MILLISECONDS);
        connections_reap(server->service.connections);
        if (clock_now() - told < CLOCK_SECOND)
            continue;
        told = clock_now();
        log_event(server->service.log, LOG_INFO, "draining: %zu requests, %zu connections",
                  atomic_load(&server->service.requests), connections_open(server->service.connections));
    }
}

/* After this no connection is suspended, and none can be any more: MHD_stop_daemon would end the process otherwise. */
static bool free_suspended(struct server *server)
{
    int64_t end = clock_now() + STOP_SECONDS * CLOCK_SECOND;
    while (connections_stop(server->service.connections) > 0 && clock_now() < end)
        server_wait(server, TICK_MILLISECONDS);
    return connections_stop(server->service.connections) == 0;
}

bool drain_run(struct server *server)
{
    atomic_store(&server->service.phase, SERVICE_DRAINING);
    log_event(server->service.log, LOG_INFO, "draining: %zu requests, %zu connections",
              atomic_load(&server->service.requests), connections_open(server->service.connections));
    systemd_notify("STOPPING=1");
    delay_shutdown(server);
    close_port(server);
    finish_requests(server);
    metrics_listener_close(server->service.settings.metrics_listen, &server->side);
    return free_suspended(server);
}
