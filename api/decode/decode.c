/* Decoding by table: every kind of option has one reader. */
#include "api/decode/decode.h"

#include "api/decode/read_expect.h"
#include "api/decode/read_list.h"
#include "api/decode/read_packed.h"
#include "api/decode/read_raw.h"
#include "api/decode/read_seeded.h"
#include "api/decode/read_tensor.h"
#include "api/decode/read_value.h"
#include "api/request/foreign_names.h"
#include "api/request/include.h"
#include "api/request/suggest.h"

#include <stdio.h>

/* --- kinds that read_list.h, read_tensor.h and read_packed.h read --- */

static void read_strings(struct decoder *d, const struct option *o, const json_t *value, const struct json_path *at,
                         struct read_value_target target)
{
    read_list_strings(d, o, value, at, target.field);
}

static void read_integers(struct decoder *d, const struct option *o, const json_t *value, const struct json_path *at,
                          struct read_value_target target)
{
    read_list_integers(d, o, value, at, target.field);
}

static void read_reals(struct decoder *d, const struct option *o, const json_t *value, const struct json_path *at,
                       struct read_value_target target)
{
    read_list_reals(d, o, value, at, target.field);
}

/* `present` was set for any value: false takes it back. */
static void read_slopes(struct decoder *d, const struct option *o, const json_t *value, const struct json_path *at,
                        struct read_value_target target)
{
    if (json_is_boolean(value))
        *(bool *)((char *)target.into + o->present) = json_is_true(value);
    else
        read_list_reals(d, o, value, at, target.field);
}

static void read_seeded_object(struct decoder *d, const json_t *value, const struct json_path *at, struct tensor *out)
{
    struct seeded seeded = {0};
    size_t faults = d->err->count;
    decode_object(d, read_seeded_table(), value, at, &seeded);
    if (d->err->count == faults)
        read_seeded(d, &seeded, at, out);
}

static enum raw_use find_use(const struct option *o)
{
    return o->kind == OPTION_ALLOW ? RAW_ALLOW : o->kind == OPTION_BIAS ? RAW_BIAS : RAW_NUMBERS;
}

static void read_packed_object(struct decoder *d, const struct option *o, const json_t *value,
                               const struct json_path *at, struct tensor *out)
{
    struct packed packed = {0};
    size_t faults = d->err->count;
    decode_object(d, read_packed_table(), value, at, &packed);
    if (d->err->count == faults)
        read_packed(d, &packed, at, find_use(o), out);
}

static void read_into_tensor(struct decoder *d, const struct option *o, const json_t *value, const struct json_path *at,
                             struct read_value_target target)
{
    const struct tensor *beside = document_tensor(d->document, value);
    if (beside)
        read_raw(d, *beside, find_use(o), at, target.field);
    else if (json_is_object(value) && o->kind != OPTION_ALLOW && json_object_get(value, "normal"))
        read_seeded_object(d, value, at, target.field);
    else if (json_is_object(value))
        read_packed_object(d, o, value, at, target.field);
    else
        read_tensor(d, o, value, at, target.field);
}

static void read_expected(struct decoder *d, const struct option *o, const json_t *value, const struct json_path *at,
                          struct read_value_target target)
{
    read_expect(d, o, value, at, target, read_into_tensor);
}

static void list_part(struct buffer *names, enum part part)
{
    if (part_kind(part) != PART_IMPLIED && part_kind(part) != PART_IMPLIED_GROUP)
        buffer_format(names, "%s%s", names->length == 0 ? "" : ", ", part_name(part));
}

static void refuse_included(struct decoder *d, const char *name, const struct json_path *at, const char *suggestion)
{
    char shown[JSON_PATH_SHOWN];
    struct buffer names = buffer_new(BUFFER_SENTENCE);
    json_path_show(name, shown);
    if (suggestion) {
        json_path_fault(d->err, at, "is \"%s\", no name of a result; did you mean \"%s\"?", shown, suggestion);
        return;
    }
    for (size_t p = 0; p < PART_COUNT; p++)
        list_part(&names, (enum part)p);
    json_path_fault(d->err, at,
                    "is \"%s\", no name of a result. The names are %.*s, and one of them alone as in "
                    "\"steps.scores\".",
                    shown, (int)names.length, names.length ? names.data : "");
    buffer_free(&names);
}

static void add_included(struct decoder *d, const json_t *name, const struct json_path *at, struct include *include)
{
    const char *suggestion = NULL;
    const char *text = read_value_text(d, name, at);
    if (!json_is_string(name))
        json_path_fault(d->err, at, "is %s; it must be a name, such as \"weights\".", read_value_type(d, name));
    else if (text && !include_add(include, text, *at->index, &suggestion))
        refuse_included(d, text, at, suggestion);
}

/* An empty list is fine: the head of the reply alone. */
static void read_include(struct decoder *d, const struct option *o, const json_t *value, const struct json_path *at,
                         struct read_value_target target)
{
    const struct matrix *m = document_matrix(d->document, value);
    struct include *include = target.field;
    size_t index;
    json_t *name;
    if (!json_is_array(value) || document_tensor(d->document, value) || (m && m->fault != MATRIX_EMPTY)) {
        read_value_refuse(d, o, value, at);
        return;
    }
    *include = (struct include){0};
    if (m)
        return;
    json_array_foreach((json_t *)value, index, name)
    {
        const struct json_path element = {.parent = at, .index = &index, .rank = 1};
        add_included(d, name, &element, include);
        if (error_is_full(d->err))
            return;
    }
}

static void read_object(struct decoder *d, const struct option *o, const json_t *value, const struct json_path *at,
                        struct read_value_target target)
{
    if (!json_is_object(value))
        read_value_refuse(d, o, value, at);
    else
        decode_object(d, o->inner, value, at, target.into);
}

static void read_objects(struct decoder *d, const struct option *o, const json_t *value, const struct json_path *at,
                         struct read_value_target target)
{
    size_t count = json_array_size(value);
    size_t index;
    json_t *entry;
    if (count == 0 || document_matrix(d->document, value)) {
        read_value_refuse(d, o, value, at);
        return;
    }
    char *items = arena_calloc(d->arena, count, o->size, d->err);
    if (!items)
        return;
    json_array_foreach((json_t *)value, index, entry)
    {
        const struct json_path element = {.parent = at, .index = &index, .rank = 1};
        option_defaults(o->inner, items + index * o->size);
        read_object(d, o, entry, &element, (struct read_value_target){NULL, items + index * o->size});
        if (error_is_full(d->err))
            return;
    }
    *(struct objects *)target.field = (struct objects){items, count};
}

/* The tensors of each are read into the dtype that it names, which comes first in its table. */
static void read_requests(struct decoder *d, const struct option *o, const json_t *value, const struct json_path *at,
                          struct read_value_target target)
{
    const enum dtype *outer = d->dtype;
    size_t count = json_array_size(value);
    size_t index;
    json_t *entry;
    if (count == 0 || document_matrix(d->document, value)) {
        read_value_refuse(d, o, value, at);
        return;
    }
    char *items = arena_calloc(d->arena, count, o->size, d->err);
    if (!items)
        return;
    json_array_foreach((json_t *)value, index, entry)
    {
        const struct json_path element = {.parent = at, .index = &index, .rank = 1};
        char *item = items + index * o->size;
        option_defaults(o->inner, item);
        d->dtype = (const enum dtype *)(void *)(item + option_find(o->inner, "dtype")->offset);
        read_object(d, o, entry, &element, (struct read_value_target){NULL, item});
        if (error_is_full(d->err))
            break;
    }
    d->dtype = outer;
    *(struct objects *)target.field = (struct objects){items, count};
}

static void read_mode(struct decoder *d, const struct option *o, const json_t *value, const struct json_path *at,
                      struct read_value_target target)
{
    if (json_is_string(value))
        read_value_switch(d, o, value, at, target);
    else
        read_object(d, o, value, at, target);
}

static void read_member(struct decoder *d, const struct option *o, const json_t *value, const struct json_path *parent,
                        void *into);

static void read_profile(struct decoder *d, const struct option *o, const json_t *value, const struct json_path *at,
                         struct read_value_target target)
{
    const struct option *profile = o->inner->options;
    char *into = target.into;
    if (!json_is_string(value)) {
        read_object(d, o, value, at, target);
        return;
    }
    *(bool *)(into + profile->present) = true;
    read_value_choice(d, o, value, at, (struct read_value_target){into + profile->offset, into});
}

/* A list is read once, as the first member, and shared. */
static void read_pair(struct decoder *d, const struct option *o, const json_t *value, const struct json_path *at,
                      struct read_value_target target)
{
    const struct option *sides = o->inner->options;
    char *into = target.into;
    if (!json_is_array(value)) {
        read_object(d, o, value, at, target);
    } else if (sides[0].kind == OPTION_STRINGS) {
        struct strings *first = (void *)(into + sides[0].offset);
        read_list_strings(d, &sides[0], value, at, first);
        *(struct strings *)(void *)(into + sides[1].offset) = *first;
    } else {
        struct integers *first = (void *)(into + sides[0].offset);
        read_list_integers(d, &sides[0], value, at, first);
        *(struct integers *)(void *)(into + sides[1].offset) = *first;
    }
}

static void read_words(struct decoder *d, const struct option *o, const json_t *value, const struct json_path *at,
                       struct read_value_target target)
{
    read_list_words(d, o, value, at, target.field);
}

static void read_rotation(struct decoder *d, const struct option *o, const json_t *value, const struct json_path *at,
                          struct read_value_target target)
{
    struct quantize_turn *turn = target.field;
    if (json_is_string(value)) {
        read_value_choice(d, o, value, at, (struct read_value_target){&turn->kind, target.into});
        return;
    }
    turn->kind = QUANTIZE_GIVEN;
    if (document_tensor(d->document, value))
        read_raw(d, *document_tensor(d->document, value), RAW_NUMBERS, at, &turn->given);
    else
        read_tensor(d, o, value, at, &turn->given);
}

static read_value *const readers[OPTION_KINDS] = {
    [OPTION_TARGET] = read_words,          [OPTION_REQUESTS] = read_requests,   [OPTION_NUMBER] = read_value_number,
    [OPTION_INTEGER] = read_value_integer, [OPTION_COUNT] = read_value_count,   [OPTION_SIDE] = read_value_side,
    [OPTION_BOOLEAN] = read_value_boolean, [OPTION_CHOICE] = read_value_choice, [OPTION_SWITCH] = read_value_switch,
    [OPTION_STRING] = read_value_string,   [OPTION_STRINGS] = read_strings,     [OPTION_INTEGERS] = read_integers,
    [OPTION_OFFSETS] = read_integers,      [OPTION_POSITIONS] = read_integers,  [OPTION_REALS] = read_reals,
    [OPTION_SLOPES] = read_slopes,         [OPTION_TENSOR] = read_into_tensor,  [OPTION_BIAS] = read_into_tensor,
    [OPTION_ALLOW] = read_into_tensor,     [OPTION_INCLUDE] = read_include,     [OPTION_OBJECT] = read_object,
    [OPTION_OBJECTS] = read_objects,       [OPTION_MODE] = read_mode,           [OPTION_PAIR] = read_pair,
    [OPTION_ROTATION] = read_rotation,     [OPTION_BYTES] = read_packed_bytes,  [OPTION_PROFILE] = read_profile,
    [OPTION_EXPECT] = read_expected,
};

/* --- objects --- */

struct reading {
    struct decoder *d;
    const json_t *object;
    const struct json_path *at;
    void *into;
    uint64_t names; /* bits of the names that the object has */
};

/* One of 64 for each name: most options are not given, and a bit says so sooner than the object does. */
static uint64_t name_bit(const char *name)
{
    unsigned first = (unsigned char)name[0];
    unsigned second = first ? (unsigned char)name[1] : 0;
    return (uint64_t)1 << (first * 7 + second) % 64;
}

static uint64_t collect_names(const json_t *object)
{
    uint64_t names = 0;
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)object, name, value)
    {
        (void)value;
        names |= name_bit(name);
    }
    return names;
}

static void read_member(struct decoder *d, const struct option *o, const json_t *value, const struct json_path *parent,
                        void *into)
{
    const struct json_path at = {.parent = parent, .name = o->name};
    if (o->present)
        *(bool *)((char *)into + o->present) = true;
    readers[o->kind](d, o, value, &at, (struct read_value_target){(char *)into + o->offset, into});
}

static void read_if_given(void *context, const struct option *o)
{
    const struct reading *r = context;
    const json_t *value = r->names & name_bit(o->name) ? json_object_get(r->object, o->name) : NULL;
    if (value)
        read_member(r->d, o, value, r->at, r->into);
    else if (o->required)
        json_path_fault(r->d->err, r->at, "lacks its member \"%s\".", o->name);
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
                           const struct json_path *at)
{
    struct search search = {.suggestion = {.wanted = name}};
    const char *here = foreign_names_find(name);
    if (here) {
        json_path_foreign(d->err, at, name, here);
        return;
    }
    option_each(table, consider_option, &search);
    if (!search.elsewhere) {
        json_path_unknown(d->err, at, name, search.suggestion.best);
        return;
    }
    char inside[2 * SUGGEST_NAME_MAX];
    snprintf(inside, sizeof inside, "%s.%s", search.elsewhere, name);
    json_path_unknown(d->err, at, name, inside);
}

void decode_object(struct decoder *d, const struct option_table *table, const json_t *object,
                   const struct json_path *at, void *into)
{
    struct reading reading = {d, object, at, into, collect_names(object)};
    const char *name;
    json_t *value;
    option_each(table, read_if_given, &reading);
    json_object_foreach((json_t *)object, name, value)
    {
        (void)value;
        if (error_is_full(d->err))
            return;
        if (!option_find(table, name))
            refuse_unknown(d, table, name, at);
    }
}
