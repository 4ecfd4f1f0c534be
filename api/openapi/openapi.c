/* Paths, operations, examples. */
#include "api/openapi/openapi.h"

#include "api/openapi/endpoint.h"
#include "api/openapi/schema.h"
#include "api/openapi/schema_infer.h"
#include "api/openapi/schema_page.h"
#include "api/openapi/schema_reference.h"
#include "api/openapi/schema_refusal.h"
#include "api/openapi/schema_reply.h"
#include "api/request/merge_request.h"
#include "api/request/options.h"

#include <stdio.h>
#include <string.h>

#define API_VERSION "1.0.0" /* of the contract, not of the program */

/* --- what is there --- */

static const struct {
    const char *path, *id, *summary;
    unsigned traits;
    const char *reply;
    const struct option_table *(*table)(void);
} jobs[] = {
#define JOB_ROW(kind, functions, path, id, link, summary, traits, reply, table) \
    {path, id, summary, traits, reply, table},
    ENDPOINT_JOBS(JOB_ROW)
#undef JOB_ROW
};

static const struct {
    const char *path, *id, *summary;
    unsigned traits;
    const char *media_type, *schema;
} pages[] = {
#define PAGE_ROW(page, path, id, link, summary, traits, media_type, schema) \
    {path, id, summary, traits, media_type, schema},
    ENDPOINT_PAGES(PAGE_ROW)
#undef PAGE_ROW
};

/* --- pieces --- */

static void begin(struct writer *w, const char *name)
{
    writer_key(w, name);
    writer_object_begin(w);
}

static void end(struct writer *w, size_t levels)
{
    while (levels-- > 0)
        writer_object_end(w);
}

/* Traits of a page or a job with those that no row names. */
static unsigned find_traits(const char *path, unsigned traits)
{
    bool inference = strncmp(path, ENDPOINT_INFERENCE, strlen(ENDPOINT_INFERENCE)) == 0;
    return traits | (inference ? ENDPOINT_PROTOCOL : 0);
}

struct examples {
    struct writer *w;
    const struct option_table *table;
    const char *prefix;
};

static void write_example_body(struct buffer *body, const struct examples *e, const struct option *o)
{
    if (e->table == options_steps_table()) {
        buffer_format(body, "{%s}", o->example);
        return;
    }
    if (e->table != merge_request_table()) {
        options_example(e->table, o, body);
        return;
    }
    const struct option *parts = option_find(merge_request_table(), "parts");
    bool own = strstr(o->example, "\"parts\"") != NULL;
    buffer_format(body, "{%s%s%s}", o->example, own ? "" : ",", own ? "" : parts->example);
}

static void write_example(void *context, const struct option *o)
{
    const struct examples *e = context;
    struct buffer body = buffer_new(BUFFER_PAGE);
    char name[80];
    snprintf(name, sizeof name, "%s%s", e->prefix, o->name);
    write_example_body(&body, e, o);
    begin(e->w, name);
    writer_member_string(e->w, "summary", o->meaning);
    writer_key(e->w, "value");
    writer_raw(e->w, body.data ? body.data : "{}", body.data ? body.length : 2);
    end(e->w, 1);
    buffer_free(&body);
    if (!o->inner || o->kind == OPTION_REQUESTS)
        return;
    char prefix[sizeof name + 1];
    snprintf(prefix, sizeof prefix, "%s.", name);
    struct examples inner = {e->w, e->table, prefix};
    option_each(o->inner, write_example, &inner);
}

static void write_form(struct writer *w, const char *media_type, const char *schema)
{
    begin(w, media_type);
    writer_key(w, "schema");
    writer_raw(w, schema, strlen(schema));
    end(w, 1);
}

static void write_request(struct writer *w, const struct option_table *table)
{
    struct examples examples = {w, table, ""};
    begin(w, "requestBody");
    writer_member_bool(w, "required", true);
    begin(w, "content");
    begin(w, "application/json");
    writer_key(w, "schema");
    schema_reference(w, table ? table->title : "InferRequest");
    begin(w, "examples");
    if (table)
        option_each(table, write_example, &examples);
    else
        schema_infer_examples(w);
    end(w, 2);
    if (!table)
        write_form(w, "application/octet-stream", "{\"type\":\"string\",\"format\":\"binary\"}");
    end(w, 2);
}

static const struct {
    const char *name, *meaning;
} tags[] = {{"attention", "Compute and explain"},
            {"documents", "What the service says of itself: examples, refusals, limits, this document"},
            {"probes", "For who runs the service"}};

static void write_tag(struct writer *w, unsigned traits)
{
    size_t tag = traits & ENDPOINT_JOB ? 0 : traits & ENDPOINT_PROBE ? 2 : 1;
    writer_key(w, "tags");
    writer_array_begin(w);
    writer_string(w, tags[tag].name);
    writer_array_end(w);
}

static void write_tags(struct writer *w)
{
    writer_key(w, "tags");
    writer_array_begin(w);
    for (size_t x = 0; x < sizeof tags / sizeof *tags; x++) {
        writer_object_begin(w);
        writer_member_string(w, "name", tags[x].name);
        writer_member_string(w, "description", tags[x].meaning);
        writer_object_end(w);
    }
    writer_array_end(w);
}

static void begin_operation(struct writer *w, const char *path, const char *method, const char *id, const char *summary)
{
    begin(w, path);
    begin(w, method);
    writer_member_string(w, "operationId", id);
    writer_member_string(w, "summary", summary);
    writer_member_string(w, "description", summary);
}

static void write_text_content(struct writer *w)
{
    write_form(w, "text/plain", "{\"type\":\"string\"}");
}

static void write_parameter(struct writer *w, const char *name, const char *in, const char *schema)
{
    writer_object_begin(w);
    writer_member_string(w, "name", name);
    writer_member_string(w, "in", in);
    writer_member_bool(w, "required", strcmp(in, "path") == 0);
    writer_key(w, "schema");
    writer_raw(w, schema, strlen(schema));
    end(w, 1);
}

/* Probes take none. */
static void write_parameters(struct writer *w, unsigned traits)
{
    if (traits & ENDPOINT_PROBE)
        return;
    writer_key(w, "parameters");
    writer_array_begin(w);
    if (traits & ENDPOINT_RELEASE)
        write_parameter(w, "release", "path", "{\"type\":\"string\"}");
    if (traits & ENDPOINT_NAMED)
        write_parameter(w, "name", "path", "{\"type\":\"string\",\"pattern\":\"^[a-z0-9.-]+$\",\"maxLength\":100}");
    write_parameter(w, "pretty", "query",
                    "{\"anyOf\":[{\"type\":\"boolean\"},{\"enum\":[\"\",\"1\",\"0\"]}],"
                    "\"description\":\"JSON that is not streamed is indented; without a value as true\"}");
    write_parameter(w, "color", "query",
                    "{\"enum\":[\"never\",\"always\"],"
                    "\"description\":\"text/plain: cells in the 256 colours of a terminal\"}");
    writer_array_end(w);
}

/* NULL: the request of the Open Inference Protocol. */
static const struct option_table *find_table(size_t job)
{
    return jobs[job].table ? jobs[job].table() : NULL;
}

static void write_jobs(struct writer *w)
{
    for (size_t x = 0; x < sizeof jobs / sizeof *jobs; x++) {
        begin_operation(w, jobs[x].path, "post", jobs[x].id, jobs[x].summary);
        write_tag(w, ENDPOINT_JOB);
        write_parameters(w, jobs[x].traits);
        write_request(w, find_table(x));
        begin(w, "responses");
        begin(w, "200");
        writer_member_string(w, "description", "The result");
        begin(w, "content");
        begin(w, "application/json");
        writer_key(w, "schema");
        schema_reference(w, jobs[x].reply);
        end(w, 1);
        if (jobs[x].traits & ENDPOINT_TEXT)
            write_text_content(w);
        if (jobs[x].traits & ENDPOINT_BINARY)
            write_form(w, "application/octet-stream", "{\"type\":\"string\",\"format\":\"binary\"}");
        if (jobs[x].traits & ENDPOINT_PICTURE)
            write_form(w, "image/svg+xml", "{\"type\":\"string\"}");
        end(w, 2);
        schema_refusals(w, find_traits(jobs[x].path, jobs[x].traits | ENDPOINT_JOB));
        end(w, 3);
    }
}

static void write_page(struct writer *w, const char *when, const char *media_type, const char *schema, unsigned traits)
{
    begin(w, "200");
    writer_member_string(w, "description", when);
    begin(w, "content");
    write_form(w, media_type, schema);
    if (traits & ENDPOINT_FILE) {
        write_form(w, "text/css", schema);
        write_form(w, "text/html", schema);
        write_form(w, "image/svg+xml", schema);
    }
    if (traits & ENDPOINT_HTML)
        write_form(w, "text/html", "{\"type\":\"string\"}");
    if (traits & ENDPOINT_TEXT)
        write_text_content(w);
    end(w, 2);
}

/* The page, or a problem when there is not even memory for the page. */
static void write_unready(struct writer *w, unsigned traits, const char *schema)
{
    begin(w, "503");
    writer_member_string(w, "description", "The service is starting or shutting down, or has no memory");
    begin(w, "content");
    begin(w, "application/json");
    writer_key(w, "schema");
    writer_raw(w, schema, strlen(schema));
    end(w, 1);
    if (!(traits & ENDPOINT_PROTOCOL)) {
        begin(w, "application/problem+json");
        writer_key(w, "schema");
        schema_reference(w, "Problem");
        end(w, 1);
    }
    end(w, 2);
}

static void write_unchanged(struct writer *w)
{
    begin(w, "304");
    writer_member_string(w, "description", "If-None-Match has the page's ETag");
    end(w, 1);
}

static void write_pages(struct writer *w)
{
    for (size_t x = 0; x < sizeof pages / sizeof *pages; x++) {
        begin_operation(w, pages[x].path, pages[x].traits & ENDPOINT_POSTED ? "post" : "get", pages[x].id,
                        pages[x].summary);
        write_tag(w, pages[x].traits);
        write_parameters(w, pages[x].traits);
        begin(w, "responses");
        write_page(w, pages[x].summary, pages[x].media_type, pages[x].schema, pages[x].traits);
        if (pages[x].traits & ENDPOINT_STATE)
            write_unready(w, find_traits(pages[x].path, pages[x].traits), pages[x].schema);
        if (pages[x].traits & ENDPOINT_LASTING)
            write_unchanged(w);
        schema_refusals(w, find_traits(pages[x].path, pages[x].traits));
        end(w, 3);
    }
}

static void write_components(struct writer *w)
{
    begin(w, "components");
    begin(w, "schemas");
    for (size_t x = 0; x < sizeof jobs / sizeof *jobs; x++)
        if (find_table(x))
            schema_request(w, find_table(x));
    schema_tensors(w);
    schema_replies(w);
    schema_infer(w);
    schema_pages(w);
    end(w, 1);
    begin(w, "securitySchemes");
    begin(w, "key");
    writer_member_string(w, "type", "http");
    writer_member_string(w, "scheme", "bearer");
    writer_member_string(w, "description", "Needed where the operator has configured keys");
    end(w, 3);
}

bool openapi_text(struct buffer *out)
{
    static const char servers[] = "[{\"url\":\"/\",\"description\":\"Where this document comes from\"}]";
    static const char security[] = "[{},{\"key\":[]}]";
    struct writer w = {.out = out};
    writer_object_begin(&w);
    writer_member_string(&w, "openapi", "3.1.0");
    begin(&w, "info");
    writer_member_string(&w, "title", "attentiond");
    writer_member_string(&w, "version", API_VERSION);
    writer_member_string(&w, "description",
                         "Attention, from formula to last digit: O = softmax(softcap(scale Q K^T) + bias | mask) V.");
    begin(&w, "license");
    writer_member_string(&w, "name", "MIT");
    writer_member_string(&w, "identifier", "MIT");
    end(&w, 2);
    writer_key(&w, "servers");
    writer_raw(&w, servers, strlen(servers));
    write_tags(&w);
    writer_key(&w, "security");
    writer_raw(&w, security, strlen(security));
    begin(&w, "paths");
    write_jobs(&w);
    write_pages(&w);
    end(&w, 1);
    write_components(&w);
    end(&w, 1);
    buffer_string(out, "\n");
    return !out->failed;
}
