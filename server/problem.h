/* Every way a request can be refused, once: name, status, title; and its text as problem+json (RFC 9457). */
#ifndef SERVER_PROBLEM_H
#define SERVER_PROBLEM_H

#include "api/text.h"
#include "core/error.h"

#include <stdbool.h>
#include <stddef.h>

/* X(CODE, status, "slug", "title"). The slug ends the type /problems/slug and is the stable `code`. */
#define PROBLEMS(X) \
    X(BAD_REQUEST, 400, "bad-request", "The request breaks the rules of HTTP") \
    X(MALFORMED_BODY, 400, "malformed-body", "The body is not the JSON it should be") \
    X(UNAUTHORIZED, 401, "unauthorized", "A key is needed") \
    X(NOT_FOUND, 404, "not-found", "There is nothing at this path") \
    X(METHOD_NOT_ALLOWED, 405, "method-not-allowed", "This path does not take this method") \
    X(NOT_ACCEPTABLE, 406, "not-acceptable", "The reply has no form that the client accepts") \
    X(TIMEOUT, 408, "timeout", "The request did not arrive in time") \
    X(BODY_TOO_LARGE, 413, "body-too-large", "The body is larger than the limit") \
    X(TOO_LARGE, 413, "too-large", "The request is larger than a limit") \
    X(TARGET_TOO_LONG, 414, "target-too-long", "The request target is too long") \
    X(UNSUPPORTED_TYPE, 415, "unsupported-type", "The body has a type that cannot be JSON") \
    X(UNSUPPORTED_CODING, 415, "unsupported-coding", "The body has a content coding that is not known") \
    X(EXPECTATION, 417, "expectation-failed", "The expectation cannot be met") \
    X(INVALID, 422, "invalid-request", "The request is well-formed but not valid") \
    X(HEADER_TOO_LARGE, 431, "header-too-large", "The header fields are too large") \
    X(RATE, 429, "too-many-requests", "This client sends too many requests") \
    X(CLIENT_CONNECTIONS, 503, "too-many-client-connections", "This client has too many connections open") \
    X(NO_MEMORY, 503, "no-memory", "The memory for requests is spent") \
    X(QUEUE_FULL, 503, "queue-full", "Too many requests are waiting") \
    X(DRAINING, 503, "draining", "The service is shutting down") \
    X(CONNECTIONS, 503, "too-many-connections", "Too many connections are open") \
    X(DEADLINE, 503, "deadline", "The time allowed for the request has passed") \
    X(CODING_NOT_IMPLEMENTED, 501, "not-implemented", "The transfer coding is not known") \
    X(VERSION, 505, "http-version", "The version of HTTP is not served here") \
    X(INTERNAL, 500, "internal", "The service made a mistake")

enum problem_code {
    PROBLEM_NONE,
#define PROBLEM_CODE(code, status, slug, title) PROBLEM_##code,
    PROBLEMS(PROBLEM_CODE)
#undef PROBLEM_CODE
};

/* One refusal. */
struct problem {
    enum problem_code code;
    char detail[256];        /* one sentence; empty when `err` tells it */
    size_t limit;            /* bytes, when the refusal is about a limit of bytes; else 0 */
    const struct error *err; /* faults of the body, or NULL */
};

unsigned problem_status(enum problem_code code);
const char *problem_slug(enum problem_code code);

/* What core's error means here. */
enum problem_code problem_of_error(const struct error *err);

/* Sets code and detail; returns false, so that a check can `return problem_set(...)`. The first one stays. */
bool problem_set(struct problem *problem, enum problem_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Appends the JSON. `instance` may be NULL. */
void problem_write(struct text *out, const struct problem *problem, const char *request_id, const char *instance);

#endif
