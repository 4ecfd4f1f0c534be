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
    int64_t end = clock_now() + clock_from_seconds(server->settings.shutdown_delay);
    while (clock_now() < end) {
        metrics_listener_wait(server, TICK_MILLISECONDS);
        connections_reap(server->peers);
    }
}

/* libmicrohttpd stops accepting; what the kernel has accepted meanwhile is taken in by us before the port closes. */
static void close_port(struct server *server)
{
    MHD_quiesce_daemon(server->daemon);
    listener_refuse(server->listener, server->settings.listen);
    metrics_listener_accept(server, server->listener);
    metrics_listener_wait(server, TICK_MILLISECONDS);
    metrics_listener_accept(server, server->listener);
    listener_close(server->listener);
    server->listener = -1;
}

static bool is_drained(struct server *server, int64_t since)
{
    if (atomic_load(&server->exchanges) > 0)
        return false;
    return connections_open(server->peers) == 0 ||
           (clock_now() - since >= SILENCE && connections_silent(server->peers, clock_now() - SILENCE));
}

static void finish_requests(struct server *server)
{
    int64_t since = clock_now();
    int64_t end = since + clock_from_seconds(server->settings.drain_timeout);
    int64_t told = since;
    while (!is_drained(server, since) && clock_now() < end) {
        metrics_listener_wait(server, TICK_MILLISECONDS);
        connections_reap(server->peers);
        if (clock_now() - told < CLOCK_SECOND)
            continue;
        told = clock_now();
        log_event(server->log, LOG_INFO, "draining: %zu requests, %zu connections", atomic_load(&server->exchanges),
                  connections_open(server->peers));
    }
}

/* After this no connection is suspended, and none can be any more: MHD_stop_daemon would end the process otherwise. */
static bool free_suspended(struct server *server)
{
    int64_t end = clock_now() + STOP_SECONDS * CLOCK_SECOND;
    atomic_store(&server->phase, SERVER_STOPPING);
    while (atomic_load(&server->suspended) > 0 && clock_now() < end) {
        connections_abandon(server->peers);
        metrics_listener_wait(server, TICK_MILLISECONDS);
    }
    return atomic_load(&server->suspended) == 0;
}

bool drain_run(struct server *server)
{
    atomic_store(&server->phase, SERVER_DRAINING);
    log_event(server->log, LOG_INFO, "draining: %zu requests, %zu connections", atomic_load(&server->exchanges),
              connections_open(server->peers));
    systemd_notify("STOPPING=1");
    delay_shutdown(server);
    close_port(server);
    finish_requests(server);
    metrics_listener_close(server);
    return free_suspended(server);
}
