/* Open connections, and what each may take its time for: a connection past its deadline is cut from outside. */
#ifndef SERVER_PEERS_H
#define SERVER_PEERS_H

#include "server/address.h"
#include "server/identity.h"
#include "server/problem.h"

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PEERS_ORIGIN_SIZE 128

struct client;
struct clients;
struct settings;
struct work;
struct peers;

/* What a connection is waiting for. */
enum peers_state {
    PEERS_IDLE,  /* the next request */
    PEERS_HEAD,  /* the rest of a head */
    PEERS_BODY,  /* the rest of a body */
    PEERS_WORK,  /* our result */
    PEERS_REPLY, /* the client to take the reply */
    PEERS_CUT,   /* nothing: the deadline has passed */
};

/* One connection. The fields belong to the event thread. */
struct peer {
    struct client *client; /* NULL: it has no address */
    struct address address;
    char name[ADDRESS_TEXT_SIZE]; /* the address as text */
    enum problem_code excess;     /* the limit that this connection was one too many for; else PROBLEM_NONE */
    bool side;                    /* it came by --metrics-listen */
    struct problem target;        /* what is wrong with the target of the request being read */
    char id[IDENTITY_SIZE];       /* of the request whose body is being read, for when that takes too long */
    char origin[PEERS_ORIGIN_SIZE];
};

/* `side`: the listener of --metrics-listen, or -1. */
struct peers *peers_new(const struct settings *settings, struct clients *clients, int side);
void peers_free(struct peers *peers); /* when no connection is open any more */

/* For MHD_OPTION_NOTIFY_CONNECTION. */
void peers_notice(void *peers, struct MHD_Connection *connection, void **context,
                  enum MHD_ConnectionNotificationCode code);

/* The connection's peer, or NULL when there was no memory for it. */
struct peer *peers_find(struct MHD_Connection *connection);

/* Says what the connection waits for and until when (nanoseconds of clock_now). false: it has been cut. */
bool peers_move(struct peer *peer, enum peers_state state, int64_t deadline);

/* The same for PEERS_BODY, with what a refusal from outside repeats of the request; `origin` may be NULL. */
bool peers_move_to_body(struct peer *peer, int64_t deadline, const char id[IDENTITY_SIZE], const char *origin);

/* Refuses a request whose body is still being read, at once and without libmicrohttpd, and ends our side of the
 * connection; what the client still sends is to be read and dropped, or it might lose the reply. Inside TLS it does
 * nothing. */
void peers_refuse(struct peers *peers, struct peer *peer, const struct problem *problem);

/* What a connection was told from outside, when it was cut or by peers_refuse; PROBLEM_NONE: nothing. */
enum problem_code peers_told(const struct peer *peer);

/* The work whose result the suspended connection waits for; NULL: none any more. */
void peers_attach(struct peers *peers, struct peer *peer, struct work *work);

size_t peers_open(struct peers *peers);

/* Cuts what is past its deadline, gives up work that nobody waits for. */
void peers_reap(struct peers *peers);

/* Gives up all attached work; returns how many pieces there were. */
size_t peers_abandon(struct peers *peers);

/* Whether every connection has been silent since `since`: nothing read, nothing waiting to be read, and every reply has
 * arrived. For who asks again and again: a reply counts from the first call that finds it arrived. */
bool peers_silent(struct peers *peers, int64_t since);

#endif
