/* A refusal, one of the table in api/openapi/problems.h, and its text as problem+json (RFC 9457). */
#ifndef SERVER_HTTP_PROBLEM_H
#define SERVER_HTTP_PROBLEM_H

#include "api/numbers/buffer.h"
#include "api/openapi/problems.h"
#include "core/tensor/error.h"

#include <stdbool.h>
#include <stddef.h>

enum problem_code {
    PROBLEM_NONE,
#define PROBLEM_CODE(code, status, slug, title, having, lacking, advice) PROBLEM_##code,
    PROBLEMS(PROBLEM_CODE)
#undef PROBLEM_CODE
};

struct writer;

/* One refusal. */
struct problem {
    enum problem_code code;
    char detail[256];        /* one sentence; empty when `err` tells it */
    size_t limit;            /* bytes, when the refusal is about a limit of bytes; else 0 */
    unsigned retry_after;    /* seconds, when the refusal knows them; else 0 */
    bool last;               /* the connection cannot go on after it */
    const struct error *err; /* faults of the body, or NULL */
};

unsigned problem_status(enum problem_code code);
const char *problem_slug(enum problem_code code);

/* What core's error means here. */
enum problem_code problem_of_error(const struct error *err);

/* Whether refusals of this path (NULL: unknown) are those of the Open Inference Protocol: {"error":"one sentence"}. */
bool problem_is_inference(const char *path);

/* The code there of what is `code` elsewhere. */
enum problem_code problem_for(const char *path, enum problem_code code);

/* The media type of the text. */
const char *problem_media_type(const char *path);

/* The row of a slug; PROBLEM_NONE when there is none. */
enum problem_code problem_find(const char *slug);

/* Appends what /problems/slug tells of it: type, title, status, code, advice, the commonest causes. */
void problem_explain(struct writer *w, enum problem_code code);

/* The same as lines for people. */
void problem_explain_text(struct buffer *out, enum problem_code code);

/* Sets code and detail; returns false, so that a check can `return problem_set(...)`. The first one stays. */
bool problem_set(struct problem *problem, enum problem_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Appends the JSON. `instance`, the path, may be NULL. */
void problem_write(struct buffer *out, const struct problem *problem, const char *request_id, const char *instance);

#endif
