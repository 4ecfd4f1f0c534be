/* The service's life from start to drain, and what it needs beside what requests share. */
#ifndef SERVER_RUN_SERVER_H
#define SERVER_RUN_SERVER_H

#include "server/listen/acceptor.h"
#include "server/listen/connections.h"
#include "server/service/service.h"

#include <microhttpd.h>
#include <stdbool.h>

struct server {
    struct service service;
    struct connections_room room;
    struct MHD_Daemon *daemon;
    struct acceptor acceptors[2]; /* of --listen and of --metrics-listen */
    bool full[2];                 /* no connection can be taken in there now */
    struct tls_relay *relay;      /* NULL: without TLS */
};

/* Opens the port, starts threads, warms them up and turns ready. `settings` is copied; workers is settled here. false:
 * the reason was logged, and server_stop must still be called. */
bool server_start(struct server *server, const struct settings *settings, struct log *log);

/* What has to be done from time to time: deadlines, clients that went away. */
void server_tend(struct server *server);

/* Waits for a signal, at most so long; the connections that come meanwhile are taken in. */
void server_wait(struct server *server, int milliseconds);

/* Reads again what SIGHUP asks for: the keys, the certificate. What cannot be read stays as it was, and is logged. */
void server_reload(struct server *server);

/* After drain_run, or after a failed start. */
void server_stop(struct server *server);

#endif
