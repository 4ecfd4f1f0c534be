/* Deadlines: what takes too long is ended, what nobody waits for is given up. */
#ifndef SERVER_LISTEN_REAPER_H
#define SERVER_LISTEN_REAPER_H

#include <stddef.h>

struct connections;

/* Cuts what is past its deadline, gives up what nobody waits for. To be called again and again. */
void reaper_run(struct connections *connections);

/* From now on no connection can be suspended, and what those wait for that are is given up. How many are left: call
 * again until there is none. */
size_t reaper_stop(struct connections *connections);

#endif
