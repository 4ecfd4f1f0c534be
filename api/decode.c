/* Decoding by table: every kind of option has one reader. */
#include "api/decode.h"

#include "api/include.h"
#include "api/list.h"
#include "api/operand.h"
#include "api/suggest.h"

#include <math.h>
#include <string.h>

#define INTEGER_MAX 9007199254740992.0 /* 2^53: past it a double skips integers */

bool decode_integer(double number, int64_t *integer)
{
    if (!(fabs(number) <= INTEGER_MAX) || number != floor(number))
        return false;
    *integer = (int64_t)number;
    return true;
}

bool decode_count(struct decoder *d, size_t count)
{
    d->elements = count > (size_t)-1 - d->elements ? (size_t)-1 : d->elements + count;
    return d->elements <= d->elements_max ||
           error_set(d->err, ERROR_TOO_LARGE, "",
                     "The tensors of the request hold at least %zu numbers; the limit is %zu (--max-elements).",
                     d->elements, d->elements_max);
}

static const char *type_words(const struct decoder *d, const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return document_matrix(d->document, value) ? "an array of numbers" : "an array of other things than numbers";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
    case JSON_REAL:
        return "a number";
    case JSON_TRUE:
    case JSON_FALSE:
        return "a boolean";
    case JSON_NULL:
        return "null";
    }
    return "something else";
}

bool decode_refuse(struct decoder *d, const struct option *option, const json_t *value, const struct place *at)
{
    struct text words = {0};
    option_words(option, &words);
    place_fault(d->err, at, "is %s; it must be %.*s.", type_words(d, value), (int)words.length,
                words.length ? words.data : "");
    text_free(&words);
    return false;
}

/* --- one reader per kind; `field` is where the option's value goes --- */

/* `into` is the whole struct, for readers that fill more than their own field. */
struct target {
    void *field, *into;
};

typedef void read_value(struct decoder *d, const struct option *o, const json_t *value, const struct place *at,
                        struct target target);

static bool in_range(const struct option *o, double number)
{
    bool low = o->above ? number > o->minimum : number >= o->minimum;
    bool high = o->below ? number < o->maximum : number <= o->maximum;
    return !option_has_range(o) || (low && high);
}

static bool refuse_number(struct decoder *d, const struct option *o, double number, const struct place *at)
{
    struct text words = {0};
    option_words(o, &words);
    place_fault(d->err, at, "is %.17g; it must be %.*s.", number, (int)words.length, words.length ? words.data : "");
    text_free(&words);
    return false;
}

static void read_number(struct decoder *d, const struct option *o, const json_t *value, const struct place *at,
                        struct target target)
{
    double number = json_number_value(value);
    if (!json_is_number(value))
        decode_refuse(d, o, value, at);
    else if (!in_range(o, number))
        refuse_number(d, o, number, at);
    else
        *(double *)target.field = number;
}

static bool take_integer(struct decoder *d, const struct option *o, const json_t *value, const struct place *at,
                         int64_t *integer)
{
    double number = json_number_value(value);
    if (!json_is_number(value))
        return decode_refuse(d, o, value, at);
    return (decode_integer(number, integer) && in_range(o, number)) || refuse_number(d, o, number, at);
}

static void read_integer(struct decoder *d, const struct option *o, const json_t *value, const struct place *at,
                         struct target target)
{
    int64_t integer;
    if (take_integer(d, o, value, at, &integer))
        *(int64_t *)target.field = integer;
}

static void read_count(struct decoder *d, const struct option *o, const json_t *value, const struct place *at,
                       struct target target)
{
    int64_t integer;
    if (!take_integer(d, o, value, at, &integer))
        return;
    if (integer < 1)
        refuse_number(d, o, (double)integer, at);
    else
        *(size_t *)target.field = (size_t)integer;
}

static void read_side(struct decoder *d, const struct option *o, const json_t *value, const struct place *at,
                      struct target target)
{
    int64_t integer = WINDOW_UNLIMITED;
    if (!json_is_null(value) && !take_integer(d, o, value, at, &integer))
        return;
    if (integer < 0)
        refuse_number(d, o, (double)integer, at);
    else
        *(int64_t *)target.field = integer;
}

static void read_boolean(struct decoder *d, const struct option *o, const json_t *value, const struct place *at,
                         struct target target)
{
    if (!json_is_boolean(value))
        decode_refuse(d, o, value, at);
    else
        *(bool *)target.field = json_is_true(value);
}

static void refuse_choice(struct decoder *d, const struct option *o, const char *given, const struct place *at)
{
    struct suggestion suggestion = {.wanted = given};
    struct text words = {0};
    for (size_t x = 0; o->choices[x]; x++)
        suggest_consider(&suggestion, o->choices[x]);
    option_words(o, &words);
    if (suggestion.best)
        text_format(&words, "; did you mean \"%s\"?", suggestion.best);
    else
        text_string(&words, ".");
    place_fault(d->err, at, "is another string; it must be %.*s", (int)words.length, words.length ? words.data : "");
    text_free(&words);
}

/* The index of the chosen one, or false after a fault. */
static bool choose(struct decoder *d, const struct option *o, const json_t *value, const struct place *at,
                   unsigned *choice)
{
    const char *given = json_string_value(value);
    if (!given)
        return decode_refuse(d, o, value, at);
    for (*choice = 0; o->choices[*choice]; ++*choice)
        if (strcmp(given, o->choices[*choice]) == 0)
            return true;
    refuse_choice(d, o, given, at);
    return false;
}

static void read_choice(struct decoder *d, const struct option *o, const json_t *value, const struct place *at,
                        struct target target)
{
    unsigned choice;
    if (choose(d, o, value, at, &choice))
        memcpy(target.field, &choice, sizeof choice);
}

static void read_switch(struct decoder *d, const struct option *o, const json_t *value, const struct place *at,
                        struct target target)
{
    unsigned choice;
    if (choose(d, o, value, at, &choice))
        *(bool *)target.field = choice == 1;
}

static void read_string(struct decoder *d, const struct option *o, const json_t *value, const struct place *at,
                        struct target target)
{
    if (!json_is_string(value))
        decode_refuse(d, o, value, at);
    else if ((double)json_string_length(value) > o->maximum)
        place_fault(d->err, at, "has %zu bytes; %.0f are the most.", json_string_length(value), o->maximum);
    else
        *(const char **)target.field = list_string(d, value);
}

static void read_strings(struct decoder *d, const struct option *o, const json_t *value, const struct place *at,
                         struct target target)
{
    list_strings(d, o, value, at, target.field);
}

static void read_integers(struct decoder *d, const struct option *o, const json_t *value, const struct place *at,
                          struct target target)
{
    list_integers(d, o, value, at, target.field);
}

static void read_reals(struct decoder *d, const struct option *o, const json_t *value, const struct place *at,
                       struct target target)
{
    list_reals(d, o, value, at, target.field);
}

/* `present` was set for any value: false takes it back. */
static void read_slopes(struct decoder *d, const struct option *o, const json_t *value, const struct place *at,
                        struct target target)
{
    if (json_is_boolean(value))
        *(bool *)((char *)target.into + o->present) = json_is_true(value);
    else
        list_reals(d, o, value, at, target.field);
}

static void read_tensor(struct decoder *d, const struct option *o, const json_t *value, const struct place *at,
                        struct target target)
{
    operand_read(d, o, value, at, target.field);
}

static void add_included(struct decoder *d, const json_t *name, const struct place *at, struct include *include)
{
    const char *suggestion = NULL;
    if (!json_is_string(name))
        place_fault(d->err, at, "is %s; it must be a name, such as \"weights\".", type_words(d, name));
    else if (!include_add(include, json_string_value(name), &suggestion))
        place_fault(d->err, at,
                    suggestion ? "is no name of a result; did you mean \"%s\"?" : "is no name of a result.%s",
                    suggestion ? suggestion : "");
}

/* An empty list is fine: the head of the reply alone. */
static void read_include(struct decoder *d, const struct option *o, const json_t *value, const struct place *at,
                         struct target target)
{
    const struct matrix *m = document_matrix(d->document, value);
    struct include *include = target.field;
    size_t index;
    json_t *name;
    if (!json_is_array(value) || (m && m->fault != MATRIX_EMPTY)) {
        decode_refuse(d, o, value, at);
        return;
    }
    *include = (struct include){0};
    if (m)
        return;
    json_array_foreach((json_t *)value, index, name)
    {
        const struct place element = {.parent = at, .index = &index, .rank = 1};
        add_included(d, name, &element, include);
    }
}

static void read_object(struct decoder *d, const struct option *o, const json_t *value, const struct place *at,
                        struct target target)
{
    if (!json_is_object(value))
        decode_refuse(d, o, value, at);
    else
        decode_object(d, o->inner, value, at, target.into);
}

static void read_mode(struct decoder *d, const struct option *o, const json_t *value, const struct place *at,
                      struct target target)
{
    if (json_is_string(value))
        read_switch(d, o, value, at, target);
    else
        read_object(d, o, value, at, target);
}

static void read_member(struct decoder *d, const struct option *o, const json_t *value, const struct place *parent,
                        void *into);

/* A list is read once, as the first member, and shared. */
static void read_pair(struct decoder *d, const struct option *o, const json_t *value, const struct place *at,
                      struct target target)
{
    const struct option *sides = o->inner->options;
    char *into = target.into;
    if (!json_is_array(value)) {
        read_object(d, o, value, at, target);
    } else if (sides[0].kind == OPTION_STRINGS) {
        struct strings *first = (void *)(into + sides[0].offset);
        list_strings(d, &sides[0], value, at, first);
        *(struct strings *)(void *)(into + sides[1].offset) = *first;
    } else {
        struct integers *first = (void *)(into + sides[0].offset);
        list_integers(d, &sides[0], value, at, first);
        *(struct integers *)(void *)(into + sides[1].offset) = *first;
    }
}

static read_value *const readers[OPTION_KINDS] = {
    [OPTION_NUMBER] = read_number,     [OPTION_INTEGER] = read_integer,  [OPTION_COUNT] = read_count,
    [OPTION_SIDE] = read_side,         [OPTION_BOOLEAN] = read_boolean,  [OPTION_CHOICE] = read_choice,
    [OPTION_SWITCH] = read_switch,     [OPTION_STRING] = read_string,    [OPTION_STRINGS] = read_strings,
    [OPTION_INTEGERS] = read_integers, [OPTION_OFFSETS] = read_integers, [OPTION_POSITIONS] = read_integers,
    [OPTION_REALS] = read_reals,       [OPTION_SLOPES] = read_slopes,    [OPTION_TENSOR] = read_tensor,
    [OPTION_BIAS] = read_tensor,       [OPTION_ALLOW] = read_tensor,     [OPTION_INCLUDE] = read_include,
    [OPTION_OBJECT] = read_object,     [OPTION_MODE] = read_mode,        [OPTION_PAIR] = read_pair,
};

/* --- objects --- */

struct reading {
    struct decoder *d;
    const json_t *object;
    const struct place *at;
    void *into;
};

static void read_member(struct decoder *d, const struct option *o, const json_t *value, const struct place *parent,
                        void *into)
{
    const struct place at = {.parent = parent, .name = o->name};
    if (o->present)
        *(bool *)((char *)into + o->present) = true;
    readers[o->kind](d, o, value, &at, (struct target){(char *)into + o->offset, into});
}

static void read_if_given(void *context, const struct option *o)
{
    const struct reading *r = context;
    const json_t *value = json_object_get(r->object, o->name);
    if (value)
        read_member(r->d, o, value, r->at, r->into);
    else if (o->required)
        place_fault(r->d->err, r->at, "lacks its member \"%s\".", o->name);
}

struct search {
    struct suggestion suggestion;
    const char *elsewhere; /* an object that has exactly this member */
};

static void consider_option(void *context, const struct option *o)
{
    struct search *search = context;
    suggest_consider(&search->suggestion, o->name);
    if (o->inner && !search->elsewhere && option_find(o->inner, search->suggestion.wanted))
        search->elsewhere = o->name;
}

static void refuse_unknown(struct decoder *d, const struct option_table *table, const char *name,
                           const struct place *at)
{
    struct search search = {.suggestion = {.wanted = name}};
    option_each(table, consider_option, &search);
    if (!search.elsewhere) {
        place_unknown(d->err, at, name, search.suggestion.best);
        return;
    }
    char inside[2 * SUGGEST_NAME_MAX];
    snprintf(inside, sizeof inside, "%s.%s", search.elsewhere, name);
    place_unknown(d->err, at, name, inside);
}

void decode_object(struct decoder *d, const struct option_table *table, const json_t *object, const struct place *at,
                   void *into)
{
    struct reading reading = {d, object, at, into};
    const char *name;
    json_t *value;
    option_each(table, read_if_given, &reading);
    json_object_foreach((json_t *)object, name, value)
    {
        (void)value;
        if (!option_find(table, name))
            refuse_unknown(d, table, name, at);
    }
}
