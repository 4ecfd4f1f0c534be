/* --healthcheck: asks a running service whether it is ready, so that an image needs no other program for it. */
#ifndef SERVER_RUN_HEALTHCHECK_H
#define SERVER_RUN_HEALTHCHECK_H

#include "server/config/settings.h"

#include <stdbool.h>

/* GET /readyz on the configured address and port; true for 200. */
bool healthcheck_ready(const struct settings *settings);

#endif
