/* Certificate and key for HTTPS, in GnuTLS's hands; they can be exchanged while connections are open. There is one pair
 * in the process, for GnuTLS tells its callback nothing of who asks. */
#ifndef SERVER_LISTEN_TLS_H
#define SERVER_LISTEN_TLS_H

#include "server/config/settings.h"

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>

#define TLS_OPTIONS 3 /* that tls_set_options writes at most */

/* Whether replies go out by TLS. */
bool tls_is_on(const struct settings *settings);

/* Reads what the settings name, both or none, and serves new connections with it. false: `why` says what is wrong, and
 * the pair that was there before stays. */
bool tls_load(const struct settings *settings, char *why, size_t size);

/* After the last connection: forgets the pair. */
void tls_unload(void);

/* What MHD_start_daemon has to know, MHD_OPTION_END included: TLS 1.2 and 1.3, the pair of the last tls_load. */
void tls_set_options(const struct settings *settings, struct MHD_OptionItem list[TLS_OPTIONS]);

/* As a client on a connected socket: sends the request, reads up to `size` bytes of the reply; how many, or -1. Who is
 * on the other side is not verified: this is for asking oneself. */
ptrdiff_t tls_ask(int descriptor, const char *request, char *reply, size_t size);

#endif
