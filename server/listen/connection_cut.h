/* Ending a connection from outside of libmicrohttpd, and what it is told then. */
#ifndef SERVER_LISTEN_CONNECTION_CUT_H
#define SERVER_LISTEN_CONNECTION_CUT_H

#include "server/listen/connections.h"

/* Refuses a request whose body is still being read, at once and without libmicrohttpd, and ends our side of the
 * connection; what the client still sends is to be read and dropped, or it might lose the reply. Nothing happens where
 * the connection has been cut: there is one reply to a request. On the event thread. */
void connection_cut_refuse(struct connection *connection, const struct problem *problem);

/* Ends it, if it still waits for what `wait` says; `problem` NULL: without a word. Under the lock of the table. */
void connection_cut_now(struct connection *connection, uint64_t wait, const struct problem *problem);

/* Whether a byte has come from the client. Under the lock of the table. */
bool connection_cut_spoken(struct connection *connection);

/* What the connection was told by one of them; PROBLEM_NONE: nothing. */
enum problem_code connection_cut_told(const struct connection *connection);

#endif
