/* Reading settings: one table, three sources, the later beats the earlier. */
#include "server/config/settings.h"

#include "api/request/suggest.h"

#include "server/config/setting_value.h"

#include <ctype.h>
#include <string.h>

#define PREFIX "ATTND_" /* of environment variables */

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

static char *print_variable(const char *flag, char *out, size_t size)
{
    snprintf(out, size, PREFIX "%s", flag);
    for (char *c = out; *c; c++)
        *c = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
    return out;
}

char *settings_variable(const struct setting *row, char *out, size_t size)
{
    return print_variable(row->flag, out, size);
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

char *settings_value(const struct settings *settings, const struct setting *row, char *out, size_t size)
{
    return setting_value_print((const char *)settings + row->offset, row, out, size);
}

static bool is_list(enum settings_kind kind)
{
    return kind == SETTINGS_LIST || kind == SETTINGS_FRAMES || kind == SETTINGS_NETWORKS;
}

/* `name` is what the operator wrote: the flag or the variable. */
static bool set_row(struct settings *settings, const struct setting *row, const char *value,
                    enum settings_source source, const char *name, char *why, size_t size)
{
    char *field = (char *)settings + row->offset;
    enum settings_source *from = (enum settings_source *)(void *)((char *)settings + row->source_offset);
    if (is_list(row->kind) && *from != source)
        *(struct settings_list *)(void *)field = (struct settings_list){0};
    if (setting_value_set(field, row, value)) {
        *from = source;
        return true;
    }
    char range[128];
    setting_value_describe(row, range, sizeof range);
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

/* The flag that was meant, perhaps: `name` as a flag or a variable may be written. */
static const char *find_meant(const char *name, bool actions_too)
{
    char plain[SUGGEST_NAME_MAX + 2];
    struct suggestion suggestion = {.wanted = plain};
    snprintf(plain, sizeof plain, "%.*s", (int)strcspn(name, "="), name);
    for (char *c = plain; *c; c++)
        *c = *c == '_' ? '-' : *c;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        suggest_consider(&suggestion, rows[i].flag);
    for (size_t i = 0; i < COUNT_OF(actions) && actions_too; i++)
        suggest_consider(&suggestion, actions[i].flag);
    return suggestion.best;
}

static bool refuse_variable(const char *entry, char *why, size_t size)
{
    char name[64];
    char meant[64];
    const char *best = find_meant(entry + strlen(PREFIX), false);
    snprintf(name, sizeof name, "%.*s", (int)strcspn(entry, "="), entry);
    if (best)
        snprintf(why, size, "%s: there is no such variable; did you mean %s? --help lists them.", name,
                 print_variable(best, meant, sizeof meant));
    else
        snprintf(why, size, "%s: there is no such variable; --help lists them.", name);
    return false;
}

static bool refuse_flag(const char *word, char *why, size_t size)
{
    const char *best = find_meant(word + strspn(word, "-"), true);
    int length = (int)strnlen(word, 64);
    length = memchr(word, '=', (size_t)length) ? (int)strcspn(word, "=") : length;
    if (best)
        snprintf(why, size, "%.*s: there is no such flag; did you mean --%s? --help lists them.", length, word, best);
    else
        snprintf(why, size, "%.*s: there is no such flag; --help lists them.", length, word);
    return false;
}

/* A variable that is set to nothing counts as not set: so templates and env files leave settings out. */
static bool read_environment(struct settings *settings, char **environment, char *why, size_t size)
{
    char name[64];
    for (; *environment; environment++) {
        const char *entry = *environment;
        if (strncmp(entry, PREFIX, strlen(PREFIX)) != 0)
            continue;
        const struct setting *row = find_variable(entry);
        if (!row)
            return refuse_variable(entry, why, size);
        const char *value = strchr(entry, '=') + 1;
        if (*value && !set_row(settings, row, value, SETTINGS_FROM_ENVIRONMENT,
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
    if (!row)
        return refuse_flag(word, why, size);
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

/* Help is there whatever the environment holds. */
static bool asks_for_help(struct settings *settings, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if ((strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "--version") == 0) && read_action(settings, argv[i] + 2))
            return true;
    return false;
}

bool settings_read(struct settings *settings, int argc, char **argv, char **environment, char *why, size_t size)
{
    *settings = (struct settings){.action = SETTINGS_SERVE};
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (!set_row(settings, &rows[i], rows[i].initial, SETTINGS_FROM_DEFAULT, rows[i].flag, why, size))
            return false;
    if (!read_environment(settings, environment, why, size))
        return asks_for_help(settings, argc, argv);
    for (int at = 1; at < argc;)
        if (!read_flag(settings, argc, argv, &at, why, size))
            return false;
    return true;
}
