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
