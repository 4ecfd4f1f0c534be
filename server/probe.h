/* --healthcheck: asks a running service whether it is ready, so that an image needs no other program for it. */
#ifndef SERVER_PROBE_H
#define SERVER_PROBE_H

#include "server/settings.h"

#include <stdbool.h>

/* GET /readyz on the configured address and port; true for 200. */
bool probe_ready(const struct settings *settings);

#endif
