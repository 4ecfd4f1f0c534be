/* What is known of a request when its head is there. Written until it has been judged, only read after that. */
#ifndef SERVER_EXCHANGE_REQUEST_H
#define SERVER_EXCHANGE_REQUEST_H

#include "server/config/address.h"
#include "server/http/query.h"
#include "server/http/request_head.h"
#include "server/http/request_id.h"
#include "server/http/traceparent.h"
#include "server/service/route.h"
#include "server/watch/log_line.h"

#include <microhttpd.h>
#include <stdbool.h>
#include <stdint.h>

struct client;
struct connection;
struct service;

struct request {
    struct MHD_Connection *connection;
    struct connection *peer;   /* NULL: there was no memory for it */
    const struct route *route; /* NULL: unknown path */
    char path[LOG_PATH_SIZE];  /* as the log shows it; "": the route tells it */
    const char *name;          /* that a path like /problems/{name} ends with, else "" */
    struct request_head head;
    struct query query;
    struct client *client; /* whose limits count; NULL: none do */
    bool forwarded;        /* client is another than the peer's */
    char client_name[ADDRESS_TEXT_SIZE];
    char id[REQUEST_ID_SIZE];
    char trace[TRACEPARENT_SIZE]; /* "": none */
    int64_t begun;
};

/* Finds what needs no head: where it goes and who asks. `request` is zeroed. */
void request_open(struct request *request, struct service *service, struct MHD_Connection *connection, const char *url);
void request_close(struct request *request, struct service *service);

/* Reads the head. false: it breaks HTTP, the bytes that follow mean nothing, and *problem says why. */
bool request_read(struct request *request, const struct service *service, const char *method, const char *version,
                  struct problem *problem);

/* Whether the form for people is wanted, text/plain, where there is one; whoever takes both gets JSON. */
bool request_wants_text(const struct request *request);

/* The form of the reply of a computation: JSON unless Accept prefers another that there is. */
enum job_format request_format(const struct request *request);

/* Whether the form for browsers is wanted, text/html, where there is one: more than every other. */
bool request_wants_html(const struct request *request);

#endif
