/* The table of open connections: what each waits for, and until when. */
#ifndef SERVER_LISTEN_CONNECTIONS_H
#define SERVER_LISTEN_CONNECTIONS_H

#include "server/config/address.h"
#include "server/http/problem.h"
#include "server/http/request_id.h"
#include "server/listen/raw_refusal.h"

#include <microhttpd.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONNECTIONS_ORIGIN_SIZE 128

struct client;
struct client_limits;
struct settings;
struct connections;
struct tls_relayed;

/* How many connections there may be. */
struct connections_room {
    size_t usual;   /* --max-connections */
    size_t reserve; /* past them: their requests get a 503 instead of silence, and probes are answered */
    size_t side;    /* by --metrics-listen */
    size_t slack;   /* that are cut and not closed yet, of each of the two kinds */
};

/* Room for `usual` connections, or for fewer when there are no more than `places` for all. false: there are too few for
 * any. */
bool connections_find_room(struct connections_room *room, size_t usual, size_t places);

size_t connections_all(const struct connections_room *room);

/* What a connection is waiting for. */
enum connection_state {
    CONNECTION_IDLE,  /* the next request */
    CONNECTION_HEAD,  /* the rest of a head */
    CONNECTION_BODY,  /* the rest of a body */
    CONNECTION_WORK,  /* our result */
    CONNECTION_REPLY, /* the client to take the reply */
    CONNECTION_TOLD,  /* the rest of a body that has been refused already */
    CONNECTION_CUT,   /* nothing: it is to be closed */
    CONNECTION_END,   /* by TLS: libmicrohttpd has closed its side, the rest is on its way to the client */
};

/* What a suspended connection waits for, and how to give it up. `keep` and `abandon` are called on another thread, in
 * this order: `keep` must be quick and makes sure that `what` lives until `abandon` has been called, which says what
 * the client is told of it (PROBLEM_NONE: it has gone), and wakes the connection. */
struct connection_wait {
    void *what; /* NULL: it waits for nothing */
    void (*keep)(void *what);
    void (*abandon)(void *what, enum problem_code reason);
};

/* One connection. */
struct connection {
    /* The event thread's. */
    struct client *client; /* NULL: it has no address */
    struct address address;
    char name[ADDRESS_TEXT_SIZE]; /* the address as text */
    enum problem_code excess;     /* the limit that this connection was one too many for; else PROBLEM_NONE */
    bool side;                    /* it came by --metrics-listen */
    struct problem target;        /* what is wrong with the target of the request being read */
    const char *target_end;       /* its NUL, where libmicrohttpd keeps it */
    struct raw_refusal of;        /* the request whose body is being read; its texts are below */
    char id[REQUEST_ID_SIZE];
    char origin[CONNECTIONS_ORIGIN_SIZE];

    /* The table's: under its lock. */
    struct connections *table;
    struct connection *previous, *next; /* by age, the youngest first */
    struct connection_wait held;
    struct tls_relayed *tls; /* NULL: it is plain */
    int outer;               /* the socket to the client */
    int inner;      /* the one that libmicrohttpd has: the same, or that of the relay; -1: not yet, no longer */
    bool started;   /* libmicrohttpd has it */
    bool spoken;    /* at least one byte is known to have come */
    int64_t opened; /* when */
    uint64_t gone;  /* the reaper's: when it saw in milliseconds that the other side sends no more; 0: not yet */

    /* For any thread. */
    _Atomic uint64_t wait; /* state and deadline: both change in one step */
    _Atomic int64_t moved; /* when a request last began or ended */
    atomic_bool asked;     /* there has been a request line */
    atomic_int told;       /* the problem that was sent from outside */
};

struct connections *connections_new(const struct settings *settings, struct client_limits *clients,
                                    const struct connections_room *room);
void connections_free(struct connections *connections); /* when no connection is open any more */

/* To whom connections are handed, once it has started. */
void connections_serve(struct connections *connections, struct MHD_Daemon *daemon);

/* Adds one that was accepted. NULL: no memory, and the socket is still the caller's. */
struct connection *connections_add(struct connections *connections, int descriptor, const struct sockaddr *address,
                                   bool side);

/* Hands the socket to libmicrohttpd, as this connection's. false: the socket is closed, and the connection is to be
 * removed. */
bool connections_hand_over(struct connection *connection, int descriptor, const struct sockaddr *address,
                           socklen_t size);

/* Forgets one that libmicrohttpd does not have. */
void connections_remove(struct connection *connection);

/* The relay has no more to do with it, and is about to close the socket to the client. */
void connections_leave(struct connection *connection);

/* For MHD_OPTION_NOTIFY_CONNECTION. */
void connections_notice(void *connections, struct MHD_Connection *connection, void **context,
                        enum MHD_ConnectionNotificationCode code);

/* libmicrohttpd's connection in the table, or NULL when there was no memory for it. */
struct connection *connections_find(struct MHD_Connection *connection);

/* Says what the connection waits for and until when (nanoseconds of clock_now). false: it has been cut. */
bool connections_move(struct connection *connection, enum connection_state state, int64_t deadline);

/* The same for CONNECTION_BODY, with what a refusal from outside repeats of the request. `id` and `origin` are copied;
 * `instance` and `allow` must last. */
bool connections_move_to_body(struct connection *connection, int64_t deadline, const struct raw_refusal *of);

/* The parts of connection->wait: its state, its deadline in milliseconds; and the same deadline with another state. */
enum connection_state connections_state(uint64_t wait);
uint64_t connections_deadline(uint64_t wait);
uint64_t connections_with_state(uint64_t wait, enum connection_state state);

void connections_attach(struct connections *connections, struct connection *connection, struct connection_wait wait);

/* Parks a connection until connections_resume, from its handler or reader only; false after connections_stop. */
bool connections_suspend(struct connections *connections, struct MHD_Connection *connection);

/* Exactly once per connections_suspend; the connection's request may be gone when this returns. */
void connections_resume(struct connections *connections, struct MHD_Connection *connection);

/* From now on no connection can be suspended, and none is handed over. How many are suspended still. */
size_t connections_stop(struct connections *connections);

size_t connections_open(struct connections *connections);

/* How many of the open ones came by --metrics-listen, or did not; for the holder of the lock. */
size_t connections_count(const struct connections *connections, bool side);

const struct settings *connections_settings(const struct connections *connections);
const struct connections_room *connections_room(const struct connections *connections);

/* What is listed stays, and its sockets stay open, while the lock is held. The oldest, to go on with `previous`, and
 * the youngest, to go on with `next`. */
void connections_lock(struct connections *connections);
void connections_unlock(struct connections *connections);
struct connection *connections_oldest(const struct connections *connections);
struct connection *connections_youngest(const struct connections *connections);

#endif
