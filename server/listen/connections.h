/* Open connections, and what each may take its time for: a connection past its deadline is cut from outside. */
#ifndef SERVER_LISTEN_CONNECTIONS_H
#define SERVER_LISTEN_CONNECTIONS_H

#include "server/config/address.h"
#include "server/http/problem.h"
#include "server/listen/raw_refusal.h"

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct client;
struct client_limits;
struct settings;
struct connections;

/* What a connection is waiting for. */
enum connection_state {
    CONNECTION_IDLE,  /* the next request */
    CONNECTION_HEAD,  /* the rest of a head */
    CONNECTION_BODY,  /* the rest of a body */
    CONNECTION_WORK,  /* our result */
    CONNECTION_REPLY, /* the client to take the reply */
    CONNECTION_TOLD,  /* the rest of a body that has been refused already */
    CONNECTION_CUT,   /* nothing: the deadline has passed */
};

/* One connection. The fields belong to the event thread. */
struct connection {
    struct client *client; /* NULL: it has no address */
    struct address address;
    char name[ADDRESS_TEXT_SIZE]; /* the address as text */
    enum problem_code excess;     /* the limit that this connection was one too many for; else PROBLEM_NONE */
    bool side;                    /* it came by --metrics-listen */
    struct problem target;        /* what is wrong with the target of the request being read */
    const char *target_end;       /* its NUL, where libmicrohttpd keeps it */
};

/* `side`: the listener of --metrics-listen, or -1. */
struct connections *connections_new(const struct settings *settings, struct client_limits *clients, int side);
void connections_free(struct connections *peers); /* when no connection is open any more */

/* For MHD_OPTION_NOTIFY_CONNECTION. */
void connections_notice(void *peers, struct MHD_Connection *connection, void **context,
                        enum MHD_ConnectionNotificationCode code);

/* The connection's peer, or NULL when there was no memory for it. */
struct connection *connections_find(struct MHD_Connection *connection);

/* Says what the connection waits for and until when (nanoseconds of clock_now). false: it has been cut. */
bool connections_move(struct connection *peer, enum connection_state state, int64_t deadline);

/* The same for CONNECTION_BODY, with what a refusal from outside repeats of the request. `id` and `origin` are copied;
 * `instance` and `allow` must last. */
bool connections_move_to_body(struct connection *peer, int64_t deadline, const struct raw_refusal *of);

/* Refuses a request whose body is still being read, at once and without libmicrohttpd, and ends our side of the
 * connection; what the client still sends is to be read and dropped, or it might lose the reply. Nothing happens inside
 * TLS, and where the connection has been cut: there is one reply to a request. */
void connections_refuse(struct connections *peers, struct connection *peer, const struct problem *problem);

/* What a connection was told from outside, when it was cut or by connections_refuse; PROBLEM_NONE: nothing. */
enum problem_code connections_told(const struct connection *peer);

/* What a suspended connection waits for, and how to give it up. `keep` and `abandon` are called on another thread, in
 * this order: `keep` must be quick and makes sure that `what` lives until `abandon` has been called, which says what
 * the client is told of it (PROBLEM_NONE: it has gone), and wakes the connection. */
struct connection_wait {
    void *what; /* NULL: it waits for nothing */
    void (*keep)(void *what);
    void (*abandon)(void *what, enum problem_code reason);
};

void connections_attach(struct connections *peers, struct connection *peer, struct connection_wait wait);

/* Parks a connection until connections_resume, from its handler or reader only; false after connections_stop. */
bool connections_suspend(struct connections *peers, struct MHD_Connection *connection);

/* Exactly once per connections_suspend; the connection's request may be gone when this returns. */
void connections_resume(struct connections *peers, struct MHD_Connection *connection);

size_t connections_open(struct connections *peers);

/* Cuts what is past its deadline, gives up what nobody waits for. */
void connections_reap(struct connections *peers);

/* From now on no connection can be suspended, and what those wait for that are is given up. How many are left: call
 * again until there is none. */
size_t connections_stop(struct connections *peers);

/* Whether every connection has been silent since `since`: nothing read, nothing waiting to be read, and every reply has
 * arrived. For who asks again and again: a reply counts from the first call that finds it arrived. */
bool connections_silent(struct connections *peers, int64_t since);

#endif
