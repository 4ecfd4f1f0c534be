/* The schema of one value. */
#include "api/openapi/schema_type.h"

#include "api/openapi/schema_reference.h"
#include "api/request/include.h"

#include <math.h>
#include <string.h>

static void write_value_type(struct writer *w, const struct option *o)
{
    writer_object_begin(w);
    schema_type(w, o);
    writer_object_end(w);
}

static void write_range(struct writer *w, const struct option *o)
{
    if (!option_has_range(o))
        return;
    if (isfinite(o->minimum))
        writer_member_real(w, o->above ? "exclusiveMinimum" : "minimum", o->minimum);
    if (isfinite(o->maximum))
        writer_member_real(w, o->below ? "exclusiveMaximum" : "maximum", o->maximum);
}

static void write_scalar(struct writer *w, const char *type, const struct option *o)
{
    writer_member_string(w, "type", type);
    write_range(w, o);
}

static void write_choices(struct writer *w, const struct option *o)
{
    writer_member_string(w, "type", "string");
    writer_key(w, "enum");
    writer_array_begin(w);
    for (size_t x = 0; o->choices[x]; x++)
        writer_string(w, o->choices[x]);
    writer_array_end(w);
}

static void begin_list(struct writer *w)
{
    writer_member_string(w, "type", "array");
    writer_member_integer(w, "minItems", 1);
    writer_key(w, "items");
    writer_object_begin(w);
}

static void write_list(struct writer *w, const char *type, const struct option *o)
{
    begin_list(w);
    write_scalar(w, type, o);
    writer_object_end(w);
}

/* anyOf: the value, or a list of such. */
static void write_one_or_list(struct writer *w, const struct option *o, enum option_kind one, enum option_kind list)
{
    struct option alone = *o;
    writer_key(w, "anyOf");
    writer_array_begin(w);
    alone.kind = one;
    write_value_type(w, &alone);
    alone.kind = list;
    write_value_type(w, &alone);
    writer_array_end(w);
}

static void write_lists_or_list(struct writer *w, const struct option *o)
{
    struct option list = *o;
    list.kind = OPTION_INTEGERS;
    writer_key(w, "anyOf");
    writer_array_begin(w);
    write_value_type(w, &list);
    writer_object_begin(w);
    begin_list(w);
    schema_type(w, &list);
    writer_object_end(w);
    writer_object_end(w);
    writer_array_end(w);
}

static void write_or_object(struct writer *w, const struct option *o)
{
    writer_key(w, "anyOf");
    writer_array_begin(w);
    writer_object_begin(w);
    if (o->kind == OPTION_MODE || o->kind == OPTION_PROFILE)
        write_choices(w, o);
    else
        schema_type(w, o->inner->options);
    writer_object_end(w);
    schema_reference(w, o->inner->title);
    writer_array_end(w);
}

static void describe_parts(struct writer *w)
{
    struct buffer words = buffer_new(BUFFER_SENTENCE);
    for (size_t p = 0; p < PART_COUNT; p++)
        if (part_kind((enum part)p) != PART_IMPLIED && part_kind((enum part)p) != PART_IMPLIED_GROUP)
            buffer_format(&words, "%s%s: %s", p > 0 ? "; " : "", part_name((enum part)p), part_meaning((enum part)p));
    writer_key(w, "description");
    writer_string_n(w, words.data ? words.data : "", words.length);
    buffer_free(&words);
}

static void write_name(void *w, const char *name)
{
    writer_string(w, name);
}

static void write_include(struct writer *w, const struct option *o)
{
    (void)o;
    writer_member_string(w, "type", "array");
    writer_key(w, "items");
    writer_object_begin(w);
    writer_member_string(w, "type", "string");
    describe_parts(w);
    writer_key(w, "enum");
    writer_array_begin(w);
    include_each(write_name, w);
    writer_array_end(w);
    writer_object_end(w);
}

static void write_objects(struct writer *w, const struct option *o)
{
    begin_list(w);
    schema_reference_member(w, o->inner->title);
    writer_object_end(w);
}

static void write_string(struct writer *w, const struct option *o)
{
    writer_member_string(w, "type", "string");
    if (isfinite(o->maximum) && o->maximum > 0)
        writer_member_integer(w, "maxLength", (int64_t)o->maximum);
}

static void write_bytes(struct writer *w, const struct option *o)
{
    write_string(w, o);
    writer_member_string(w, "contentEncoding", "base64");
}

static void write_side(struct writer *w, const struct option *o)
{
    (void)o;
    writer_key(w, "type");
    writer_array_begin(w);
    writer_string(w, "integer");
    writer_string(w, "null");
    writer_array_end(w);
    writer_member_integer(w, "minimum", 0);
}

/* --- one writer per kind --- */

static void write_number(struct writer *w, const struct option *o)
{
    write_scalar(w, "number", o);
}

static void write_integer(struct writer *w, const struct option *o)
{
    write_scalar(w, "integer", o);
}

static void write_count(struct writer *w, const struct option *o)
{
    (void)o;
    writer_member_string(w, "type", "integer");
    writer_member_integer(w, "minimum", 1);
}

static void write_boolean(struct writer *w, const struct option *o)
{
    (void)o;
    writer_member_string(w, "type", "boolean");
}

static void write_strings(struct writer *w, const struct option *o)
{
    (void)o;
    begin_list(w);
    writer_member_string(w, "type", "string");
    writer_object_end(w);
}

static void write_integers(struct writer *w, const struct option *o)
{
    write_list(w, "integer", o);
}

static void write_reals(struct writer *w, const struct option *o)
{
    write_list(w, "number", o);
}

static void write_offsets(struct writer *w, const struct option *o)
{
    write_one_or_list(w, o, OPTION_INTEGER, OPTION_INTEGERS);
}

static void write_slopes(struct writer *w, const struct option *o)
{
    write_one_or_list(w, o, OPTION_BOOLEAN, OPTION_REALS);
}

static void write_tensor(struct writer *w, const struct option *o)
{
    schema_reference_member(w, o->kind == OPTION_TENSOR ? "Tensor"
                               : o->kind == OPTION_BIAS ? "BiasTensor"
                                                        : "AllowTensor");
}

static void write_words(struct writer *w, const struct option *o)
{
    static const char words[] =
        "[{\"type\":\"string\"},{\"type\":\"array\",\"minItems\":1,\"items\":{\"type\":[\"string\",\"null\"]}},"
        "{\"type\":\"array\",\"minItems\":1,\"items\":{\"type\":\"array\",\"minItems\":1,\"items\":{\"type\":["
        "\"string\",\"null\"]}}}]";
    (void)o;
    writer_key(w, "anyOf");
    writer_raw(w, words, strlen(words));
}

static void write_rotation(struct writer *w, const struct option *o)
{
    writer_key(w, "anyOf");
    writer_array_begin(w);
    writer_object_begin(w);
    write_choices(w, o);
    writer_object_end(w);
    schema_reference(w, "Tensor");
    writer_array_end(w);
}

/* Names of results are checked with what the request has. */
static void write_expect(struct writer *w, const struct option *o)
{
    writer_member_string(w, "type", "object");
    writer_key(w, "properties");
    writer_object_begin(w);
    writer_key(w, o->inner->options->name);
    writer_object_begin(w);
    schema_type(w, o->inner->options);
    writer_member_string(w, "description", o->inner->options->meaning);
    writer_object_end(w);
    writer_object_end(w);
    writer_key(w, "additionalProperties");
    writer_object_begin(w);
    writer_key(w, "anyOf");
    writer_array_begin(w);
    schema_reference(w, "BiasTensor");
    writer_raw(w, "{\"type\":\"number\"}", strlen("{\"type\":\"number\"}"));
    writer_array_end(w);
    writer_object_end(w);
}

static void write_object(struct writer *w, const struct option *o)
{
    schema_reference_member(w, o->inner->title);
}

typedef void write_kind(struct writer *w, const struct option *o);

static write_kind *const writers[OPTION_KINDS] = {
    [OPTION_NUMBER] = write_number,     [OPTION_INTEGER] = write_integer, [OPTION_COUNT] = write_count,
    [OPTION_SIDE] = write_side,         [OPTION_BOOLEAN] = write_boolean, [OPTION_CHOICE] = write_choices,
    [OPTION_SWITCH] = write_choices,    [OPTION_STRING] = write_string,   [OPTION_STRINGS] = write_strings,
    [OPTION_INTEGERS] = write_integers, [OPTION_OFFSETS] = write_offsets, [OPTION_POSITIONS] = write_lists_or_list,
    [OPTION_REALS] = write_reals,       [OPTION_SLOPES] = write_slopes,   [OPTION_TENSOR] = write_tensor,
    [OPTION_BIAS] = write_tensor,       [OPTION_ALLOW] = write_tensor,    [OPTION_INCLUDE] = write_include,
    [OPTION_OBJECT] = write_object,     [OPTION_OBJECTS] = write_objects, [OPTION_MODE] = write_or_object,
    [OPTION_PAIR] = write_or_object,    [OPTION_TARGET] = write_words,    [OPTION_REQUESTS] = write_objects,
    [OPTION_ROTATION] = write_rotation, [OPTION_BYTES] = write_bytes,     [OPTION_PROFILE] = write_or_object,
    [OPTION_EXPECT] = write_expect,
};

void schema_type(struct writer *w, const struct option *o)
{
    writers[o->kind](w, o);
}
