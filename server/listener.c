/* The listening socket. */
#include "server/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int open_socket(const struct addrinfo *found)
{
    int on = 1;
    int descriptor = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0)
        return -1;
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(descriptor, found->ai_addr, found->ai_addrlen) == 0 && listen(descriptor, SOMAXCONN) == 0)
        return descriptor;
    int reason = errno;
    close(descriptor);
    errno = reason;
    return -1;
}

static unsigned find_port(int descriptor)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } address;
    socklen_t size = sizeof address;
    if (getsockname(descriptor, &address.any, &size) != 0)
        return 0;
    return ntohs(address.any.sa_family == AF_INET6 ? address.v6.sin6_port : address.v4.sin_port);
}

int listener_open(const char *address, unsigned *port, char *why, size_t size)
{
    char service[16];
    struct addrinfo *found = NULL;
    const struct addrinfo wanted = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    snprintf(service, sizeof service, "%u", *port);
    int failure = getaddrinfo(address, service, &wanted, &found);
    if (failure != 0) {
        snprintf(why, size, "cannot listen on %s: %s", address, gai_strerror(failure));
        return -1;
    }
    int descriptor = open_socket(found);
    freeaddrinfo(found);
    if (descriptor < 0)
        snprintf(why, size, "cannot listen on %s port %u: %s", address, *port, strerror(errno));
    else
        *port = find_port(descriptor);
    return descriptor;
}

bool listener_is_local(const char *address)
{
    return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0 || strcmp(address, "localhost") == 0;
}

/* A filter that drops SYN segments: who comes now tries again in a second and is refused then, while connections that
 * are made already can still be accepted. Byte 13 of a TCP header holds the flags, 0x02 is SYN. */
void listener_refuse(int descriptor)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 13),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x02, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_RET | BPF_K, 0xffffffff),
    };
    struct sock_fprog program = {.len = sizeof code / sizeof *code, .filter = code};
    setsockopt(descriptor, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
}

void listener_close(int descriptor)
{
    shutdown(descriptor, SHUT_RDWR);
    close(descriptor);
}
