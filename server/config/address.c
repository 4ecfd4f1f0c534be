/* Addresses and networks. */
#include "server/config/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#define V4_BITS 32
#define V6_BITS 128

static struct address make_v6(const struct in6_addr *v6)
{
    struct address address = {.family = ADDRESS_V6};
    if (IN6_IS_ADDR_V4MAPPED(v6)) {
        address.family = ADDRESS_V4;
        memcpy(address.bytes, (const char *)v6 + 12, 4);
    } else {
        memcpy(address.bytes, v6, sizeof *v6);
    }
    return address;
}

struct address address_of(const struct sockaddr *socket)
{
    struct address address = {.family = ADDRESS_NONE};
    if (socket && socket->sa_family == AF_INET6)
        return make_v6(&((const struct sockaddr_in6 *)(const void *)socket)->sin6_addr);
    if (socket && socket->sa_family == AF_INET) {
        address.family = ADDRESS_V4;
        memcpy(address.bytes, &((const struct sockaddr_in *)(const void *)socket)->sin_addr, 4);
    } else if (!socket || socket->sa_family == AF_UNIX) {
        address.family = ADDRESS_UNIX;
    }
    return address;
}

static bool read_number(struct address *address, const char *text, size_t length)
{
    struct in6_addr v6;
    char copy[ADDRESS_TEXT_SIZE];
    if (length == 0 || length >= sizeof copy)
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    *address = (struct address){.family = ADDRESS_V4};
    if (inet_pton(AF_INET, copy, address->bytes) == 1)
        return true;
    if (inet_pton(AF_INET6, copy, &v6) != 1)
        return false;
    *address = make_v6(&v6);
    return true;
}

static bool is_port(const char *text, size_t length)
{
    if (length == 0)
        return true;
    size_t digits = 1;
    while (digits < length && text[digits] >= '0' && text[digits] <= '9')
        digits++;
    return text[0] == ':' && digits == length && length > 1 && length <= 6;
}

bool address_read(struct address *address, const char *text, size_t length)
{
    const char *bracket = length > 0 && text[0] == '[' ? memchr(text, ']', length) : NULL;
    if (bracket)
        return is_port(bracket + 1, length - (size_t)(bracket + 1 - text)) &&
               read_number(address, text + 1, (size_t)(bracket - text) - 1) && address->family == ADDRESS_V6;
    if (read_number(address, text, length))
        return true;
    const char *colon = memchr(text, ':', length);
    return colon && is_port(colon, length - (size_t)(colon - text)) &&
           read_number(address, text, (size_t)(colon - text));
}

char *address_print(const struct address *address, char out[ADDRESS_TEXT_SIZE])
{
    if (address->family == ADDRESS_NONE || address->family == ADDRESS_UNIX) {
        snprintf(out, ADDRESS_TEXT_SIZE, "%s", address->family == ADDRESS_UNIX ? "unix" : "unknown");
        return out;
    }
    inet_ntop(address->family == ADDRESS_V4 ? AF_INET : AF_INET6, address->bytes, out, ADDRESS_TEXT_SIZE);
    return out;
}

static bool is_set(const struct address *address, unsigned bit)
{
    return address->bytes[bit / 8] >> (7 - bit % 8) & 1;
}

static bool read_prefix(struct network *network, const char *text, size_t length)
{
    unsigned most = network->address.family == ADDRESS_V4 ? V4_BITS : V6_BITS;
    network->bits = 0;
    if (length == 0 || length > 3)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        network->bits = network->bits * 10 + (unsigned)(text[i] - '0');
    }
    if (network->bits > most)
        return false;
    for (unsigned bit = network->bits; bit < most; bit++)
        if (is_set(&network->address, bit))
            return false;
    return true;
}

bool network_read(struct network *network, const char *text, size_t length)
{
    const char *slash = memchr(text, '/', length);
    *network = (struct network){.address.family = ADDRESS_UNIX};
    if (length == 4 && memcmp(text, "unix", 4) == 0)
        return true;
    if (!read_number(&network->address, text, slash ? (size_t)(slash - text) : length))
        return false;
    if (slash)
        return read_prefix(network, slash + 1, length - (size_t)(slash + 1 - text));
    network->bits = network->address.family == ADDRESS_V4 ? V4_BITS : V6_BITS;
    return true;
}

bool network_has(const struct network *network, const struct address *address)
{
    if (network->address.family != address->family)
        return false;
    for (unsigned bit = 0; bit < network->bits; bit++)
        if (is_set(&network->address, bit) != is_set(address, bit))
            return false;
    return true;
}
