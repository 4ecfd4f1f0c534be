/* What single clients may do: how many connections, how many requests a second. A client is an address; of IPv6 the
 * first 64 bits, which is what one customer gets. Belongs to the event thread. */
#ifndef SERVER_LISTEN_CLIENT_LIMITS_H
#define SERVER_LISTEN_CLIENT_LIMITS_H

#include <stddef.h>
#include <stdint.h>

struct address;

#define CLIENT_LIMITS_MAX ((size_t)256 * 1024) /* clients that are told apart */

struct client;
struct client_limits;

/* rate 0: any number of requests. */
struct client_limits *client_limits_new(double rate, size_t burst); /* NULL: no memory */
void client_limits_free(struct client_limits *clients);

/* A connection from `address` opens, or a request that a proxy passes on; NULL when it is none of IP (a Unix socket):
 * no limits then. Those past CLIENT_LIMITS_MAX, or past the memory, count as one client together. */
struct client *client_limits_open(struct client_limits *clients, const struct address *address);
void client_limits_close(struct client_limits *clients, struct client *client);

size_t client_limits_connections(const struct client *client);

/* Counts a request at `now`: 0, or the seconds after which the next one will be taken. */
double client_limits_delay(struct client_limits *clients, struct client *client, int64_t now);

#endif
