/* The end of the service: what was accepted is answered, what comes later is refused by the kernel. */
#ifndef SERVER_RUN_DRAIN_H
#define SERVER_RUN_DRAIN_H

#include <stdbool.h>

struct server;

/* Everything after a wish to end: shutdown delay, no more connections, running requests finished or, past the drain
 * timeout, cut short. false when some connection could not be freed: only _exit is left then. */
bool drain_run(struct server *server);

#endif
