/* The head of a request: the fields that this service reads, and the gate that refuses what HTTP forbids. */
#ifndef SERVER_HTTP_REQUEST_HEAD_H
#define SERVER_HTTP_REQUEST_HEAD_H

#include "server/http/problem.h"

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>

/* X(field, "Name", how often). More than once is refused for ONCE; of MANY the first counts; the lines of a LIST are
 * one list (RFC 9110 section 5.3). FRAMING is ONCE, and taken as it stands, blanks and all, since libmicrohttpd has
 * read it so already. */
#define REQUEST_HEAD_FIELDS(X) \
    X(host, "Host", ONCE) \
    X(content_length, "Content-Length", FRAMING) \
    X(transfer_encoding, "Transfer-Encoding", FRAMING) \
    X(content_type, "Content-Type", ONCE) \
    X(content_encoding, "Content-Encoding", ONCE) \
    X(expect, "Expect", ONCE) \
    X(request_id, "X-Request-Id", MANY) \
    X(accept, "Accept", LIST) \
    X(origin, "Origin", MANY) \
    X(accept_encoding, "Accept-Encoding", LIST) \
    X(if_none_match, "If-None-Match", LIST) \
    X(authorization, "Authorization", ONCE) \
    X(api_key, "X-API-Key", ONCE) \
    X(traceparent, "traceparent", MANY) \
    X(json_length, REQUEST_HEAD_JSON_LENGTH, ONCE)

/* How many bytes of a body are JSON; others follow. */
#define REQUEST_HEAD_JSON_LENGTH "Inference-Header-Content-Length"

enum method {
    METHOD_GET,
    METHOD_HEAD,
    METHOD_POST,
    METHOD_OPTIONS,
    METHOD_OTHER,
};

#define REQUEST_HEAD_ONE(field, name, times) +1 /* to count them */

/* Texts belong to libmicrohttpd, or to `copies`, and live as long as the request; NULL: not sent. */
struct request_head {
#define REQUEST_HEAD_FIELD(field, name, times) const char *field;
    REQUEST_HEAD_FIELDS(REQUEST_HEAD_FIELD)
#undef REQUEST_HEAD_FIELD
    enum method method;
    const char *method_name; /* "GET" ... or "other" */
    bool has_body;
    bool chunked;
    size_t length;                                         /* of the body as announced; 0 when chunked */
    char *copies[0 REQUEST_HEAD_FIELDS(REQUEST_HEAD_ONE)]; /* lists of several lines, values without their blanks */
};

/* Reads the head and applies the gate: what it refuses must be answered at once and the connection closed, for the
 * bytes that follow cannot be trusted. */
bool request_head_read(struct request_head *head, struct MHD_Connection *connection, const char *method,
                       const char *version, size_t max_header, struct problem *problem);

/* Frees what request_head_read has put together. */
void request_head_free(struct request_head *head);

/* "GET" ... or "other". */
const char *request_head_method_name(enum method method);

/* The same for the target as it came, before libmicrohttpd decodes it. */
bool request_head_check_target(const char *target, struct problem *problem);

/* Whether the version follows the target in the request line as libmicrohttpd keeps it. If not, the target goes on
 * behind a NUL; later versions than 0.9 refuse that themselves. */
bool request_head_check_end(const char *target_end, const char *version, struct problem *problem);

/* For MHD_OPTION_UNESCAPE_CALLBACK: decodes a target in place, but not "%2f", which parts nothing (RFC 3986
 * section 2.2), and not what is no escape; returns its length. */
size_t request_head_unescape(void *context, struct MHD_Connection *connection, char *text);

#endif
