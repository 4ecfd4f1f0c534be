/* A place to listen at, in one word: an address with a port, or the path of a Unix socket. */
#ifndef SERVER_CONFIG_LISTEN_ADDRESS_H
#define SERVER_CONFIG_LISTEN_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

/* Takes "ADDRESS:PORT" or "[ADDRESS]:PORT" apart, the address into `out` (cut; size 0: nowhere). "unix:PATH" is its own
 * address, with port 0. false: it is neither. */
bool listen_address_split(const char *place, char *out, size_t size, unsigned *port);

/* The path that "unix:PATH" names; NULL for other addresses. */
const char *listen_address_path(const char *address);

#endif
