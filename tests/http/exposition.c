/* Prometheus' text format. */
#include "tests/http/exposition.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAMILIES_MAX 200
#define SAMPLES_MAX 5000
#define NAME_MAX_BYTES 128

struct family {
    char name[NAME_MAX_BYTES];
    char type[16];
    size_t samples;
};

struct sample {
    char text[512]; /* name and labels */
    double value;
};

struct exposition {
    struct family families[FAMILIES_MAX];
    struct sample samples[SAMPLES_MAX];
    size_t family_count, sample_count;
};

static size_t span_name(const char *text)
{
    size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    ck_assert_msg(length > 0 && length < NAME_MAX_BYTES && !(text[0] >= '0' && text[0] <= '9'), "no name: %.60s", text);
    return length;
}

static struct family *find_family(struct exposition *e, const char *name)
{
    for (size_t i = 0; i < e->family_count; i++)
        if (strcmp(e->families[i].name, name) == 0)
            return &e->families[i];
    return NULL;
}

static void read_help(struct exposition *e, const char *line)
{
    struct family *family = &e->families[e->family_count];
    size_t length = span_name(line);
    snprintf(family->name, sizeof family->name, "%.*s", (int)length, line);
    ck_assert_msg(!find_family(e, family->name), "%s: HELP twice", family->name);
    ck_assert_msg(line[length] == ' ' && line[length + 1], "%s: no help", family->name);
    ck_assert_uint_lt(++e->family_count, FAMILIES_MAX);
}

static void read_type(struct exposition *e, const char *line)
{
    char name[NAME_MAX_BYTES];
    char type[16];
    ck_assert_msg(sscanf(line, "%127s %15s", name, type) == 2, "TYPE: %s", line);
    ck_assert_msg(e->family_count > 0 && strcmp(e->families[e->family_count - 1].name, name) == 0,
                  "%s: TYPE does not follow HELP", name);
    struct family *family = &e->families[e->family_count - 1];
    ck_assert_msg(!family->type[0], "%s: TYPE twice", name);
    ck_assert_msg(strcmp(type, "counter") == 0 || strcmp(type, "gauge") == 0 || strcmp(type, "histogram") == 0, "%s",
                  line);
    snprintf(family->type, sizeof family->type, "%s", type);
    size_t length = strlen(name);
    ck_assert_msg((strcmp(type, "counter") == 0) == (length > 6 && strcmp(name + length - 6, "_total") == 0),
                  "%s is a %s", name, type);
}

/* The labels after a name; returns what follows them. */
static const char *read_labels(const char *at)
{
    if (*at != '{')
        return at;
    do {
        at++;
        at += span_name(at);
        ck_assert_msg(at[0] == '=' && at[1] == '"', "label: %.60s", at);
        for (at += 2; *at && *at != '"'; at++)
            ck_assert_msg(*at != '\\' || strchr("\\\"n", *++at), "escape: %.60s", at);
        ck_assert_msg(*at == '"', "label: %.60s", at);
        at++;
    } while (*at == ',');
    ck_assert_msg(*at == '}', "labels: %.60s", at);
    return at + 1;
}

/* The family a sample belongs to: its own name, or that of a histogram with a suffix. */
static struct family *find_owner(struct exposition *e, const char *name)
{
    static const char *const suffixes[] = {"_bucket", "_sum", "_count"};
    char base[NAME_MAX_BYTES];
    struct family *family = find_family(e, name);
    for (size_t i = 0; !family && i < 3; i++) {
        size_t length = strlen(name);
        size_t suffix = strlen(suffixes[i]);
        if (length <= suffix || strcmp(name + length - suffix, suffixes[i]) != 0)
            continue;
        snprintf(base, sizeof base, "%.*s", (int)(length - suffix), name);
        family = find_family(e, base);
        ck_assert_msg(!family || strcmp(family->type, "histogram") == 0, "%s", name);
    }
    ck_assert_msg(family != NULL, "%s has no HELP", name);
    ck_assert_msg(family == &e->families[e->family_count - 1], "%s stands apart from its family", name);
    return family;
}

static void read_sample(struct exposition *e, const char *line)
{
    char name[NAME_MAX_BYTES];
    char *end = NULL;
    struct sample *sample = &e->samples[e->sample_count];
    snprintf(name, sizeof name, "%.*s", (int)span_name(line), line);
    const char *after = read_labels(line + strlen(name));
    snprintf(sample->text, sizeof sample->text, "%.*s", (int)(after - line), line);
    ck_assert_msg(*after == ' ', "%s", line);
    sample->value = strtod(after + 1, &end);
    ck_assert_msg(end > after + 1 && !*end, "%s", line);
    find_owner(e, name)->samples++;
    for (size_t i = 0; i < e->sample_count; i++)
        ck_assert_msg(strcmp(e->samples[i].text, sample->text) != 0, "%s stands twice", sample->text);
    ck_assert_uint_lt(++e->sample_count, SAMPLES_MAX);
}

/* Buckets stand together, rise, and the last (+Inf) is the count, which follows the sum. */
static void check_buckets(const struct exposition *e)
{
    double before = 0;
    for (size_t i = 0; i < e->sample_count; i++) {
        const struct sample *sample = &e->samples[i];
        if (!strstr(sample->text, "_bucket{")) {
            before = 0;
            continue;
        }
        ck_assert_msg(sample->value >= before, "%s falls", sample->text);
        before = sample->value;
        if (!strstr(sample->text, "le=\"+Inf\""))
            continue;
        ck_assert_msg(i + 2 < e->sample_count && strstr(e->samples[i + 1].text, "_sum") &&
                          strstr(e->samples[i + 2].text, "_count") && e->samples[i + 2].value == sample->value,
                      "%s is not the count", sample->text);
    }
}

size_t exposition_check(const char *text)
{
    struct exposition *e = calloc(1, sizeof *e);
    char *copy = strdup(text);
    ck_assert(e && copy);
    size_t length = strlen(text);
    ck_assert(length > 0 && text[length - 1] == '\n');
    for (char *rest = copy, *line = NULL; (line = strsep(&rest, "\n")) != NULL;) {
        if (strncmp(line, "# HELP ", 7) == 0)
            read_help(e, line + 7);
        else if (strncmp(line, "# TYPE ", 7) == 0)
            read_type(e, line + 7);
        else if (*line)
            read_sample(e, line);
    }
    for (size_t i = 0; i < e->family_count; i++)
        ck_assert_msg(e->families[i].type[0], "%s has no TYPE", e->families[i].name);
    check_buckets(e);
    size_t count = e->sample_count;
    free(copy);
    free(e);
    return count;
}

double exposition_value(const char *text, const char *sample)
{
    size_t length = strlen(sample);
    for (const char *at = text; (at = strstr(at, sample)) != NULL; at += length)
        if ((at == text || at[-1] == '\n') && at[length] == ' ')
            return strtod(at + length, NULL);
    return (double)NAN;
}
