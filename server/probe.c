/* --healthcheck. */
#include "server/probe.h"

#include "server/listener.h"
#include "server/tls.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PATIENCE_SECONDS 3

bool probe_ready(const struct settings *settings)
{
    static const char request[] = "GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    static const char good[] = "HTTP/1.1 200 ";
    char answer[sizeof good] = {0};
    int descriptor = listener_connect(settings->listen, (unsigned)settings->port, PATIENCE_SECONDS);
    if (descriptor < 0)
        return false;
    if (tls_is_on(settings)) { /* there is no TLS client here: that it accepts has to do */
        close(descriptor);
        return true;
    }
    bool sent = send(descriptor, request, sizeof request - 1, MSG_NOSIGNAL) == (ssize_t)sizeof request - 1;
    ssize_t got = sent ? recv(descriptor, answer, sizeof good - 1, MSG_WAITALL) : -1;
    close(descriptor);
    return got == (ssize_t)sizeof good - 1 && memcmp(answer, good, sizeof good - 1) == 0;
}
