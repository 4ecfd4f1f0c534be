/* The socket that connections come in by. */
#ifndef SERVER_LISTEN_LISTENER_H
#define SERVER_LISTEN_LISTENER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

struct listener {
    int descriptor;                                       /* -1: there is none, or no longer */
    unsigned port;                                        /* 0: a Unix socket */
    bool passed;                                          /* by systemd, which goes on with it */
    char path[sizeof((struct sockaddr_un *)0)->sun_path]; /* of the Unix socket that was made here; else "" */
    dev_t device;                                         /* its file */
    ino_t inode;
};

#define LISTENER_NONE ((struct listener){.descriptor = -1})

/* Opens a listening socket; false: the reason is in `why`. `address` is
 * - a name or a number of IPv4 or IPv6 (which may stand in brackets), with `port` (0: any free one);
 * - "*" or "::" for every address of both families; IPv4 alone where the system has no IPv6;
 * - "unix:PATH": a Unix socket; one left over by a process that is gone is replaced.
 * A socket that systemd passed (LISTEN_FDS) is taken instead of all that; several are refused, and one that does not
 * listen. */
bool listener_open(struct listener *listener, const char *address, unsigned port, char *why, size_t size);

/* The same for "ADDRESS:PORT" or "unix:PATH", but never a socket that systemd passed. */
bool listener_open_at(struct listener *listener, const char *place, char *why, size_t size);

/* Whether only this machine can reach it; one that there is not, too. */
bool listener_is_local(const struct listener *listener);

/* A connection to the listener, as a client, for at most so many seconds a step; -1 when there is none. Who listens
 * everywhere is asked on the loopback. */
int listener_connect(const char *address, unsigned port, int seconds);

/* Makes new connections be refused without losing those that are already made: after this, accept until none is left,
 * then listener_close. Best effort. The file of a Unix socket is removed, unless it is another's by now. A socket that
 * systemd passed stays as it is: what comes to it waits for who takes it next. */
void listener_refuse(const struct listener *listener);

/* After listener_refuse; nothing when there is none. */
void listener_close(struct listener *listener);

#endif
