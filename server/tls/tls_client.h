/* One request by TLS, as a client: for asking oneself. */
#ifndef SERVER_TLS_TLS_CLIENT_H
#define SERVER_TLS_TLS_CLIENT_H

#include <stddef.h>

/* On a connected socket: sends the request, reads up to `size` bytes of the reply; how many, or -1. Who is on the other
 * side is not verified. */
ptrdiff_t tls_client_ask(int descriptor, const char *request, char *reply, size_t size);

#endif
