/* Refusals as responses of the OpenAPI document. */
#include "api/openapi/schema_refusal.h"

#include "api/openapi/problems.h"
#include "api/openapi/schema_reference.h"

#include <string.h>

static const struct {
    const char *status, *title;
    unsigned having, lacking;
} problems[] = {
#define PROBLEM_ROW(code, status, slug, title, having, lacking, advice) {#status, title, having, lacking},
    PROBLEMS(PROBLEM_ROW)
#undef PROBLEM_ROW
};

#define PROBLEM_COUNT (sizeof problems / sizeof *problems)

/* Below /v2 refusals are those of the Open Inference Protocol. */
static void write_problem(struct writer *w, const char *status, const char *when, unsigned traits)
{
    bool inference = traits & ENDPOINT_PROTOCOL;
    writer_key(w, status);
    writer_object_begin(w);
    writer_member_string(w, "description", when);
    writer_key(w, "content");
    writer_object_begin(w);
    writer_key(w, inference ? "application/json" : "application/problem+json");
    writer_object_begin(w);
    writer_key(w, "schema");
    schema_reference(w, inference ? "InferError" : "Problem");
    writer_object_end(w);
    writer_object_end(w);
    writer_object_end(w);
}

static bool may_happen(size_t problem, unsigned traits)
{
    return (traits & problems[problem].having) == problems[problem].having && (traits & problems[problem].lacking) == 0;
}

/* The next one of its status that may happen on a path of these traits, from `problem` on; PROBLEM_COUNT: none. */
static size_t find_problem(size_t problem, const char *status, unsigned traits)
{
    while (problem < PROBLEM_COUNT && (strcmp(problems[problem].status, status) != 0 || !may_happen(problem, traits)))
        problem++;
    return problem;
}

/* All of one status, at the first of them. */
static void write_status(struct writer *w, size_t first, unsigned traits)
{
    const char *status = problems[first].status;
    struct buffer titles = buffer_new(BUFFER_SENTENCE);
    if (find_problem(0, status, traits) != first)
        return;
    for (size_t x = first; x < PROBLEM_COUNT; x = find_problem(x + 1, status, traits))
        buffer_format(&titles, "%s%s", x == first ? "" : "; ", problems[x].title);
    buffer_append(&titles, "", 1);
    write_problem(w, status, titles.failed ? "" : titles.data, traits);
    w->out->failed |= titles.failed;
    buffer_free(&titles);
}

void schema_refusals(struct writer *w, unsigned traits)
{
    for (size_t x = 0; x < PROBLEM_COUNT; x++)
        write_status(w, x, traits);
    write_problem(w, "default", "Any other refusal", traits);
}
