/* Taking connections in, on the main thread: so many that there is always room for probes, and each to libmicrohttpd or
 * to the thread that speaks TLS. */
#ifndef SERVER_LISTEN_ACCEPTOR_H
#define SERVER_LISTEN_ACCEPTOR_H

#include "server/listen/listener.h"
#include "server/tls/tls_relay.h"

#include <stdbool.h>

struct connections;

struct acceptor {
    struct listener listener;
    bool side; /* it is that of --metrics-listen */
    struct connections *connections;
    struct tls_relay *relay; /* NULL: its connections are plain */
};

/* What the relay calls. */
struct tls_relay_events acceptor_events(void);

/* Takes in what waits. When all places are taken, one that has sent nothing for a second goes first, then one past the
 * limit, which gets its 503. false: there is no place to be had now; to be called again in a few milliseconds. */
bool acceptor_run(struct acceptor *acceptor);

#endif
