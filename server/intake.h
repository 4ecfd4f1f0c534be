/* Connections that the main thread takes in: those of --metrics-listen, and at the end the last ones of the port. */
#ifndef SERVER_INTAKE_H
#define SERVER_INTAKE_H

#include <stdbool.h>

struct server;

/* Opens the listener of --metrics-listen where there is to be one; false: the reason was logged. */
bool intake_open(struct server *server);

/* Hands every connection that waits at `listener` to libmicrohttpd. */
void intake_accept(struct server *server, int listener);

/* Waits for a signal, at most so long; what comes to the listener of --metrics-listen meanwhile is taken in. */
void intake_wait(struct server *server, int milliseconds);

void intake_close(struct server *server);

#endif
