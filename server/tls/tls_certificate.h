/* Certificate and key for HTTPS, in GnuTLS's hands. Sessions hold the pair that they began with; who reads it again
 * makes a new one. */
#ifndef SERVER_TLS_TLS_CERTIFICATE_H
#define SERVER_TLS_TLS_CERTIFICATE_H

#include "server/config/settings.h"

#include <gnutls/gnutls.h>
#include <stdbool.h>
#include <stddef.h>

struct tls_certificate;

/* Whether connections are by TLS. */
bool tls_certificate_wanted(const struct settings *settings);

/* Reads the two files that the settings name. NULL: `why` says what is wrong. */
struct tls_certificate *tls_certificate_load(const struct settings *settings, char *why, size_t size);

struct tls_certificate *tls_certificate_hold(struct tls_certificate *certificate); /* returns it */
void tls_certificate_release(struct tls_certificate *certificate);                 /* NULL is fine */

/* Lets a session of a server show it; the session must hold it. false: no memory. */
bool tls_certificate_show(const struct tls_certificate *certificate, gnutls_session_t session);

#endif
