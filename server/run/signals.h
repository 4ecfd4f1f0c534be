/* Signals as something to wait for. */
#ifndef SERVER_RUN_SIGNALS_H
#define SERVER_RUN_SIGNALS_H

#include <stdbool.h>

/* Call early. From then on SIGTERM and SIGINT are a wish to end; one that comes a second later or more ends the
 * process at once; SIGPIPE is ignored. false when the system refuses. */
bool signals_install(void);

/* Keeps what comes before signals_install, also over an exec, for it. */
void signals_keep(void);

bool signals_stop_wanted(void);

/* Whether SIGHUP came since the last call. */
bool signals_reload_wanted(void);

#define SIGNALS_BESIDE 2

/* Waits for a signal or for something to read from one of these descriptors (-1: none), at most so long; `ready` says
 * from which. */
void signals_wait(const int beside[SIGNALS_BESIDE], bool ready[SIGNALS_BESIDE], int milliseconds);

#endif
