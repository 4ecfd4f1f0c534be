/* Schemas of requests: what a table says, in JSON Schema. */
#include "api/openapi/schema.h"

#include "api/openapi/schema_reference.h"
#include "api/openapi/schema_type.h"
#include "api/request/read_packed.h"
#include "api/request/read_seeded.h"

#include <jansson.h>
#include <string.h>

/* --- objects --- */

/* A default that is JSON goes into `default`; one that is a formula stands in the description. */
static void write_default(struct writer *w, const struct option *o, bool *told)
{
    json_t *value = json_loads(o->standard, JSON_DECODE_ANY, NULL);
    *told = value != NULL;
    if (value) {
        writer_key(w, "default");
        writer_raw(w, o->standard, strlen(o->standard));
    }
    json_decref(value);
}

static void write_description(struct writer *w, const struct option *o, bool default_told)
{
    struct buffer text = {0};
    if (o->shape)
        buffer_format(&text, "%s: ", o->shape);
    buffer_string(&text, o->meaning);
    if (o->standard[0] && !default_told)
        buffer_format(&text, "; default %s", o->standard);
    writer_key(w, "description");
    writer_string_n(w, text.data ? text.data : "", text.length);
    buffer_free(&text);
}

static void write_property(void *context, const struct option *o)
{
    struct writer *w = context;
    bool told;
    writer_key(w, o->name);
    writer_object_begin(w);
    schema_type(w, o);
    write_default(w, o, &told);
    write_description(w, o, told);
    writer_object_end(w);
}

static void write_required(void *context, const struct option *o)
{
    if (o->required)
        writer_string(context, o->name);
}

static void write_inner(struct writer *w, const struct option *o)
{
    if (o->inner)
        schema_request(w, o->inner);
}

void schema_request(struct writer *w, const struct option_table *table)
{
    writer_key(w, table->title);
    writer_object_begin(w);
    writer_member_string(w, "type", "object");
    writer_member_bool(w, "additionalProperties", false);
    writer_key(w, "required");
    writer_array_begin(w);
    option_each(table, write_required, w);
    writer_array_end(w);
    if (table->any_of) {
        writer_key(w, "anyOf");
        writer_raw(w, table->any_of, strlen(table->any_of));
    }
    writer_key(w, "properties");
    writer_object_begin(w);
    option_each(table, write_property, w);
    writer_object_end(w);
    writer_object_end(w);
    for (size_t x = 0; x < table->count; x++)
        write_inner(w, &table->options[x]);
}

/* --- tensors --- */

/* An array of that rank of the `leaf` types. */
static void write_rank(struct writer *w, size_t rank, const char *leaf)
{
    writer_object_begin(w);
    writer_member_string(w, "type", "array");
    writer_member_integer(w, "minItems", 1);
    writer_key(w, "items");
    if (rank > 1)
        write_rank(w, rank - 1, leaf);
    else
        writer_raw(w, leaf, strlen(leaf));
    writer_object_end(w);
}

/* Nested arrays, rank by rank: generators of clients do not follow a schema into itself. */
static void write_nested(struct writer *w, const char *name, const char *leaf)
{
    writer_key(w, name);
    writer_object_begin(w);
    writer_key(w, "anyOf");
    writer_array_begin(w);
    for (size_t rank = 1; rank <= TENSOR_RANK_MAX; rank++)
        write_rank(w, rank, leaf);
    writer_array_end(w);
    writer_object_end(w);
}

static void write_either(struct writer *w, const char *name, const char *nested, bool seeded)
{
    writer_key(w, name);
    writer_object_begin(w);
    writer_key(w, "anyOf");
    writer_array_begin(w);
    schema_reference(w, nested);
    schema_reference(w, read_packed_table()->title);
    if (seeded)
        schema_reference(w, read_seeded_table()->title);
    writer_array_end(w);
    writer_object_end(w);
}

void schema_tensors(struct writer *w)
{
    write_nested(w, "Numbers", "{\"type\":\"number\"}");
    write_nested(w, "NumbersOrHidden", "{\"anyOf\":[{\"type\":[\"number\",\"null\"]},{\"const\":\"-Infinity\"}]}");
    write_nested(w, "Booleans", "{\"type\":\"boolean\"}");
    schema_request(w, read_packed_table());
    schema_request(w, read_seeded_table());
    write_either(w, "Tensor", "Numbers", true);
    write_either(w, "BiasTensor", "NumbersOrHidden", true);
    write_either(w, "AllowTensor", "Booleans", false);
}
