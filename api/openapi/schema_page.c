/* Schemas of the pages that are JSON. */
#include "api/openapi/schema_page.h"

#include <string.h>

#define REF(name) "\"$ref\":\"#/components/schemas/" name "\""
#define LIST(name) "\"type\":\"array\",\"items\":{" REF(name) "}"
#define TEXT "\"type\":\"string\""
#define TEXTS "\"type\":\"array\",\"items\":{\"type\":\"string\"}"
#define COUNT "\"type\":\"integer\",\"minimum\":0"
#define NUMBERS "\"type\":\"object\",\"additionalProperties\":{\"type\":\"number\",\"minimum\":0}"

/* The server prints most of these pages. Its tests hold every page against its schema. */
static const struct {
    const char *object, *name, *type, *meaning;
} members[] = {
    {"Links", "service", TEXT, "the name of the program"},
    {"Links", "version", TEXT, "of the program"},
    {"Links", "links", LIST("Link"), "every path"},
    {"Link", "href", TEXT, "the path; {name} stands for a name"},
    {"Link", "methods", TEXT, "what it takes, as in the field Allow"},
    {"Link", "summary", TEXT, "what is there"},
    {"Information", "service", TEXT, "the name of the program"},
    {"Information", "version", TEXT, "of the program"},
    {"Information", "revision", TEXT, "of its source"},
    {"Information", "compiler", TEXT, "that made it"},
    {"Information", "libraries", REF("Libraries"), "versions of those it runs with"},
    {"Information", "blas_kernel", TEXT, "the kernel of OpenBLAS that computes products"},
    {"Information", "blas_kernel_reason", TEXT, "why it is this one"},
    {"Information", "simd", TEXT, "the vector unit that computes the rest"},
    {"Information", "workers", COUNT, "threads that compute"},
    {"Information", "max_depth", COUNT, "how deep a body may be nested"},
    {"Information", "small_head_terms", COUNT,
     "terms of a head, n * m * (d_k + d_v), up to which they are added one by one"},
    {"Information", "limits", NUMBERS, "every setting that is a number, as it is in force"},
    {"Information", "compression", TEXT, "how replies may be packed: the setting"},
    {"Information", "features", TEXTS, "what this build can do"},
    {"Libraries", "libmicrohttpd", TEXT, "HTTP"},
    {"Libraries", "jansson", TEXT, "JSON"},
    {"Libraries", "openblas", TEXT, "products of matrices"},
    {"Refusal", "type", TEXT, "the path of this page"},
    {"Refusal", "title", TEXT, "the kind of refusal"},
    {"Refusal", "status", COUNT, "that of HTTP"},
    {"Refusal", "code", TEXT, "the stable name"},
    {"Refusal", "advice", TEXT, "what to do about it"},
    {"Refusal", "causes", LIST("Cause"), "the commonest causes"},
    {"Cause", "cause", TEXT, "what was sent"},
    {"Cause", "instead", TEXT, "what to send"},
    {"Examples", "examples", LIST("Example"), "in an order to read them"},
    {"Example", "name", TEXT, "of the example"},
    {"Example", "title", TEXT, "in a few words"},
    {"Example", "teaches", TEXT, "what it is about"},
    {"Example", "look", TEXT, "where to look in the reply"},
    {"Example", "href", TEXT, "the path of the request"},
};

static void write_member(struct writer *w, size_t row)
{
    writer_key(w, members[row].name);
    writer_object_begin(w);
    writer_raw(w, members[row].type, strlen(members[row].type));
    writer_member_string(w, "description", members[row].meaning);
    writer_object_end(w);
}

static void write_members(struct writer *w, size_t from, size_t to)
{
    writer_key(w, "properties");
    writer_object_begin(w);
    for (size_t row = from; row < to; row++)
        write_member(w, row);
    writer_object_end(w);
    writer_key(w, "required");
    writer_array_begin(w);
    for (size_t row = from; row < to; row++)
        writer_string(w, members[row].name);
    writer_array_end(w);
}

static size_t find_end(size_t from)
{
    size_t row = from;
    while (row < sizeof members / sizeof *members && strcmp(members[row].object, members[from].object) == 0)
        row++;
    return row;
}

void schema_pages(struct writer *w)
{
    for (size_t from = 0, to = 0; from < sizeof members / sizeof *members; from = to) {
        to = find_end(from);
        writer_key(w, members[from].object);
        writer_object_begin(w);
        writer_member_string(w, "type", "object");
        writer_member_bool(w, "additionalProperties", false);
        write_members(w, from, to);
        writer_object_end(w);
    }
}
