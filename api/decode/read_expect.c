/* Expected results. */
#include "api/decode/read_expect.h"

#include "api/request/options.h"
#include "api/request/suggest.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void read_number(struct decoder *d, const json_t *value, const struct json_path *at, struct tensor *out)
{
    void *data = decoder_count(d, 1) ? arena_calloc(d->arena, 1, dtype_size(*d->dtype), d->err) : NULL;
    if (!data)
        return;
    dtype_set(*d->dtype, data, 0, json_number_value(value));
    if (isfinite(dtype_get(*d->dtype, data, 0)))
        *out = tensor_dense(*d->dtype, 0, NULL, data);
    else
        json_path_fault(d->err, at, "is too large for %s.", dtype_name(*d->dtype));
}

/* The candidates do not outlive a call: the closest is kept here. */
struct closest {
    const char *wanted;
    size_t distance;
    char name[RESULT_NAME_MAX];
};

static void consider(void *context, const char *name)
{
    struct closest *closest = context;
    struct suggestion suggestion = {.wanted = closest->wanted};
    suggest_consider(&suggestion, name);
    if (!suggestion.best || (closest->name[0] && suggestion.distance >= closest->distance))
        return;
    closest->distance = suggestion.distance;
    snprintf(closest->name, sizeof closest->name, "%s", name);
}

static void refuse_name(struct decoder *d, const char *name, const struct json_path *at)
{
    struct closest closest = {.wanted = name};
    result_each_expected(consider, &closest);
    json_path_unknown(d->err, at, name, closest.name[0] ? closest.name : NULL);
}

static void read_result(struct decoder *d, const char *name, const json_t *value, const struct json_path *at,
                        struct expect *expect, read_value *read)
{
    static const struct option tensor = {.kind = OPTION_BIAS};
    const struct json_path member = {.parent = at, .name = name};
    struct expectation *item = &expect->items[expect->count];
    item->id = result_expected(name);
    if (item->id == RESULT_COUNT)
        refuse_name(d, name, at);
    else if (json_is_number(value))
        read_number(d, value, &member, &item->value);
    else
        read(d, &tensor, value, &member, (struct read_value_target){&item->value, &item->value});
    expect->count += item->value.data != NULL;
}

static void read_member(struct decoder *d, const struct option *o, const json_t *value, const struct json_path *at,
                        void *into)
{
    const struct json_path member = {.parent = at, .name = o->name};
    read_value_number(d, o, value, &member, (struct read_value_target){(char *)into + o->offset, into});
}

void read_expect(struct decoder *d, const struct option *o, const json_t *value, const struct json_path *at,
                 struct read_value_target target, read_value *read)
{
    struct expect *expect = target.field;
    const char *name;
    json_t *entry;
    if (!json_is_object(value)) {
        read_value_refuse(d, o, value, at);
        return;
    }
    expect->items = arena_calloc(d->arena, json_object_size(value) + 1, sizeof *expect->items, d->err);
    if (!expect->items)
        return;
    json_object_foreach((json_t *)value, name, entry)
    {
        const struct option *own = option_find(o->inner, name);
        if (own)
            read_member(d, own, entry, at, target.into);
        else
            read_result(d, name, entry, at, expect, read);
        if (error_is_full(d->err))
            return;
    }
}
