/* One connection by TLS: from the socket of the client to a socket with the plain bytes, for whoever serves HTTP. Made
 * for epoll's edges: each run goes on until both directions have to wait. */
#ifndef SERVER_TLS_TLS_LINK_H
#define SERVER_TLS_TLS_LINK_H

#include "server/tls/tls_certificate.h"

#include <gnutls/gnutls.h>
#include <stdbool.h>
#include <stddef.h>

#define TLS_LINK_RECORD ((size_t)16 * 1024) /* bytes of a record at most */

/* 1.2 and 1.3 with forward secrecy and authenticated encryption only. */
#define TLS_LINK_PRIORITIES \
    "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-KX-ALL:+ECDHE-ECDSA:+ECDHE-RSA:-CIPHER-ALL:+AES-128-GCM:" \
    "+CHACHA20-POLY1305:+AES-256-GCM:-MAC-ALL:+AEAD:-GROUP-ALL:+GROUP-X25519:+GROUP-SECP256R1:+GROUP-SECP384R1:" \
    "+GROUP-SECP521R1:%SERVER_PRECEDENCE"

struct tls_link;

/* What a run needs that is not the link's own: the certificate to begin with, room for one record, and whom to give the
 * socket with the plain bytes, once there are any: `open` takes it over, and false ends the link. */
struct tls_link_means {
    gnutls_priority_t priorities;
    struct tls_certificate *certificate;
    char *room; /* TLS_LINK_RECORD bytes */
    bool (*open)(void *connection, int descriptor);
    void *connection; /* for `open` */
};

enum tls_link_state { TLS_LINK_WAITS, TLS_LINK_GOES_ON /* others had to get their turn */, TLS_LINK_ENDED };

/* Takes the non-blocking socket of the client over; NULL: no memory, and it is still the caller's. */
struct tls_link *tls_link_new(int descriptor);

/* Closes both sockets. */
void tls_link_free(struct tls_link *link);

/* Has the link's sockets watched by this epoll, with `mark` as their data. false: the system refuses. */
bool tls_link_watch(struct tls_link *link, int watcher, void *mark);

enum tls_link_state tls_link_run(struct tls_link *link, const struct tls_link_means *means);

/* Whether it holds bytes, in either direction. For any thread. */
bool tls_link_busy(const struct tls_link *link);

#endif
