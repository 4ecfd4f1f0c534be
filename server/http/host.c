/* Host. */
#include "server/http/host.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!$&'()*+,;="
#define PORT_MAX 65535

/* The end of a name at `text`: plain bytes, and others as "%" with two digits. */
static const char *skip_name(const char *text)
{
    for (;;) {
        text += strspn(text, NAME_BYTES);
        if (text[0] != '%' || !isxdigit((unsigned char)text[1]) || !isxdigit((unsigned char)text[2]))
            return text;
        text += 3;
    }
}

/* "v1.something": a form of address that is still to come. */
static bool is_future(const char *text, size_t length)
{
    size_t digits = strspn(text + 1, "0123456789abcdefABCDEF");
    return (text[0] == 'v' || text[0] == 'V') && digits > 0 && digits + 2 < length && text[digits + 1] == '.' &&
           strspn(text + digits + 2, NAME_BYTES ":") == length - digits - 2;
}

/* The end of an address in brackets; NULL: it is none. */
static const char *skip_brackets(const char *text)
{
    struct in6_addr v6;
    char address[INET6_ADDRSTRLEN];
    size_t length = strcspn(++text, "]");
    if (text[length] != ']')
        return NULL;
    if (is_future(text, length))
        return text + length + 1;
    if (length >= sizeof address)
        return NULL;
    memcpy(address, text, length);
    address[length] = '\0';
    return inet_pton(AF_INET6, address, &v6) == 1 ? text + length + 1 : NULL;
}

static bool is_port(const char *text)
{
    size_t digits = strspn(text, "0123456789");
    size_t zeros = strspn(text, "0");
    return !text[digits] && digits - zeros <= 5 && strtoul(text, NULL, 10) <= PORT_MAX;
}

bool host_is_valid(const char *host)
{
    const char *rest = host[0] == '[' ? skip_brackets(host) : skip_name(host);
    return rest && (!*rest || (*rest == ':' && rest > host && is_port(rest + 1)));
}
