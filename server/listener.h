/* The socket that connections come in by. */
#ifndef SERVER_LISTENER_H
#define SERVER_LISTENER_H

#include <stdbool.h>
#include <stddef.h>

/* Opens `address`:`port` (0: any free one, told in *port). Returns the descriptor, or -1 with the reason in `why`. */
int listener_open(const char *address, unsigned *port, char *why, size_t size);

/* Whether only this machine can reach the address. */
bool listener_is_local(const char *address);

/* Makes new connections be refused without losing those that are already made: after this, accept until none is left,
 * then listener_close. Best effort. */
void listener_refuse(int descriptor);
void listener_close(int descriptor);

#endif
