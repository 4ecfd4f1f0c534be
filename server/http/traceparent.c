/* traceparent: version "-" trace-id "-" parent-id "-" flags, all lower-case hexadecimal. */
#include "server/http/traceparent.h"

#include <string.h>

static bool is_hex(const char *text, size_t length)
{
    return strspn(text, "0123456789abcdef") >= length;
}

static bool is_zero(const char *text, size_t length)
{
    return strspn(text, "0") >= length;
}

bool traceparent_read(char out[TRACEPARENT_SIZE], const char *traceparent)
{
    out[0] = '\0';
    const char *t = traceparent;
    if (!t || strlen(t) < 55 || t[2] != '-' || t[35] != '-' || t[52] != '-')
        return false;
    if (!is_hex(t, 2) || !is_hex(t + 3, 32) || !is_hex(t + 36, 16) || !is_hex(t + 53, 2))
        return false;
    bool first = strncmp(t, "00", 2) == 0;
    if (strncmp(t, "ff", 2) == 0 || (first && t[55]) || (!first && t[55] && t[55] != '-'))
        return false;
    if (is_zero(t + 3, 32) || is_zero(t + 36, 16))
        return false;
    memcpy(out, t + 3, 32);
    out[32] = '\0';
    return true;
}
