/* Schemas of requests: what a table says, in JSON Schema. */
#include "api/openapi/schema.h"

#include "api/decode/read_packed.h"
#include "api/decode/read_seeded.h"
#include "api/openapi/schema_reference.h"
#include "api/openapi/schema_type.h"

#include <stdio.h>
#include <string.h>

/* --- objects --- */

/* The default stands in the description: generators of clients make members with `default` required, or send them. */
static void write_description(struct writer *w, const struct option *o)
{
    struct buffer text = buffer_new(BUFFER_SENTENCE);
    if (o->shape)
        buffer_format(&text, "%s: ", o->shape);
    buffer_string(&text, o->meaning);
    if (o->standard[0])
        buffer_format(&text, "; default %s", o->standard);
    writer_key(w, "description");
    writer_string_n(w, text.data ? text.data : "", text.length);
    buffer_free(&text);
}

struct members {
    struct writer *w;
    const struct option_form *form; /* that they belong to, or NULL */
};

static void write_property(void *context, const struct option *o)
{
    const struct members *m = context;
    if (m->form && option_is_listed(m->form->lacks, o->name))
        return;
    writer_key(m->w, o->name);
    writer_object_begin(m->w);
    schema_type(m->w, o);
    write_description(m->w, o);
    writer_object_end(m->w);
}

static void write_required(void *context, const struct option *o)
{
    const struct members *m = context;
    if (o->required || (m->form && option_is_listed(m->form->needs, o->name)))
        writer_string(m->w, o->name);
}

static void write_object(struct writer *w, const struct option_table *table, const struct option_form *form)
{
    struct members members = {w, form};
    writer_object_begin(w);
    writer_member_string(w, "type", "object");
    writer_member_bool(w, "additionalProperties", false);
    writer_key(w, "required");
    writer_array_begin(w);
    option_each(table, write_required, &members);
    writer_array_end(w);
    writer_key(w, "properties");
    writer_object_begin(w);
    option_each(table, write_property, &members);
    writer_object_end(w);
    writer_object_end(w);
}

/* "AttentionRequest" in its form "Qkv" is AttentionRequestQkv. */
static void print_title(char *out, size_t size, const struct option_table *table, const struct option_form *form)
{
    snprintf(out, size, "%s%s", table->title, form->suffix);
}

/* oneOf of whole objects, not of lists of required members, which generators of clients make nothing of. */
static void write_forms(struct writer *w, const struct option_table *table)
{
    char title[80];
    writer_object_begin(w);
    writer_key(w, "oneOf");
    writer_array_begin(w);
    for (const struct option_form *form = table->forms; form->suffix; form++) {
        print_title(title, sizeof title, table, form);
        schema_reference(w, title);
    }
    writer_array_end(w);
    writer_object_end(w);
    for (const struct option_form *form = table->forms; form->suffix; form++) {
        print_title(title, sizeof title, table, form);
        writer_key(w, title);
        write_object(w, table, form);
    }
}

void schema_request(struct writer *w, const struct option_table *table)
{
    writer_key(w, table->title);
    if (table->forms)
        write_forms(w, table);
    else
        write_object(w, table, NULL);
    for (size_t x = 0; x < table->count; x++)
        if (table->options[x].inner && table->options[x].kind != OPTION_REQUESTS && /* that one stands by itself */
            table->options[x].kind != OPTION_EXPECT)                                /* and that in its place */
            schema_request(w, table->options[x].inner);
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
static void write_nested(struct writer *w, const char *name, const char *meaning, const char *leaf)
{
    writer_key(w, name);
    writer_object_begin(w);
    writer_member_string(w, "description", meaning);
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
    write_nested(w, "Numbers", "Nested arrays of numbers", "{\"type\":\"number\"}");
    write_nested(w, "NumbersOrHidden",
                 "Nested arrays in which null is -infinity: a hidden key, or a row that may see none. nonfinite "
                 "\"string\" has \"-Infinity\" in its place, which Number() and float() read as that number; "
                 "Math.exp(null) is 1, and NumPy makes nan of None",
                 "{\"anyOf\":[{\"type\":[\"number\",\"null\"]},{\"type\":\"string\",\"enum\":[\"-Infinity\"]}]}");
    write_nested(w, "Booleans", "Nested arrays of booleans", "{\"type\":\"boolean\"}");
    schema_request(w, read_packed_table());
    schema_request(w, read_seeded_table());
    write_either(w, "Tensor", "Numbers", true);
    write_either(w, "BiasTensor", "NumbersOrHidden", true);
    write_either(w, "AllowTensor", "Booleans", false);
}
