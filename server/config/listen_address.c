/* Addresses with ports. */
#include "server/config/listen_address.h"

#include "server/config/address.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_port(const char *text, unsigned *port)
{
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 5 || text[digits])
        return false;
    *port = (unsigned)strtoul(text, NULL, 10);
    return *port <= 65535;
}

const char *listen_address_path(const char *address)
{
    return strncmp(address, "unix:", 5) == 0 ? address + 5 : NULL;
}

bool listen_address_split(const char *place, char *out, size_t size, unsigned *port)
{
    const char *path = listen_address_path(place);
    const char *colon = strrchr(place, ':');
    *port = 0;
    if (path) {
        snprintf(out, size, "%s", place);
        return *path != '\0';
    }
    if (!colon || colon == place || !read_port(colon + 1, port))
        return false;
    bool brackets = place[0] == '[' && colon[-1] == ']';
    const char *start = place + brackets;
    size_t length = (size_t)(colon - start) - brackets;
    snprintf(out, size, "%.*s", (int)length, start);
    return length > 0 && (brackets || !memchr(start, ':', length));
}

struct name {
    struct sockaddr_storage socket;
    socklen_t size;
};

static bool find_name(struct name *name, int descriptor)
{
    *name = (struct name){.size = sizeof name->socket};
    return getsockname(descriptor, (struct sockaddr *)&name->socket, &name->size) == 0;
}

static in_port_t find_port(const struct name *name)
{
    return name->socket.ss_family == AF_INET6 ? ((const struct sockaddr_in6 *)(const void *)&name->socket)->sin6_port
                                              : ((const struct sockaddr_in *)(const void *)&name->socket)->sin_port;
}

static bool is_zero(const struct address *address)
{
    static const unsigned char zero[ADDRESS_BYTES];
    return memcmp(address->bytes, zero, sizeof zero) == 0;
}

bool listen_address_has(int listener, int connection)
{
    struct name ours;
    struct name its;
    if (!find_name(&ours, listener) || !find_name(&its, connection) || ours.socket.ss_family != its.socket.ss_family)
        return false;
    if (ours.socket.ss_family == AF_UNIX)
        return ours.size == its.size && memcmp(&ours.socket, &its.socket, ours.size) == 0;
    const struct address here = address_of((const struct sockaddr *)&ours.socket);
    const struct address there = address_of((const struct sockaddr *)&its.socket);
    return find_port(&ours) == find_port(&its) && (is_zero(&here) || memcmp(&here, &there, sizeof here) == 0);
}
