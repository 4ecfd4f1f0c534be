/* The listening socket. */
#include "server/listen/listener.h"

#include "server/config/address.h"
#include "server/config/listen_address.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define FIRST_PASSED 3 /* systemd's first descriptor */
#define UNIX_MODE 0660

static int fail(char *why, size_t size, const char *address, unsigned port)
{
    if (listen_address_path(address))
        snprintf(why, size, "cannot listen on %s: %s", address, strerror(errno));
    else
        snprintf(why, size, "cannot listen on %s port %u: %s", address, port, strerror(errno));
    return -1;
}

static int close_for_error(int descriptor)
{
    int reason = errno;
    close(descriptor);
    errno = reason;
    return -1;
}

static int open_socket(const struct sockaddr *address, socklen_t size)
{
    const int on = 1;
    const int off = 0;
    int descriptor = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0)
        return -1;
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (address->sa_family == AF_INET6)
        setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (bind(descriptor, address, size) == 0 && listen(descriptor, SOMAXCONN) == 0)
        return descriptor;
    return close_for_error(descriptor);
}

static unsigned find_port(int descriptor)
{
    struct sockaddr_storage address = {0};
    socklen_t size = sizeof address;
    if (getsockname(descriptor, (struct sockaddr *)&address, &size) != 0)
        return 0;
    if (address.ss_family == AF_INET6)
        return ntohs(((const struct sockaddr_in6 *)&address)->sin6_port);
    return address.ss_family == AF_INET ? ntohs(((const struct sockaddr_in *)&address)->sin_port) : 0;
}

/* The protocol of sd_listen_fds: how many sockets were passed to this process. */
static long count_passed(void)
{
    const char *process = getenv("LISTEN_PID");
    const char *count = getenv("LISTEN_FDS");
    return process && count && strtol(process, NULL, 10) == getpid() ? strtol(count, NULL, 10) : 0;
}

/* Its flags are the other holders', too, but for the one that is this descriptor's own. */
static bool take_passed(struct listener *listener, char *why, size_t size)
{
    int listens = 0;
    socklen_t length = sizeof listens;
    if (count_passed() > 1) { /* who connects to the others would wait for ever */
        snprintf(why, size, "%ld sockets were passed, but only one can be served", count_passed());
        return false;
    }
    if (getsockopt(FIRST_PASSED, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) != 0 || !listens) {
        snprintf(why, size, "what was passed (LISTEN_FDS) is no socket that listens");
        return false;
    }
    fcntl(FIRST_PASSED, F_SETFD, FD_CLOEXEC);
    fcntl(FIRST_PASSED, F_SETFL, fcntl(FIRST_PASSED, F_GETFL) | O_NONBLOCK);
    *listener = (struct listener){.descriptor = FIRST_PASSED, .port = find_port(FIRST_PASSED), .passed = true};
    return true;
}

static bool set_path(struct sockaddr_un *address, const char *path)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    errno = *path ? ENAMETOOLONG : EINVAL;
    if (!*path || strlen(path) >= sizeof address->sun_path)
        return false;
    memcpy(address->sun_path, path, strlen(path));
    return true;
}

static int connect_socket(const struct sockaddr *address, socklen_t size, int seconds)
{
    const struct timeval patience = {.tv_sec = seconds};
    int descriptor = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0)
        return -1;
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    return connect(descriptor, address, size) == 0 ? descriptor : close_for_error(descriptor);
}

/* Nobody answers there: the file was left over. */
static void remove_left_over(const struct sockaddr_un *address)
{
    struct stat status;
    if (lstat(address->sun_path, &status) != 0 || !S_ISSOCK(status.st_mode))
        return;
    int descriptor = connect_socket((const struct sockaddr *)address, sizeof *address, 1);
    if (descriptor >= 0)
        close(descriptor);
    else if (errno == ECONNREFUSED)
        unlink(address->sun_path);
}

/* Nobody can connect before the file's mode is right: only then it listens. */
static bool serve_unix(int descriptor, const struct sockaddr_un *address, struct listener *listener)
{
    struct stat status;
    if (bind(descriptor, (const struct sockaddr *)address, sizeof *address) != 0)
        return false;
    if (chmod(address->sun_path, UNIX_MODE) != 0 || lstat(address->sun_path, &status) != 0 ||
        listen(descriptor, SOMAXCONN) != 0)
        return false;
    *listener = (struct listener){.descriptor = descriptor, .device = status.st_dev, .inode = status.st_ino};
    memcpy(listener->path, address->sun_path, sizeof listener->path);
    return true;
}

static bool open_unix(struct listener *listener, const char *path)
{
    struct sockaddr_un address;
    if (!set_path(&address, path))
        return false;
    remove_left_over(&address);
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0)
        return false;
    return serve_unix(descriptor, &address, listener) || close_for_error(descriptor) >= 0;
}

static bool is_everywhere(const char *address)
{
    return strcmp(address, "*") == 0 || strcmp(address, "::") == 0 || strcmp(address, "[::]") == 0;
}

/* getaddrinfo; an address of IPv6 may stand in brackets. */
static int find_address(const char *address, unsigned port, int flags, struct addrinfo **found)
{
    char name[NI_MAXHOST];
    char service[16];
    const struct addrinfo wanted = {.ai_socktype = SOCK_STREAM, .ai_flags = flags | AI_NUMERICSERV};
    size_t length = strlen(address);
    bool brackets = length > 2 && address[0] == '[' && address[length - 1] == ']';
    snprintf(name, sizeof name, "%.*s", (int)(length - 2 * (size_t)brackets), address + brackets);
    snprintf(service, sizeof service, "%u", port);
    return getaddrinfo(name, service, &wanted, found);
}

static int open_named(const char *address, unsigned port, char *why, size_t size)
{
    struct addrinfo *found = NULL;
    int failure = find_address(address, port, AI_PASSIVE, &found);
    if (failure != 0) {
        snprintf(why, size, "cannot listen on %s: %s", address, gai_strerror(failure));
        return -1;
    }
    int descriptor = open_socket(found->ai_addr, found->ai_addrlen);
    int reason = errno;
    freeaddrinfo(found);
    errno = reason;
    return descriptor < 0 ? fail(why, size, address, port) : descriptor;
}

static int open_everywhere(unsigned port, char *why, size_t size)
{
    int descriptor = open_named("::", port, why, size);
    if (descriptor >= 0 || (errno != EAFNOSUPPORT && errno != EADDRNOTAVAIL))
        return descriptor;
    return open_named("0.0.0.0", port, why, size);
}

static bool open_new(struct listener *listener, const char *address, unsigned port, char *why, size_t size)
{
    const char *path = listen_address_path(address);
    if (path)
        return open_unix(listener, path) || fail(why, size, address, 0) >= 0;
    int descriptor = is_everywhere(address) ? open_everywhere(port, why, size) : open_named(address, port, why, size);
    if (descriptor >= 0)
        *listener = (struct listener){.descriptor = descriptor, .port = find_port(descriptor)};
    return descriptor >= 0;
}

bool listener_open(struct listener *listener, const char *address, unsigned port, char *why, size_t size)
{
    return count_passed() > 0 ? take_passed(listener, why, size) : open_new(listener, address, port, why, size);
}

bool listener_open_at(struct listener *listener, const char *place, char *why, size_t size)
{
    char address[256];
    unsigned port = 0;
    if (listen_address_split(place, address, sizeof address, &port))
        return open_new(listener, address, port, why, size);
    snprintf(why, size, "%.64s is no address with a port", place);
    return false;
}

bool listener_is_local(const struct listener *listener)
{
    static const unsigned char loopback_v6[ADDRESS_BYTES] = {[15] = 1};
    struct sockaddr_storage name = {0};
    socklen_t size = sizeof name;
    if (listener->descriptor < 0)
        return true;
    if (getsockname(listener->descriptor, (struct sockaddr *)&name, &size) != 0)
        return false;
    const struct address address = address_of((const struct sockaddr *)&name);
    if (address.family == ADDRESS_V4)
        return address.bytes[0] == 127;
    return address.family == ADDRESS_UNIX || memcmp(address.bytes, loopback_v6, sizeof loopback_v6) == 0;
}

static int connect_named(const char *address, unsigned port, int seconds)
{
    struct addrinfo *found = NULL;
    if (find_address(address, port, 0, &found) != 0)
        return -1;
    int descriptor = connect_socket(found->ai_addr, found->ai_addrlen, seconds);
    freeaddrinfo(found);
    return descriptor;
}

int listener_connect(const char *address, unsigned port, int seconds)
{
    struct sockaddr_un local;
    const char *path = listen_address_path(address);
    if (path)
        return set_path(&local, path) ? connect_socket((const struct sockaddr *)&local, sizeof local, seconds) : -1;
    bool everywhere = is_everywhere(address) || strcmp(address, "0.0.0.0") == 0;
    return connect_named(everywhere ? "127.0.0.1" : address, port, seconds);
}

/* A filter that drops SYN segments: who comes now tries again in a second and is refused then, while connections that
 * are made already can still be accepted. Byte 13 of a TCP header holds the flags, 0x02 is SYN. */
static void drop_new(int descriptor)
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

/* Another process may have put its own there meanwhile. */
static void remove_file(const struct listener *listener)
{
    struct stat status;
    if (lstat(listener->path, &status) == 0 && status.st_dev == listener->device && status.st_ino == listener->inode)
        unlink(listener->path);
}

void listener_refuse(const struct listener *listener)
{
    if (listener->passed || listener->descriptor < 0)
        return;
    if (*listener->path)
        remove_file(listener);
    else
        drop_new(listener->descriptor);
}

/* Shutting it down would end a passed one for all who have it. */
void listener_close(struct listener *listener)
{
    if (listener->descriptor < 0)
        return;
    if (!listener->passed)
        shutdown(listener->descriptor, SHUT_RDWR);
    close(listener->descriptor);
    listener->descriptor = -1;
}
