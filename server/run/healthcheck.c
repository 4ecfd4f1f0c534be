/* --healthcheck. */
#include "server/run/healthcheck.h"

#include "server/listen/listener.h"
#include "server/tls/tls_certificate.h"
#include "server/tls/tls_client.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PATIENCE_SECONDS 3

static ptrdiff_t ask(int descriptor, const char *request, char *reply, size_t size)
{
    bool sent = send(descriptor, request, strlen(request), MSG_NOSIGNAL) == (ssize_t)strlen(request);
    return sent ? recv(descriptor, reply, size, MSG_WAITALL) : -1;
}

bool healthcheck_ready(const struct settings *settings)
{
    static const char request[] = "GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    static const char good[] = "HTTP/1.1 200 ";
    char reply[sizeof good - 1] = {0};
    int descriptor = listener_connect(settings->listen, (unsigned)settings->port, PATIENCE_SECONDS);
    if (descriptor < 0)
        return false;
    ptrdiff_t got = (tls_certificate_wanted(settings) ? tls_client_ask : ask)(descriptor, request, reply, sizeof reply);
    close(descriptor);
    return got == (ptrdiff_t)sizeof reply && memcmp(reply, good, sizeof reply) == 0;
}
