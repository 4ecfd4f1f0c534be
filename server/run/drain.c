/* Ending without losing a request. */
#include "server/run/drain.h"

#include "server/listen/connections.h"
#include "server/listen/listener.h"
#include "server/listen/reaper.h"
#include "server/listen/silence.h"
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
        reaper_run(server->service.connections);
    }
}

/* What the kernel has accepted is taken in before the port closes. What waits at a passed socket stays there, for who
 * takes it next. */
static void close_port(struct server *server)
{
    struct acceptor *port = &server->acceptors[0];
    listener_refuse(&port->listener);
    if (!port->listener.passed) {
        acceptor_run(port);
        server_wait(server, TICK_MILLISECONDS);
        acceptor_run(port);
    }
    listener_close(&port->listener);
}

static bool is_drained(struct server *server, int64_t since)
{
    if (atomic_load(&server->service.requests) > 0)
        return false;
    return connections_open(server->service.connections) == 0 ||
           (clock_now() - since >= SILENCE && silence_since(server->service.connections, clock_now() - SILENCE));
}

static void finish_requests(struct server *server)
{
    int64_t since = clock_now();
    int64_t end = since + clock_from_seconds(server->service.settings.drain_timeout);
    int64_t told = since;
    while (!is_drained(server, since) && clock_now() < end) {
        server_wait(server, TICK_MILLISECONDS);
        reaper_run(server->service.connections);
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
    while (reaper_stop(server->service.connections) > 0 && clock_now() < end)
        server_wait(server, TICK_MILLISECONDS);
    return reaper_stop(server->service.connections) == 0;
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
    listener_refuse(&server->acceptors[1].listener);
    listener_close(&server->acceptors[1].listener);
    return free_suspended(server);
}
