/* What libmicrohttpd is told: one event thread, our callbacks, our limits. */
#ifndef SERVER_RUN_DAEMON_H
#define SERVER_RUN_DAEMON_H

#include <stdbool.h>

#define DAEMON_EXCESS 256 /* connections past --max-connections, that get a 503 instead of silence */

struct server;

/* Serves at the server's listener; false: the reason was logged. */
bool daemon_start(struct server *server);

#endif
