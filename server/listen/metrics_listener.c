/* Taking connections in. */
#include "server/listen/metrics_listener.h"

#include "server/listen/listener.h"
#include "server/watch/log.h"

#include <sys/socket.h>

bool metrics_listener_open(const char *place, int *listener, struct log *log)
{
    char why[256];
    unsigned port = 0;
    if (!*place)
        return true;
    *listener = listener_open_at(place, &port, why, sizeof why);
    if (*listener >= 0)
        log_event(log, LOG_INFO, port ? "probes and metrics on %s, port %u" : "probes and metrics on %s", place, port);
    else
        log_event(log, LOG_ERROR, "--metrics-listen: %s", why);
    return *listener >= 0;
}

void metrics_listener_accept(int listener, struct MHD_Daemon *daemon)
{
    for (;;) {
        struct sockaddr_storage address;
        socklen_t size = sizeof address;
        int descriptor = accept4(listener, (struct sockaddr *)&address, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (descriptor < 0)
            return;
        MHD_add_connection(daemon, descriptor, (struct sockaddr *)&address, size);
    }
}

void metrics_listener_close(const char *place, int *listener)
{
    if (*listener < 0)
        return;
    listener_refuse(*listener, place);
    listener_close(*listener);
    *listener = -1;
}
