/* The thread that speaks TLS. Handshakes and encryption are done here, so that libmicrohttpd, whose event thread spins
 * while a handshake is unfinished (0.9.75 to 1.0.10), sees plain bytes only, and a connection only once there are any.
 */
#ifndef SERVER_TLS_TLS_RELAY_H
#define SERVER_TLS_TLS_RELAY_H

#include <stdbool.h>

struct tls_certificate;
struct tls_relay;

/* One connection in its hands. */
struct tls_relayed;

/* What happens to a connection; both are called by the relay's thread. */
struct tls_relay_events {
    bool (*open)(void *connection, int descriptor); /* its plain bytes are there: it takes this socket over */
    void (*end)(void *connection);                  /* it is over; after this the socket of the client is closed */
};

/* Shows the certificate, which it takes over, to whoever connects. NULL: the system refuses; the certificate is
 * released. */
struct tls_relay *tls_relay_start(struct tls_certificate *certificate, struct tls_relay_events events);

/* Ends what is left within a second or two; when nothing is added any more, and libmicrohttpd has stopped. NULL is
 * fine. */
void tls_relay_stop(struct tls_relay *relay);

/* From now on new connections are shown this one; takes it over. */
void tls_relay_show(struct tls_relay *relay, struct tls_certificate *certificate);

/* Prepares a connection by this non-blocking socket; NULL: no memory, and the socket is still the caller's. */
struct tls_relayed *tls_relay_prepare(int descriptor, void *connection);

/* Serves it from now on. false: the system refuses; it is freed, and the socket closed. */
bool tls_relay_begin(struct tls_relay *relay, struct tls_relayed *relayed);

/* Whether it holds bytes, in either direction. For any thread, before its end. */
bool tls_relay_busy(const struct tls_relayed *relayed);

#endif
