/* Whether this version of libmicrohttpd may serve where the service listens, and what its operator should know. */
#ifndef SERVER_RUN_LIBRARY_CHECK_H
#define SERVER_RUN_LIBRARY_CHECK_H

#include <stdbool.h>

struct server;

/* Once the sockets are open: they may have been passed, and a name may stand for any address. false: it may not, and
 * the reason was logged. */
bool library_check(struct server *server);

#endif
