/* Walking option tables, and what a member takes in words. */
#include "api/request/option.h"

#include "core/request.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool option_has_range(const struct option *option)
{
    return option->minimum != 0 || option->maximum != 0;
}

const struct option *option_find(const struct option_table *table, const char *name)
{
    for (; table; table = table->base)
        for (size_t x = 0; x < table->count; x++)
            if (table->options[x].name[0] == name[0] && strcmp(table->options[x].name, name) == 0)
                return &table->options[x];
    return NULL;
}

bool option_is_listed(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; (at = strstr(at, name)) != NULL; at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return true;
    return false;
}

void option_each(const struct option_table *table, option_visit *visit, void *context)
{
    if (table->base)
        option_each(table->base, visit, context);
    for (size_t x = 0; x < table->count; x++)
        visit(context, &table->options[x]);
}

/* --- defaults --- */

/* "1/sqrt(d_k)" is no plain number. */
static void put_number(const char *standard, double *field)
{
    char *end;
    double value = strtod(standard, &end);
    if (*end == '\0')
        *field = value;
}

static void put_default(void *context, const struct option *option)
{
    void *field = (char *)context + option->offset;
    if (option->kind == OPTION_NUMBER && option->standard[0])
        put_number(option->standard, field);
    if (option->kind == OPTION_INTEGER && option->standard[0])
        *(int64_t *)field = strtoll(option->standard, NULL, 10);
    if (option->kind == OPTION_SIDE)
        *(int64_t *)field = WINDOW_UNLIMITED;
    if (option->inner && option->kind != OPTION_OBJECTS && option->kind != OPTION_REQUESTS)
        option_defaults(option->inner, context);
}

void option_defaults(const struct option_table *table, void *into)
{
    option_each(table, put_default, into);
}

/* --- words --- */

static void number_range(const struct option *o, struct buffer *out)
{
    bool low = option_has_range(o) && isfinite(o->minimum);
    bool high = option_has_range(o) && isfinite(o->maximum);
    if (low && high && !o->above && !o->below)
        buffer_format(out, " from %.17g to %.17g", o->minimum, o->maximum);
    else if (low)
        buffer_format(out, o->above ? " greater than %.17g" : " of at least %.17g", o->minimum);
    if (low && high && (o->above || o->below))
        buffer_format(out, o->below ? " and less than %.17g" : " and at most %.17g", o->maximum);
}

static void list_choices(const struct option *o, struct buffer *out)
{
    for (size_t x = 0; o->choices[x]; x++)
        buffer_format(out, "%s\"%s\"", x == 0 ? "" : o->choices[x + 1] ? ", " : " or ", o->choices[x]);
}

static const char *const NOUNS[OPTION_KINDS] = {
    [OPTION_NUMBER] = "a number",
    [OPTION_INTEGER] = "an integer",
    [OPTION_COUNT] = "an integer of at least 1",
    [OPTION_SIDE] = "an integer of at least 0, or null",
    [OPTION_BOOLEAN] = "true or false",
    [OPTION_CHOICE] = "",
    [OPTION_SWITCH] = "",
    [OPTION_STRING] = "a string",
    [OPTION_BYTES] = "a string",
    [OPTION_STRINGS] = "a list of strings",
    [OPTION_INTEGERS] = "a list of integers",
    [OPTION_OFFSETS] = "an integer or a list of integers",
    [OPTION_POSITIONS] = "a list of integers, or a list of such lists",
    [OPTION_REALS] = "a list of numbers",
    [OPTION_SLOPES] = "true, or a list of numbers",
    [OPTION_TENSOR] = "an array of arrays of numbers, or a packed tensor",
    [OPTION_ROTATION] = ", an array of arrays of numbers, or a packed tensor",
    [OPTION_BIAS] = "an array of arrays of numbers, or a packed tensor",
    [OPTION_ALLOW] = "an array of arrays of booleans, or a packed tensor",
    [OPTION_INCLUDE] = "a list of names",
    [OPTION_OBJECT] = "an object",
    [OPTION_MODE] = " or an object",
    [OPTION_PROFILE] = " or an object",
    [OPTION_TARGET] = "a string, or a list of strings (null: this row does not count), or a list of such lists",
    [OPTION_EXPECT] = "an object of names, each with an array of arrays of numbers, a packed tensor or a number",
    [OPTION_OBJECTS] = "a list of objects",
    [OPTION_REQUESTS] = "a list of requests",
    [OPTION_PAIR] = "a list, or an object with a list for each side",
};

void option_words(const struct option *o, struct buffer *out)
{
    if (o->choices)
        list_choices(o, out);
    buffer_string(out, NOUNS[o->kind]);
    if (o->kind == OPTION_STRING && isfinite(o->maximum))
        buffer_format(out, " of at most %.0f characters", o->maximum);
    if (o->kind == OPTION_NUMBER || o->kind == OPTION_INTEGER)
        number_range(o, out);
}

/* --- the manual --- */

struct page {
    struct buffer *out;
    const char *prefix;
};

static void write_row(void *context, const struct option *o)
{
    const struct page *page = context;
    buffer_format(page->out, "| `%s%s` | ", page->prefix, o->name);
    option_words(o, page->out);
    if (o->shape)
        buffer_format(page->out, " %s", o->shape);
    if (o->required)
        buffer_string(page->out, ", required");
    else if (o->standard[0])
        buffer_format(page->out, ", default %s", o->standard);
    buffer_format(page->out, " | %s | `%s` |\n", o->meaning, o->example ? o->example : "");
    if (!o->inner)
        return;
    char prefix[64];
    snprintf(prefix, sizeof prefix, "%s%s.", page->prefix, o->name);
    struct page inner = {page->out, prefix};
    option_each(o->inner, write_row, &inner);
}

void option_markdown(const struct option_table *table, struct buffer *out)
{
    struct page page = {out, ""};
    buffer_string(out, "| member | takes | meaning | example |\n|---|---|---|---|\n");
    option_each(table, write_row, &page);
}
