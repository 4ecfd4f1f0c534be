/* Every way a request can be refused, once: the OpenAPI document, the pages under /problems, the refusals themselves
 * and their metrics are made of these rows. */
#ifndef API_OPENAPI_PROBLEMS_H
#define API_OPENAPI_PROBLEMS_H

#include "api/openapi/endpoint.h"

/* A trait that no path has: OpenAPI leaves what no path is alone in to "default". */
#define PROBLEM_NOWHERE 0x8000u

/* X(CODE, status, "slug", "title", having, lacking, "what to do about it"). The slug ends the type /problems/slug and
 * is the stable `code`. OpenAPI lists it with the paths that have all traits of `having` and none of `lacking`. */
#define PROBLEMS(X) \
    X(BAD_REQUEST, 400, "bad-request", "The request breaks the rules of HTTP", ENDPOINT_JOB, 0, \
      "The head or the framing of the request is not what RFC 9110 and RFC 9112 allow, so the connection is " \
      "closed. Clients that use a library do not see this; check what stands between.") \
    X(MALFORMED_BODY, 400, "malformed-body", "The body is not the JSON it should be", ENDPOINT_JOB, 0, \
      "line, column and byte point at the first byte that does not fit. Common: a trailing comma, NaN or " \
      "Infinity, a member given twice, a body that was cut.") \
    X(INFERENCE, 400, "invalid-inference", "The inference request is not valid", ENDPOINT_JOB | ENDPOINT_PROTOCOL, 0, \
      "What 422 is elsewhere, below /v2, where the Open Inference Protocol knows 400: the sentence names the input, " \
      "output or parameter at fault; GET /v2/models/attention lists those that there are.") \
    X(UNKNOWN_PARAMETER, 400, "unknown-parameter", "The query has a parameter that is not known", ENDPOINT_JOB, 0, \
      "Query parameters are pretty, which indents JSON, and color=always, which shades the cells of text. " \
      "Everything else goes into the body.") \
    X(UNAUTHORIZED, 401, "unauthorized", "A key is needed", 0, ENDPOINT_OPEN | ENDPOINT_PROBE, \
      "Send Authorization: Bearer KEY or X-API-Key: KEY with one of the keys that the operator gave out.") \
    X(NOT_FOUND, 404, "not-found", "There is nothing at this path", ENDPOINT_NAMED, 0, \
      "GET / lists the paths, GET /openapi.json describes them.") \
    X(METHOD_NOT_ALLOWED, 405, "method-not-allowed", "This path does not take this method", PROBLEM_NOWHERE, 0, \
      "The header Allow names the methods of this path.") \
    X(NOT_ACCEPTABLE, 406, "not-acceptable", "The reply has no form that the client accepts", 0, \
      ENDPOINT_PROBE | ENDPOINT_FILE, "Send no Accept, or one that includes application/json.") \
    X(TIMEOUT, 408, "timeout", "The request did not arrive in time", ENDPOINT_JOB, 0, \
      "Head and body each have a time in which they have to be there whole; GET /v1/info tells them as " \
      "header_timeout and body_timeout. Send the request again, faster or in smaller parts.") \
    X(BODY_TOO_LARGE, 413, "body-too-large", "The body is larger than the limit", ENDPOINT_JOB, 0, \
      "limit_bytes is what a body may have, unpacked. Send less, use float32 and base64, or ask the " \
      "operator to raise --max-body.") \
    X(TOO_LARGE, 413, "too-large", "The request is larger than a limit", ENDPOINT_JOB, 0, \
      "detail has the size and the limit. Send smaller tensors, or ask for less in include.") \
    X(TARGET_TOO_LONG, 414, "target-too-long", "The request target is too long", 0, 0, \
      "No path here is long, and the only query parameters are pretty and color; everything else goes into the body.") \
    X(UNSUPPORTED_TYPE, 415, "unsupported-type", "The body has a type that cannot be JSON", ENDPOINT_JOB, 0, \
      "Send the JSON with Content-Type: application/json. multipart and other types that cannot be JSON are " \
      "not read.") \
    X(UNSUPPORTED_CODING, 415, "unsupported-coding", "The body has a content coding that is not known", ENDPOINT_JOB, \
      0, "Send the body plain, or packed with zstd, gzip or deflate and named in Content-Encoding.") \
    X(EXPECTATION, 417, "expectation-failed", "The expectation cannot be met", 0, 0, \
      "Leave Expect out, or send Expect: 100-continue.") \
    X(INVALID, 422, "invalid-request", "The request is well-formed but not valid", ENDPOINT_JOB, ENDPOINT_PROTOCOL, \
      "pointer names the member at fault, errors lists all faults that were found.") \
    X(HEADER_TOO_LARGE, 431, "header-too-large", "The header fields are too large", 0, 0, \
      "Send fewer or shorter header fields; GET /v1/info tells the limit as max_header.") \
    X(RATE, 429, "too-many-requests", "This client sends too many requests", 0, ENDPOINT_PROBE, \
      "Wait for as many seconds as Retry-After says; GET /v1/info tells rate_limit and rate_burst.") \
    X(CLIENT_CONNECTIONS, 503, "too-many-client-connections", "This client has too many connections open", 0, \
      ENDPOINT_PROBE, \
      "Close connections that are not used, or keep fewer open; GET /v1/info tells max_client_connections.") \
    X(NO_MEMORY, 503, "no-memory", "The memory for requests is spent", 0, ENDPOINT_PROBE, \
      "Wait for as many seconds as Retry-After says and send the request again, or to another replica.") \
    X(QUEUE_FULL, 503, "queue-full", "Too many requests are waiting", ENDPOINT_JOB, 0, \
      "Wait for as many seconds as Retry-After says and send the request again, or to another replica.") \
    X(DRAINING, 503, "draining", "The service is shutting down", ENDPOINT_JOB, 0, \
      "This process is about to end. Send the request again: another one answers.") \
    X(CONNECTIONS, 503, "too-many-connections", "Too many connections are open", 0, ENDPOINT_PROBE, \
      "Wait for as many seconds as Retry-After says, or close connections that are not used.") \
    X(DEADLINE, 503, "deadline", "The time allowed for the request has passed", ENDPOINT_JOB, 0, \
      "The request was given up so that others can go on; GET /v1/info tells the time as deadline. Send " \
      "less at once, or ask the operator to raise --deadline.") \
    X(CODING_NOT_IMPLEMENTED, 501, "not-implemented", "The transfer coding is not known", PROBLEM_NOWHERE, 0, \
      "Send the body with Content-Length, or with Transfer-Encoding: chunked.") \
    X(VERSION, 505, "http-version", "The version of HTTP is not served here", PROBLEM_NOWHERE, 0, "Use HTTP/1.1.") \
    X(INTERNAL, 500, "internal", "The service made a mistake", PROBLEM_NOWHERE, 0, \
      "This is a fault of the service: please report it with the request_id.")

#endif
