/* Reading settings: one table, three sources, the later beats the earlier. */
#include "server/config/settings.h"

#include "server/config/listen_address.h"
#include "server/config/origin.h"
#include "server/config/proxies.h"
#include "server/watch/log.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct setting rows[] = {
#define ROW(field, flag, kind, initial, least, most, help) \
    {flag, \
     SETTINGS_##kind, \
     initial, \
     least, \
     most, \
     help, \
     offsetof(struct settings, field), \
     offsetof(struct settings, field##_source)},
    SETTINGS(ROW)
#undef ROW
};

static const struct {
    const char *flag;
    enum settings_action action;
} actions[] = {
#define ROW(name, flag, help) {flag, SETTINGS_##name},
    SETTINGS_ACTIONS(ROW)
#undef ROW
};

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

const struct setting *settings_row(size_t index)
{
    return index < COUNT_OF(rows) ? &rows[index] : NULL;
}

char *settings_variable(const struct setting *row, char *out, size_t size)
{
    snprintf(out, size, "ATTND_%s", row->flag);
    for (char *c = out; *c; c++)
        *c = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
    return out;
}

static char *print_size(size_t bytes, char *out, size_t size)
{
    static const char units[] = "KMG";
    const char *unit = "";
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

static bool has_word(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (; *text; text += strcspn(text, ",")) {
        text += strspn(text, ", ");
        if (strcspn(text, ", ") == length && strncasecmp(text, word, length) == 0 && length > 0)
            return true;
    }
    return false;
}

bool settings_list_has(const struct settings_list *list, const char *word)
{
    for (size_t i = 0; i < list->count; i++)
        if (has_word(list->texts[i], word))
            return true;
    return false;
}

static const void *find_field(const struct settings *settings, const struct setting *row)
{
    return (const char *)settings + row->offset;
}

char *settings_value(const struct settings *settings, const struct setting *row, char *out, size_t size)
{
    const void *field = find_field(settings, row);
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
    case SETTINGS_NETWORKS:
        return print_list(field, out, size);
    case SETTINGS_FORMAT:
        snprintf(out, size, "%s", log_format_name((enum log_format) * (const settings_FORMAT *)field));
        return out;
    case SETTINGS_LEVEL:
        snprintf(out, size, "%s", log_level_name((enum log_level) * (const settings_LEVEL *)field));
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

static bool add_text(struct settings_list *list, const char *value)
{
    if (list->count == SETTINGS_LIST_MAX)
        return false;
    list->texts[list->count++] = value;
    return true;
}

static bool set_field(void *field, const struct setting *row, const char *value)
{
    switch (row->kind) {
    case SETTINGS_TEXT:
        *(settings_TEXT *)field = value;
        return true;
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
    case SETTINGS_NETWORKS:
        return proxies_read(&(struct proxies){0}, value) && add_text(field, value);
    case SETTINGS_FORMAT:
        return log_format_find(value, field);
    case SETTINGS_LEVEL:
        return log_level_find(value, field);
    }
    return false;
}

static void describe_range(const struct setting *row, char *out, size_t size)
{
    char least[32];
    char most[32];
    if (row->kind == SETTINGS_COUNT)
        snprintf(out, size, "a whole number from %.0f to %.0f", row->least, row->most);
    else if (row->kind == SETTINGS_SIZE)
        snprintf(out, size, "bytes from %s to %s, with K, M or G", print_size((size_t)row->least, least, sizeof least),
                 print_size((size_t)row->most, most, sizeof most));
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
    else if (row->kind == SETTINGS_NETWORKS)
        snprintf(out, size, "an address, a network like 10.0.0.0/8, or unix; %d times at most", SETTINGS_LIST_MAX);
    else
        snprintf(out, size, "%s", row->help);
}

/* `name` is what the operator wrote: the flag or the variable. */
static bool set_row(struct settings *settings, const struct setting *row, const char *value,
                    enum settings_source source, const char *name, char *why, size_t size)
{
    char *field = (char *)settings + row->offset;
    enum settings_source *from = (enum settings_source *)(void *)((char *)settings + row->source_offset);
    if ((row->kind == SETTINGS_LIST || row->kind == SETTINGS_NETWORKS) && *from != source)
        *(struct settings_list *)(void *)field = (struct settings_list){0};
    if (set_field(field, row, value)) {
        *from = source;
        return true;
    }
    char range[128];
    describe_range(row, range, sizeof range);
    snprintf(why, size, "%s: \"%.64s\" is not %s.", name, value, range);
    return false;
}

static const struct setting *find_variable(const char *entry)
{
    char name[64];
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        settings_variable(&rows[i], name, sizeof name);
        size_t length = strlen(name);
        if (strncmp(entry, name, length) == 0 && entry[length] == '=')
            return &rows[i];
    }
    return NULL;
}

static bool read_environment(struct settings *settings, char **environment, FILE *warnings, char *why, size_t size)
{
    char name[64];
    for (; *environment; environment++) {
        const char *entry = *environment;
        if (strncmp(entry, "ATTND_", 6) != 0)
            continue;
        const struct setting *row = find_variable(entry);
        if (!row)
            fprintf(warnings, "attentiond: no setting has the variable %.*s\n", (int)strcspn(entry, "="), entry);
        else if (!set_row(settings, row, strchr(entry, '=') + 1, SETTINGS_FROM_ENVIRONMENT,
                          settings_variable(row, name, sizeof name), why, size))
            return false;
    }
    return true;
}

static const struct setting *find_flag(const char *flag, size_t length)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (strlen(rows[i].flag) == length && memcmp(rows[i].flag, flag, length) == 0)
            return &rows[i];
    return NULL;
}

static bool read_action(struct settings *settings, const char *flag)
{
    for (size_t i = 0; i < COUNT_OF(actions); i++)
        if (strcmp(actions[i].flag, flag) == 0) {
            settings->action = actions[i].action;
            return true;
        }
    return false;
}

/* "--flag value", "--flag=value", or a bare "--flag" for a switch. *at moves past what was used. */
static bool read_flag(struct settings *settings, int argc, char **argv, int *at, char *why, size_t size)
{
    const char *word = argv[(*at)++];
    if (strncmp(word, "--", 2) == 0 && read_action(settings, word + 2))
        return true;
    size_t length = strcspn(word, "=");
    const struct setting *row = strncmp(word, "--", 2) == 0 ? find_flag(word + 2, length - 2) : NULL;
    if (!row) {
        snprintf(why, size, "%.64s: there is no such flag; --help lists them.", word);
        return false;
    }
    const char *value = word[length] == '=' ? word + length + 1 : row->kind == SETTINGS_SWITCH ? "true" : NULL;
    if (!value && *at < argc)
        value = argv[(*at)++];
    if (value) {
        char name[64];
        snprintf(name, sizeof name, "--%s", row->flag);
        return set_row(settings, row, value, SETTINGS_FROM_FLAG, name, why, size);
    }
    snprintf(why, size, "--%s: a value is missing.", row->flag);
    return false;
}

bool settings_read(struct settings *settings, int argc, char **argv, char **environment, FILE *warnings, char *why,
                   size_t size)
{
    *settings = (struct settings){.action = SETTINGS_SERVE};
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (!set_row(settings, &rows[i], rows[i].initial, SETTINGS_FROM_DEFAULT, rows[i].flag, why, size))
            return false;
    if (!read_environment(settings, environment, warnings, why, size))
        return false;
    for (int at = 1; at < argc;)
        if (!read_flag(settings, argc, argv, &at, why, size))
            return false;
    if (settings->max_body > settings->memory) /* no such body could ever be held */
        settings->max_body = settings->memory;
    return true;
}
