/* One request from its head to the end of its reply: libmicrohttpd's callbacks. */
#ifndef SERVER_EXCHANGE_EXCHANGE_H
#define SERVER_EXCHANGE_EXCHANGE_H

#include "api/numbers/buffer.h"
#include "server/config/address.h"
#include "server/exchange/route.h"
#include "server/http/problem.h"
#include "server/http/request_head.h"
#include "server/http/request_id.h"
#include "server/http/traceparent.h"
#include "server/watch/log_line.h"

#include <microhttpd.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct client;
struct connection;
struct service;
struct work;

/* What the next call of the handler is for. */
enum exchange_state {
    EXCHANGE_STORE,   /* take the body in */
    EXCHANGE_DISCARD, /* read the body and forget it, then refuse */
    EXCHANGE_WORK,    /* send the result */
    EXCHANGE_SENT,    /* nothing */
};

/* Belongs to the event thread. */
struct exchange {
    struct service *service;
    struct MHD_Connection *connection;
    struct connection *peer;
    struct client *client; /* whose limits count; NULL: none do */
    bool forwarded;        /* client is another than the peer's */
    char client_name[ADDRESS_TEXT_SIZE];
    const struct route *route; /* NULL: unknown path */
    char path[LOG_PATH_SIZE];  /* as the log shows it; "": the route tells it */
    const char *name;          /* that a path like /problems/{name} ends with, else "" */
    struct request_head head;
    enum exchange_state state;
    struct problem refusal; /* why the body is discarded */
    struct buffer body;
    size_t charged;  /* bytes of the body in the server's budget */
    size_t received; /* bytes of the body read */
    struct work *work;
    int64_t begun, deadline;   /* of the body */
    bool queued;               /* it went to the pool */
    int64_t queue;             /* nanoseconds waited for a worker */
    enum problem_code problem; /* that was sent */
    double compute_seconds;    /* of the job that ran */
    size_t numbers;            /* in its reply; 0: none ran */
    unsigned status;           /* that was sent; 0: none yet */
    atomic_size_t sent;        /* bytes of the reply's body handed over */
    char id[REQUEST_ID_SIZE];
    char trace[TRACEPARENT_SIZE];
};

/* For MHD_start_daemon; `service` is the struct service. */
enum MHD_Result exchange_handle(void *service, struct MHD_Connection *connection, const char *url, const char *method,
                                const char *version, const char *data, size_t *size, void **context);

/* For MHD_OPTION_URI_LOG_CALLBACK: a request line has been read. */
void *exchange_note_target(void *service, const char *target, struct MHD_Connection *connection);

/* For MHD_OPTION_NOTIFY_COMPLETED: logs and frees. */
void exchange_complete(void *service, struct MHD_Connection *connection, void **context,
                       enum MHD_RequestTerminationCode code);

#endif
