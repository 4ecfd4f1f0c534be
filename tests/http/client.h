/* An HTTP client (libcurl) for the service under test. Failures are failures of the running test. */
#ifndef TESTS_HTTP_CLIENT_H
#define TESTS_HTTP_CLIENT_H

#include "tests/http/service.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define CLIENT_HEADERS_MAX 16

struct client_request {
    const char *method; /* NULL: GET, or POST with a body */
    const char *path;
    const char *headers[CLIENT_HEADERS_MAX]; /* "Name: value" */
    const char *body;
    size_t length; /* 0: strlen(body) */
    bool chunked;
    const char *authority; /* PEM: by HTTPS, from a service that this vouches for */
    long tls_version;      /* CURL_SSLVERSION_..., 0: any */
};

struct client_reply {
    long status; /* 0: there was no reply */
    char *head;  /* header lines */
    char *body;  /* with a NUL after it */
    size_t length;
    double seconds;
    int failure; /* CURLcode */
};

/* One request on a connection of its own. */
struct client_reply client_send(const struct service *service, const struct client_request *request);

/* Shorter. */
struct client_reply client_get(const struct service *service, const char *path);
struct client_reply client_post(const struct service *service, const char *path, const char *body);

void client_free(struct client_reply *reply);

/* The value of a header in `out`, or NULL when it was not sent. */
char *client_header(const struct client_reply *reply, const char *name, char *out, size_t size);

/* The body as JSON. */
json_t *client_json(const struct client_reply *reply);

/* Asserts that it is problem+json of this status with all that belongs to it, and returns it. */
json_t *client_problem(const struct client_reply *reply, long status);

#endif
