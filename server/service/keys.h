/* The keys that clients must show, when the operator has given any. */
#ifndef SERVER_SERVICE_KEYS_H
#define SERVER_SERVICE_KEYS_H

#include <stdbool.h>
#include <stddef.h>

struct keys;

/* No keys yet; NULL: no memory. */
struct keys *keys_new(void);
void keys_free(struct keys *keys);

/* Takes the keys of a file (one a line, up to 255 visible ASCII characters; blank lines and those that begin with # are
 * passed over) in place of those before. false, and those before stay: `why` says what is wrong. */
bool keys_load(struct keys *keys, const char *path, char *why, size_t size);

/* Whether "Authorization: Bearer KEY" or "X-API-Key: KEY" (NULL: not sent) shows one of them; true when there are none.
 * The time it takes tells nothing about the keys but how many there are. */
bool keys_check(struct keys *keys, const char *authorization, const char *api_key);

#endif
