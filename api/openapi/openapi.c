/* Paths, operations, examples. */
#include "api/openapi/openapi.h"

#include "api/openapi/schema.h"
#include "api/openapi/schema_reply.h"
#include "api/request/merge_request.h"
#include "api/request/options.h"

#include <stdio.h>
#include <string.h>

#define API_VERSION "1.0.0" /* of the contract, not of the program */

/* --- what is there --- */

/* POST: a job. */
static const struct {
    const char *path, *id, *summary, *reply;
    const struct option_table *(*table)(void);
    bool text; /* also as text/plain */
} jobs[] = {
    {"/v1/attention", "attention", "Compute attention, with every step of it on demand", "AttentionReply",
     options_table, true},
    {"/v1/attention/explain", "explain", "Tell one query and one key as arithmetic", "ExplainReply",
     options_explain_table, true},
    {"/v1/attention/merge", "merge", "Join partial results over disjoint keys by their log-sum-exp", "MergeReply",
     merge_request_table, false},
};

#define STATE "{\"type\":\"object\",\"required\":[\"status\"],\"properties\":{\"status\":{\"type\":\"string\"}}}"

/* What a path may answer beside 200 depends on what it is. */
enum trait {
    TRAIT_JOB = 1,
    TRAIT_PAGE = 2,
    TRAIT_PROBE = 4,    /* needs no key, is not limited */
    TRAIT_STATE = 8,    /* 503 has the page too, not a problem */
    TRAIT_OPEN = 16,    /* needs no key */
    TRAIT_LASTING = 32, /* has an ETag */
    TRAIT_NAMED = 64,   /* the path ends with {name} */
};

/* GET: a page. */
static const struct {
    const char *path, *id, *summary, *media_type, *schema;
    unsigned traits; /* besides TRAIT_PAGE */
} pages[] = {
    {"/v1/examples", "examples", "Worked examples: what each teaches and what to look at", "application/json",
     "{\"type\":\"object\"}", TRAIT_LASTING},
    {"/v1/examples/{name}", "example", "One of them: a request for /v1/attention", "application/json",
     "{\"$ref\":\"#/components/schemas/AttentionRequest\"}", TRAIT_NAMED | TRAIT_LASTING},
    {"/v1/info", "info", "Version, limits in force, features, threads, BLAS and its kernel", "application/json",
     "{\"type\":\"object\"}", TRAIT_LASTING},
    {"/livez", "livez", "The process runs", "application/json", STATE, TRAIT_PROBE},
    {"/readyz", "readyz", "The service takes requests", "application/json", STATE, TRAIT_PROBE | TRAIT_STATE},
    {"/health", "health", "The same as /readyz", "application/json", STATE, TRAIT_PROBE | TRAIT_STATE},
    {"/metrics", "metrics", "Counters for Prometheus", "text/plain", "{\"type\":\"string\"}", TRAIT_PROBE},
    {"/problems", "problems", "Every refusal and what to do about it", "application/json",
     "{\"type\":\"array\",\"items\":{\"type\":\"object\"}}", TRAIT_OPEN | TRAIT_LASTING},
    {"/problems/{name}", "problem", "One refusal, where the type of a problem points", "application/json",
     "{\"type\":\"object\"}", TRAIT_OPEN | TRAIT_NAMED | TRAIT_LASTING},
    {"/openapi.json", "openapi", "This document", "application/json", "{\"type\":\"object\"}",
     TRAIT_OPEN | TRAIT_LASTING},
    {"/", "root", "Links to everything", "application/json", "{\"type\":\"object\"}", TRAIT_OPEN | TRAIT_LASTING},
};

/* Where all traits of `having` are and none of `lacking`. */
static const struct {
    const char *status, *when;
    unsigned having, lacking;
} problems[] = {
    {"400", "Not JSON (with line, column and byte), or a request that breaks the rules of HTTP", TRAIT_JOB, 0},
    {"401", "A key is configured, and missing or wrong", 0, TRAIT_OPEN | TRAIT_PROBE},
    {"404", "There is nothing of this name", TRAIT_NAMED, 0},
    {"406", "Accept excludes every form of the reply", 0, TRAIT_PROBE},
    {"408", "The body did not arrive in time", TRAIT_JOB, 0},
    {"413", "The body, the tensors or the reply are larger than a limit", TRAIT_JOB, 0},
    {"414", "The target is too long", 0, 0},
    {"415", "A body that cannot be JSON, or an unknown Content-Encoding", TRAIT_JOB, 0},
    {"417", "An expectation other than 100-continue", 0, 0},
    {"422", "Well-formed JSON that is not a valid request", TRAIT_JOB, 0},
    {"429", "Too many requests of one client", 0, TRAIT_PROBE},
    {"431", "The header fields are too large", 0, 0},
    {"503", "The queue is full, the memory budget is spent, the time is over, or the service is shutting down",
     TRAIT_JOB, 0},
    {"503", "Too many connections are open", TRAIT_PAGE, TRAIT_PROBE},
    {"default", "Any other refusal", 0, 0},
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

static void write_problems(struct writer *w, unsigned traits)
{
    for (size_t x = 0; x < sizeof problems / sizeof *problems; x++) {
        if ((traits & problems[x].having) != problems[x].having || (traits & problems[x].lacking) != 0)
            continue;
        begin(w, problems[x].status);
        writer_member_string(w, "description", problems[x].when);
        begin(w, "content");
        begin(w, "application/problem+json");
        writer_key(w, "schema");
        schema_reference(w, "Problem");
        end(w, 3);
    }
}

struct examples {
    struct writer *w;
    const struct option_table *table;
    const char *prefix;
};

static void write_example_body(struct buffer *body, const struct examples *e, const struct option *o)
{
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
    struct buffer body = {0};
    char name[80];
    snprintf(name, sizeof name, "%s%s", e->prefix, o->name);
    write_example_body(&body, e, o);
    begin(e->w, name);
    writer_member_string(e->w, "summary", o->meaning);
    writer_key(e->w, "value");
    writer_raw(e->w, body.data ? body.data : "{}", body.data ? body.length : 2);
    end(e->w, 1);
    buffer_free(&body);
    if (!o->inner)
        return;
    char prefix[sizeof name + 1];
    snprintf(prefix, sizeof prefix, "%s.", name);
    struct examples inner = {e->w, e->table, prefix};
    option_each(o->inner, write_example, &inner);
}

static void write_request(struct writer *w, const struct option_table *table)
{
    struct examples examples = {w, table, ""};
    begin(w, "requestBody");
    writer_member_bool(w, "required", true);
    begin(w, "content");
    begin(w, "application/json");
    writer_key(w, "schema");
    schema_reference(w, table->title);
    begin(w, "examples");
    option_each(table, write_example, &examples);
    end(w, 4);
}

static void begin_operation(struct writer *w, const char *path, const char *method, const char *id, const char *summary)
{
    begin(w, path);
    begin(w, method);
    writer_member_string(w, "operationId", id);
    writer_member_string(w, "summary", summary);
}

static void write_text_content(struct writer *w)
{
    static const char schema[] = "{\"type\":\"string\"}";
    begin(w, "text/plain");
    writer_key(w, "schema");
    writer_raw(w, schema, strlen(schema));
    end(w, 1);
}

static void write_jobs(struct writer *w)
{
    for (size_t x = 0; x < sizeof jobs / sizeof *jobs; x++) {
        begin_operation(w, jobs[x].path, "post", jobs[x].id, jobs[x].summary);
        write_request(w, jobs[x].table());
        begin(w, "responses");
        begin(w, "200");
        writer_member_string(w, "description", "The result");
        begin(w, "content");
        begin(w, "application/json");
        writer_key(w, "schema");
        schema_reference(w, jobs[x].reply);
        end(w, 1);
        if (jobs[x].text)
            write_text_content(w);
        end(w, 2);
        write_problems(w, TRAIT_JOB);
        end(w, 3);
    }
}

static void write_parameter(struct writer *w, const char *name)
{
    static const char schema[] = "{\"type\":\"string\"}";
    writer_key(w, "parameters");
    writer_array_begin(w);
    writer_object_begin(w);
    writer_member_string(w, "name", name);
    writer_member_string(w, "in", "path");
    writer_member_bool(w, "required", true);
    writer_key(w, "schema");
    writer_raw(w, schema, strlen(schema));
    end(w, 1);
    writer_array_end(w);
}

static void write_page(struct writer *w, const char *status, const char *when, const char *media_type,
                       const char *schema)
{
    begin(w, status);
    writer_member_string(w, "description", when);
    begin(w, "content");
    begin(w, media_type);
    writer_key(w, "schema");
    writer_raw(w, schema, strlen(schema));
    end(w, 3);
}

/* The page, or a problem when there is not even memory for the page. */
static void write_unready(struct writer *w, const char *schema)
{
    begin(w, "503");
    writer_member_string(w, "description", "The service is starting or shutting down, or has no memory");
    begin(w, "content");
    begin(w, "application/json");
    writer_key(w, "schema");
    writer_raw(w, schema, strlen(schema));
    end(w, 1);
    begin(w, "application/problem+json");
    writer_key(w, "schema");
    schema_reference(w, "Problem");
    end(w, 3);
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
        begin_operation(w, pages[x].path, "get", pages[x].id, pages[x].summary);
        if (pages[x].traits & TRAIT_NAMED)
            write_parameter(w, "name");
        begin(w, "responses");
        write_page(w, "200", pages[x].summary, pages[x].media_type, pages[x].schema);
        if (pages[x].traits & TRAIT_STATE)
            write_unready(w, pages[x].schema);
        if (pages[x].traits & TRAIT_LASTING)
            write_unchanged(w);
        write_problems(w, pages[x].traits | TRAIT_PAGE);
        end(w, 3);
    }
}

static void write_components(struct writer *w)
{
    begin(w, "components");
    begin(w, "schemas");
    for (size_t x = 0; x < sizeof jobs / sizeof *jobs; x++)
        schema_request(w, jobs[x].table());
    schema_tensors(w);
    schema_replies(w);
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
