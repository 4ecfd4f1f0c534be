/* What libmicrohttpd is told: one event thread, our callbacks, our limits. */
#ifndef SERVER_RUN_DAEMON_H
#define SERVER_RUN_DAEMON_H

#include <stdbool.h>

struct server;

/* Serves the connections that it is handed; false: the reason was logged. */
bool daemon_start(struct server *server);

#endif
