/* The socket that connections come in by. */
#ifndef SERVER_LISTEN_LISTENER_H
#define SERVER_LISTEN_LISTENER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

/* Opens a listening socket; returns the descriptor, or -1 with the reason in `why`. `address` is
 * - a name or a number of IPv4 or IPv6 (which may stand in brackets), with *port (0: any free one, told in *port);
 * - "*" or "::" for every address of both families; IPv4 alone where the system has no IPv6;
 * - "unix:PATH": a Unix socket; one left over by a process that is gone is replaced; *port becomes 0.
 * A socket that systemd passed (LISTEN_FDS) is taken instead of all that; several are refused. */
int listener_open(const char *address, unsigned *port, char *why, size_t size);

/* The same, but never a socket that systemd passed. */
int listener_open_new(const char *address, unsigned *port, char *why, size_t size);

/* The same for "ADDRESS:PORT" or "unix:PATH". */
int listener_open_at(const char *place, unsigned *port, char *why, size_t size);

/* Whether only this machine can reach it. */
bool listener_is_local(int descriptor);

/* A connection to the listener, as a client, for at most so many seconds a step; -1 when there is none. Who listens
 * everywhere is asked on the loopback. */
int listener_connect(const char *address, unsigned port, int seconds);

/* Makes new connections be refused without losing those that are already made: after this, accept until none is left,
 * then listener_close. Best effort. `address` as it was opened: the file of a Unix socket is removed. */
void listener_refuse(int descriptor, const char *address);

/* After listener_refuse. */
void listener_close(int descriptor);

#endif
