/* Proxies that the operator trusts to name their clients in X-Forwarded-For. */
#ifndef SERVER_CONFIG_PROXIES_H
#define SERVER_CONFIG_PROXIES_H

#include "server/config/address.h"

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>

#define PROXIES_MAX 64

struct settings_list;

struct proxies {
    size_t count;
    struct network networks[PROXIES_MAX];
};

/* Reads networks, commas between them; false when one is none, or there are too many. */
bool proxies_read(struct proxies *proxies, const char *text);

bool proxies_trust(const struct proxies *proxies, const struct address *address);

/* The client that a request by way of `peer`, a trusted proxy, is for: the last address of X-Forwarded-For that is not
 * a trusted proxy itself; the first one when all are; `peer` when there is none. What stands before an entry that is no
 * address may have been sent by anyone, and is not looked at. */
struct address proxies_find_client(const struct proxies *proxies, struct MHD_Connection *connection,
                                   const struct address *peer);

#endif
