/* Certificate and key for HTTPS, as libmicrohttpd wants them. */
#ifndef SERVER_TLS_H
#define SERVER_TLS_H

#include "server/settings.h"

#include <stdbool.h>
#include <stddef.h>

/* TLS 1.2 and 1.3, in GnuTLS's words. */
#define TLS_PRIORITIES "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:%SERVER_PRECEDENCE"

/* PEM texts; NULL without TLS. */
struct tls {
    char *certificate, *key;
};

/* Reads what the settings name; both or none must be named. false: `why` says what is wrong. */
bool tls_load(struct tls *tls, const struct settings *settings, char *why, size_t size);
void tls_free(struct tls *tls); /* and forgets the key */

/* Whether replies go out by TLS. */
bool tls_is_on(const struct settings *settings);

#endif
