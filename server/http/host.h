/* The field Host (RFC 9110 section 7.2). */
#ifndef SERVER_HTTP_HOST_H
#define SERVER_HTTP_HOST_H

#include <stdbool.h>

/* Whether it is a name or an address, perhaps with a port up to 65535 ("[::1]:8080"), or empty: what a URI may have
 * between its slashes (RFC 3986 section 3.2.2), without a user. */
bool host_is_valid(const char *host);

#endif
