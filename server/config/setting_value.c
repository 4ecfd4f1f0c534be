/* Values of settings: one switch a verb, one case a kind. */
#include "server/config/setting_value.h"

#include "server/config/listen_address.h"
#include "server/config/origin.h"
#include "server/config/proxies.h"
#include "server/watch/log.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AUTO "auto" /* a size of 0 */
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static const char *const compressions[] = {
    [SETTINGS_COMPRESS_NONE] = "none", [SETTINGS_COMPRESS_GZIP] = "gzip", [SETTINGS_COMPRESS_ALL] = "all"};

const char *settings_compression_name(enum settings_compression most)
{
    return compressions[most];
}

static char *print_size(size_t bytes, char *out, size_t size)
{
    static const char units[] = "KMG";
    const char *unit = "";
    if (bytes == 0) {
        snprintf(out, size, AUTO);
        return out;
    }
    for (size_t i = 0; i < 3 && bytes > 0 && bytes % 1024 == 0; i++) {
        bytes /= 1024;
        unit = &units[i];
    }
    snprintf(out, size, "%zu%.1s", bytes, unit);
    return out;
}

static char *print_list(const struct settings_list *list, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < list->count && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%s", i ? "," : "", list->texts[i]);
    return out;
}

char *setting_value_print(const void *field, const struct setting *row, char *out, size_t size)
{
    switch (row->kind) {
    case SETTINGS_TEXT:
    case SETTINGS_PLACE:
        snprintf(out, size, "%s", *(const settings_TEXT *)field);
        return out;
    case SETTINGS_COUNT:
        snprintf(out, size, "%zu", *(const settings_COUNT *)field);
        return out;
    case SETTINGS_SIZE:
        return print_size(*(const settings_SIZE *)field, out, size);
    case SETTINGS_SECONDS:
    case SETTINGS_RATE:
        snprintf(out, size, "%g", *(const settings_SECONDS *)field);
        return out;
    case SETTINGS_SWITCH:
        snprintf(out, size, "%s", *(const settings_SWITCH *)field ? "true" : "false");
        return out;
    case SETTINGS_LIST:
    case SETTINGS_FRAMES:
    case SETTINGS_NETWORKS:
        return print_list(field, out, size);
    case SETTINGS_FORMAT:
        snprintf(out, size, "%s", log_format_name((enum log_format) * (const settings_FORMAT *)field));
        return out;
    case SETTINGS_LEVEL:
        snprintf(out, size, "%s", log_level_name((enum log_level) * (const settings_LEVEL *)field));
        return out;
    case SETTINGS_COMPRESSION:
        snprintf(out, size, "%s", compressions[*(const settings_COMPRESSION *)field]);
        return out;
    }
    return out;
}

/* The number at the start of `value`, whose end is at *rest; NaN when there is none. */
static double read_number(const char *value, const char **rest)
{
    char *end = NULL;
    *rest = value;
    if (!isdigit((unsigned char)value[0]))
        return (double)NAN;
    errno = 0;
    double number = strtod(value, &end);
    *rest = end;
    bool plain = strspn(value, "0123456789.eE+") == (size_t)(end - value); /* strtod reads hexadecimal, too */
    return errno == 0 && plain ? number : (double)NAN;
}

static double read_unit(const char **rest)
{
    static const char units[] = "kKmMgG";
    const char *unit = **rest ? strchr(units, **rest) : NULL;
    if (!unit)
        return 1;
    (*rest)++;
    return (double)((size_t)1 << (10 * (1 + (unit - units) / 2)));
}

static bool set_number(void *field, const struct setting *row, const char *value)
{
    const char *rest = NULL;
    double number = read_number(value, &rest);
    if (strcmp(row->initial, AUTO) == 0 && strcmp(value, AUTO) == 0) {
        *(size_t *)field = 0;
        return true;
    }
    if (row->kind == SETTINGS_SIZE)
        number *= read_unit(&rest);
    if (*rest || !(number >= row->least && number <= row->most))
        return false;
    if (row->kind == SETTINGS_SECONDS || row->kind == SETTINGS_RATE)
        *(double *)field = number;
    else if (floor(number) == number && !(row->kind == SETTINGS_COUNT && strchr(value, '.')))
        *(size_t *)field = (size_t)number;
    else
        return false;
    return true;
}

static bool set_switch(bool *field, const char *value)
{
    static const char *const words[] = {"false", "true", "0", "1", "off", "on", "no", "yes"};
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (strcasecmp(value, words[i]) == 0) {
            *field = i % 2 == 1;
            return true;
        }
    return false;
}

static bool set_compression(settings_COMPRESSION *field, const char *value)
{
    for (size_t i = 0; i < COUNT_OF(compressions); i++)
        if (strcmp(value, compressions[i]) == 0) {
            *field = (settings_COMPRESSION)i;
            return true;
        }
    return false;
}

static bool add_text(struct settings_list *list, const char *value)
{
    if (list->count == SETTINGS_LIST_MAX)
        return false;
    list->texts[list->count++] = value;
    return true;
}

bool setting_value_set(void *field, const struct setting *row, const char *value)
{
    switch (row->kind) {
    case SETTINGS_TEXT:
        *(settings_TEXT *)field = value;
        return *value || !*row->initial;
    case SETTINGS_PLACE:
        *(settings_PLACE *)field = value;
        return !*value || listen_address_split(value, NULL, 0, &(unsigned){0});
    case SETTINGS_COUNT:
    case SETTINGS_SIZE:
    case SETTINGS_SECONDS:
    case SETTINGS_RATE:
        return set_number(field, row, value);
    case SETTINGS_SWITCH:
        return set_switch(field, value);
    case SETTINGS_LIST:
        return origin_read(value) && add_text(field, value);
    case SETTINGS_FRAMES:
        return origin_read_frames(value) && add_text(field, value);
    case SETTINGS_NETWORKS:
        return proxies_read(&(struct proxies){0}, value) && add_text(field, value);
    case SETTINGS_FORMAT:
        return log_format_find(value, field);
    case SETTINGS_LEVEL:
        return log_level_find(value, field);
    case SETTINGS_COMPRESSION:
        return set_compression(field, value);
    }
    return false;
}

void setting_value_describe(const struct setting *row, char *out, size_t size)
{
    char least[32];
    char most[32];
    if (row->kind == SETTINGS_COUNT)
        snprintf(out, size, "a whole number from %.0f to %.0f", row->least, row->most);
    else if (row->kind == SETTINGS_SIZE)
        snprintf(out, size, "%sbytes from %s to %s, with K, M or G", strcmp(row->initial, AUTO) == 0 ? "auto, or " : "",
                 print_size((size_t)row->least, least, sizeof least), print_size((size_t)row->most, most, sizeof most));
    else if (row->kind == SETTINGS_SECONDS)
        snprintf(out, size, "seconds from %g to %g", row->least, row->most);
    else if (row->kind == SETTINGS_RATE)
        snprintf(out, size, "a number from %g to %g", row->least, row->most);
    else if (row->kind == SETTINGS_SWITCH)
        snprintf(out, size, "true or false");
    else if (row->kind == SETTINGS_PLACE)
        snprintf(out, size, "ADDRESS:PORT, [ADDRESS]:PORT or unix:PATH");
    else if (row->kind == SETTINGS_LIST)
        snprintf(out, size, "an origin like https://example.org, *, or null; %d at most", SETTINGS_LIST_MAX);
    else if (row->kind == SETTINGS_FRAMES)
        snprintf(out, size, "an origin like https://example.org, self, none, or *; %d at most", SETTINGS_LIST_MAX);
    else if (row->kind == SETTINGS_NETWORKS)
        snprintf(out, size, "an address, a network like 10.0.0.0/8, or unix; %d times at most", SETTINGS_LIST_MAX);
    else if (row->kind == SETTINGS_COMPRESSION)
        snprintf(out, size, "all, gzip or none");
    else
        snprintf(out, size, "%s", row->help);
}
