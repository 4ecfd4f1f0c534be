/* Origins (RFC 6454): where a page comes from. */
#ifndef SERVER_CONFIG_ORIGIN_H
#define SERVER_CONFIG_ORIGIN_H

#include <stdbool.h>

/* Whether `value` lists, with commas between, what a browser can send as Origin ("https://example.org:8443", "null": no
 * path, not even a slash), or "*". */
bool origin_read(const char *value);

#endif
