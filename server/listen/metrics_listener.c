/* Taking connections in. */
#include "server/listen/metrics_listener.h"

#include "server/config/listen_address.h"
#include "server/listen/listener.h"
#include "server/run/server.h"
#include "server/run/signals.h"

#include <sys/socket.h>

bool metrics_listener_open(struct server *server)
{
    char why[256];
    unsigned port = 0;
    const char *place = server->settings.metrics_listen;
    if (!*place)
        return true;
    server->side = listen_address_open(place, &port, why, sizeof why);
    if (server->side >= 0)
        log_event(server->log, LOG_INFO, port ? "probes and metrics on %s, port %u" : "probes and metrics on %s", place,
                  port);
    else
        log_event(server->log, LOG_ERROR, "--metrics-listen: %s", why);
    return server->side >= 0;
}

void metrics_listener_accept(struct server *server, int listener)
{
    for (;;) {
        struct sockaddr_storage address;
        socklen_t size = sizeof address;
        int descriptor = accept4(listener, (struct sockaddr *)&address, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (descriptor < 0)
            return;
        MHD_add_connection(server->daemon, descriptor, (struct sockaddr *)&address, size);
    }
}

void metrics_listener_wait(struct server *server, int milliseconds)
{
    if (signals_wait(server->side, milliseconds))
        metrics_listener_accept(server, server->side);
}

void metrics_listener_close(struct server *server)
{
    if (server->side < 0)
        return;
    listener_refuse(server->side, server->settings.metrics_listen);
    listener_close(server->side);
    server->side = -1;
}
