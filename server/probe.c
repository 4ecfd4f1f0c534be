/* --healthcheck. */
#include "server/probe.h"

#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define PATIENCE_SECONDS 3

/* A service that listens everywhere is asked on the loopback. */
static const char *find_host(const char *listen)
{
    if (strcmp(listen, "0.0.0.0") == 0)
        return "127.0.0.1";
    return strcmp(listen, "::") == 0 ? "::1" : listen;
}

static int connect_to(const char *host, size_t port)
{
    char service[24];
    struct addrinfo *found = NULL;
    const struct addrinfo wanted = {.ai_socktype = SOCK_STREAM};
    const struct timeval patience = {.tv_sec = PATIENCE_SECONDS};
    snprintf(service, sizeof service, "%zu", port);
    if (getaddrinfo(host, service, &wanted, &found) != 0)
        return -1;
    int descriptor = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor >= 0) {
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
        if (connect(descriptor, found->ai_addr, found->ai_addrlen) != 0) {
            close(descriptor);
            descriptor = -1;
        }
    }
    freeaddrinfo(found);
    return descriptor;
}

bool probe_ready(const struct settings *settings)
{
    static const char request[] = "GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    static const char good[] = "HTTP/1.1 200 ";
    char answer[sizeof good] = {0};
    int descriptor = connect_to(find_host(settings->listen), settings->port);
    if (descriptor < 0)
        return false;
    bool sent = send(descriptor, request, sizeof request - 1, MSG_NOSIGNAL) == (ssize_t)sizeof request - 1;
    ssize_t got = sent ? recv(descriptor, answer, sizeof good - 1, MSG_WAITALL) : -1;
    close(descriptor);
    return got == (ssize_t)sizeof good - 1 && memcmp(answer, good, sizeof good - 1) == 0;
}
