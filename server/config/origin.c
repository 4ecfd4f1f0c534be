/* Reading origins. */
#include "server/config/origin.h"

#include <string.h>

static bool is_origin(const char *word, size_t length)
{
    char origin[256];
    if (length >= sizeof origin)
        return false;
    memcpy(origin, word, length);
    origin[length] = '\0';
    const char *host = strstr(origin, "://");
    if (strcmp(origin, "*") == 0 || strcmp(origin, "null") == 0)
        return true;
    return host && host > origin && host[3] && !strpbrk(host + 3, "/?#* \"");
}

bool origin_read(const char *value)
{
    for (size_t length = strcspn(value, ","); is_origin(value, length); length = strcspn(value, ",")) {
        value += length;
        if (!*value++)
            return true;
    }
    return false;
}
