/* Connections that the main thread takes in: those of --metrics-listen, and at the end the last ones of the port. */
#ifndef SERVER_LISTEN_METRICS_LISTENER_H
#define SERVER_LISTEN_METRICS_LISTENER_H

#include <stdbool.h>

struct server;

/* Opens the listener of --metrics-listen where there is to be one; false: the reason was logged. */
bool metrics_listener_open(struct server *server);

/* Hands every connection that waits at `listener` to libmicrohttpd. */
void metrics_listener_accept(struct server *server, int listener);

/* Waits for a signal, at most so long; what comes to the listener of --metrics-listen meanwhile is taken in. */
void metrics_listener_wait(struct server *server, int milliseconds);

void metrics_listener_close(struct server *server);

#endif
