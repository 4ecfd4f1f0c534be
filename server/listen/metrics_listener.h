/* Connections that the main thread takes in: those of --metrics-listen, and at the end the last ones of the port. */
#ifndef SERVER_LISTEN_METRICS_LISTENER_H
#define SERVER_LISTEN_METRICS_LISTENER_H

#include <microhttpd.h>
#include <stdbool.h>

struct log;

/* Opens the listener of --metrics-listen, `place`, where there is to be one; *listener stays -1 otherwise. false: the
 * reason was logged. */
bool metrics_listener_open(const char *place, int *listener, struct log *log);

/* Hands every connection that waits at `listener` to libmicrohttpd. */
void metrics_listener_accept(int listener, struct MHD_Daemon *daemon);

/* Sets *listener to -1, and does nothing when it is. */
void metrics_listener_close(const char *place, int *listener);

#endif
