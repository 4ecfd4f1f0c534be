/* The running service: what all requests share, and its life from start to drain. */
#ifndef SERVER_RUN_SERVER_H
#define SERVER_RUN_SERVER_H

#include "api/job.h"
#include "core/pool.h"
#include "server/config/proxies.h"
#include "server/config/settings.h"
#include "server/watch/budget.h"
#include "server/watch/log.h"

#include <microhttpd.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct client_limits;
struct keys;
struct metrics;
struct connections;
struct page_cache;

enum server_phase {
    SERVER_STARTING, /* answers, but is not ready */
    SERVER_READY,
    SERVER_DRAINING, /* answers, closes every connection after its reply */
    SERVER_STOPPING, /* nothing may be suspended any more */
};

struct server {
    struct settings settings;
    struct request_limits limits;
    struct document_memory *memory; /* the event thread's */
    struct log *log;
    struct pool *pool;
    struct proxies proxies;
    struct connections *peers;
    struct client_limits *clients;
    struct keys *keys;
    struct metrics *metrics;
    struct page_cache *shelf;
    struct MHD_Daemon *daemon;
    struct MHD_Response *spent; /* the 503 that needs no memory */
    struct budget held;         /* bytes of bodies and of replies under way */
    int listener;               /* -1 when closed */
    int side;                   /* the listener of --metrics-listen; -1: there is none */
    unsigned port;
    int64_t started;
    _Atomic enum server_phase phase;
    atomic_size_t suspended; /* connections that someone has still to resume */
    atomic_size_t exchanges; /* requests between head and end */
};

/* Opens the port, starts threads, warms them up and turns ready. `settings` is copied; workers is settled here. false:
 * the reason was logged, and server_stop must still be called. */
bool server_start(struct server *server, const struct settings *settings, struct log *log);

/* What has to be done from time to time: deadlines, clients that went away. */
void server_tend(struct server *server);

/* Reads again what SIGHUP asks for: the keys, the certificate. What cannot be read stays as it was, and is logged. */
void server_reload(struct server *server);

/* After drain_run, or after a failed start. */
void server_stop(struct server *server);

/* Parks a connection until server_resume, from its handler or reader only; false when stopping. */
bool server_suspend(struct server *server, struct MHD_Connection *connection);

/* Exactly once per server_suspend; the connection's request may be gone when this returns. */
void server_resume(struct server *server, struct MHD_Connection *connection);

#endif
