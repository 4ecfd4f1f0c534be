/* Every way a request can be refused, once: name, status, title; and its text as problem+json (RFC 9457). */
#ifndef SERVER_HTTP_PROBLEM_H
#define SERVER_HTTP_PROBLEM_H

#include "api/numbers/buffer.h"
#include "core/tensor/error.h"

#include <stdbool.h>
#include <stddef.h>

/* X(CODE, status, "slug", "title", "what to do about it"). The slug ends the type /problems/slug and is the stable
 * `code`. */
#define PROBLEMS(X) \
    X(BAD_REQUEST, 400, "bad-request", "The request breaks the rules of HTTP", \
      "The head or the framing of the request is not what RFC 9110 and RFC 9112 allow, so the connection is " \
      "closed. Clients that use a library do not see this; check what stands between.") \
    X(MALFORMED_BODY, 400, "malformed-body", "The body is not the JSON it should be", \
      "line, column and byte point at the first byte that does not fit. Common: a trailing comma, NaN or " \
      "Infinity, a member given twice, a body that was cut.") \
    X(INFERENCE, 400, "invalid-inference", "The inference request is not valid", \
      "What 422 is elsewhere, below /v2, where the Open Inference Protocol knows 400: the sentence names the input, " \
      "output or parameter at fault; GET /v2/models/attention lists those that there are.") \
    X(UNKNOWN_PARAMETER, 400, "unknown-parameter", "The query has a parameter that is not known", \
      "Query parameters are pretty, which indents JSON, and color=always, which shades the cells of text. " \
      "Everything else goes into the body.") \
    X(UNAUTHORIZED, 401, "unauthorized", "A key is needed", \
      "Send Authorization: Bearer KEY or X-API-Key: KEY with one of the keys that the operator gave out.") \
    X(NOT_FOUND, 404, "not-found", "There is nothing at this path", \
      "GET / lists the paths, GET /openapi.json describes them.") \
    X(METHOD_NOT_ALLOWED, 405, "method-not-allowed", "This path does not take this method", \
      "The header Allow names the methods of this path.") \
    X(NOT_ACCEPTABLE, 406, "not-acceptable", "The reply has no form that the client accepts", \
      "Send no Accept, or one that includes application/json.") \
    X(TIMEOUT, 408, "timeout", "The request did not arrive in time", \
      "Head and body each have a time in which they have to be there whole; GET /v1/info tells them as " \
      "header_timeout and body_timeout. Send the request again, faster or in smaller parts.") \
    X(BODY_TOO_LARGE, 413, "body-too-large", "The body is larger than the limit", \
      "limit_bytes is what a body may have, unpacked. Send less, use float32 and base64, or ask the " \
      "operator to raise --max-body.") \
    X(TOO_LARGE, 413, "too-large", "The request is larger than a limit", \
      "detail has the size and the limit. Send smaller tensors, or ask for less in include.") \
    X(TARGET_TOO_LONG, 414, "target-too-long", "The request target is too long", \
      "No path here is long, and the only query parameters are pretty and color; everything else goes into the body.") \
    X(UNSUPPORTED_TYPE, 415, "unsupported-type", "The body has a type that cannot be JSON", \
      "Send the JSON with Content-Type: application/json. multipart and other types that cannot be JSON are " \
      "not read.") \
    X(UNSUPPORTED_CODING, 415, "unsupported-coding", "The body has a content coding that is not known", \
      "Send the body plain, or packed with zstd, gzip or deflate and named in Content-Encoding.") \
    X(EXPECTATION, 417, "expectation-failed", "The expectation cannot be met", \
      "Leave Expect out, or send Expect: 100-continue.") \
    X(INVALID, 422, "invalid-request", "The request is well-formed but not valid", \
      "pointer names the member at fault, errors lists all faults that were found.") \
    X(HEADER_TOO_LARGE, 431, "header-too-large", "The header fields are too large", \
      "Send fewer or shorter header fields; GET /v1/info tells the limit as max_header.") \
    X(RATE, 429, "too-many-requests", "This client sends too many requests", \
      "Wait for as many seconds as Retry-After says; GET /v1/info tells rate_limit and rate_burst.") \
    X(CLIENT_CONNECTIONS, 503, "too-many-client-connections", "This client has too many connections open", \
      "Close connections that are not used, or keep fewer open; GET /v1/info tells max_client_connections.") \
    X(NO_MEMORY, 503, "no-memory", "The memory for requests is spent", \
      "Wait for as many seconds as Retry-After says and send the request again, or to another replica.") \
    X(QUEUE_FULL, 503, "queue-full", "Too many requests are waiting", \
      "Wait for as many seconds as Retry-After says and send the request again, or to another replica.") \
    X(DRAINING, 503, "draining", "The service is shutting down", \
      "This process is about to end. Send the request again: another one answers.") \
    X(CONNECTIONS, 503, "too-many-connections", "Too many connections are open", \
      "Wait for as many seconds as Retry-After says, or close connections that are not used.") \
    X(DEADLINE, 503, "deadline", "The time allowed for the request has passed", \
      "The request was given up so that others can go on; GET /v1/info tells the time as deadline. Send " \
      "less at once, or ask the operator to raise --deadline.") \
    X(CODING_NOT_IMPLEMENTED, 501, "not-implemented", "The transfer coding is not known", \
      "Send the body with Content-Length, or with Transfer-Encoding: chunked.") \
    X(VERSION, 505, "http-version", "The version of HTTP is not served here", "Use HTTP/1.1.") \
    X(INTERNAL, 500, "internal", "The service made a mistake", \
      "This is a fault of the service: please report it with the request_id.")

enum problem_code {
    PROBLEM_NONE,
#define PROBLEM_CODE(code, status, slug, title, advice) PROBLEM_##code,
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
