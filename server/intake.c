/* Taking connections in. */
#include "server/intake.h"

#include "server/listener.h"
#include "server/place.h"
#include "server/server.h"
#include "server/signals.h"

#include <sys/socket.h>

bool intake_open(struct server *server)
{
    char why[256];
    unsigned port = 0;
    const char *place = server->settings.metrics_listen;
    if (!*place)
        return true;
    server->side = place_open(place, &port, why, sizeof why);
    if (server->side >= 0)
        log_event(server->log, LOG_INFO, port ? "probes and metrics on %s, port %u" : "probes and metrics on %s", place,
                  port);
    else
        log_event(server->log, LOG_ERROR, "--metrics-listen: %s", why);
    return server->side >= 0;
}

void intake_accept(struct server *server, int listener)
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

void intake_wait(struct server *server, int milliseconds)
{
    if (signals_wait(server->side, milliseconds))
        intake_accept(server, server->side);
}

void intake_close(struct server *server)
{
    if (server->side < 0)
        return;
    listener_refuse(server->side, server->settings.metrics_listen);
    listener_close(server->side);
    server->side = -1;
}
