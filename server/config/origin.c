/* Reading origins. */
#include "server/config/origin.h"

#include "server/config/settings.h"

#include <stdio.h>
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

static bool is_word(const char *value, size_t length, const char *word)
{
    return length == strlen(word) && strncmp(value, word, length) == 0;
}

/* A source of a policy ends at a blank, and a directive at a semicolon. */
static bool is_ancestor(const char *word, size_t length)
{
    bool named = is_word(word, length, "self") || is_word(word, length, "none");
    bool plain = !memchr(word, ';', length) && !memchr(word, '\'', length) && !is_word(word, length, "null");
    return named || (plain && is_origin(word, length));
}

bool origin_read_frames(const char *value)
{
    if (strlen(value) > ORIGIN_FRAMES_MAX)
        return false;
    for (size_t length = strcspn(value, ","); is_ancestor(value, length); length = strcspn(value, ",")) {
        value += length;
        if (!*value++)
            return true;
    }
    return false;
}

static size_t write_ancestors(const char *value, char *out, size_t size)
{
    size_t used = 0;
    for (size_t length = strcspn(value, ","); length > 0 && used < size; length = strcspn(value, ",")) {
        const char *quote = is_word(value, length, "self") || is_word(value, length, "none") ? "'" : "";
        used += (size_t)snprintf(out + used, size - used, " %s%.*s%s", quote, (int)length, value, quote);
        value += length + (value[length] == ',');
    }
    return used;
}

void origin_write_frames(const struct settings_list *list, char *out, size_t size)
{
    out[0] = '\0';
    if (settings_list_has(list, "*"))
        return;
    size_t used = (size_t)snprintf(out, size, "; frame-ancestors");
    for (size_t i = 0; i < list->count && used < size; i++)
        used += write_ancestors(list->texts[i], out + used, size - used);
}
