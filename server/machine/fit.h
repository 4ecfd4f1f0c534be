/* Settings that follow from the machine: what was left to it gets a value, what was given is compared with it. */
#ifndef SERVER_MACHINE_FIT_H
#define SERVER_MACHINE_FIT_H

#include "server/config/settings.h"

#include <stdbool.h>
#include <stddef.h>

/* Sets workers, memory and request_memory where they are 0: what of `granted` bytes the program and its workers do not
 * need themselves goes half to bodies and replies, half to the workers, up to 2G and 1G. max_body follows memory. */
void fit_settings(struct settings *settings, size_t granted);

/* Whether all that the settings let in fits into `granted` bytes; if not, `why` has the numbers. After fit_settings. */
bool fit_check(const struct settings *settings, size_t granted, char *why, size_t size);

#endif
