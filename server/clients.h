/* What single clients may do: how many connections, how many requests a second. A client is an address; of IPv6 the
 * first 64 bits, which is what one customer gets. Belongs to the event thread. */
#ifndef SERVER_CLIENTS_H
#define SERVER_CLIENTS_H

#include <stddef.h>
#include <stdint.h>

struct address;

struct client;
struct clients;

/* rate 0: any number of requests. */
struct clients *clients_new(double rate, size_t burst); /* NULL: no memory */
void clients_free(struct clients *clients);

/* A connection from `address` opens, or a request that a proxy passes on; NULL when it is none of IP (a Unix socket) or
 * there is no memory: no limits then. */
struct client *clients_open(struct clients *clients, const struct address *address);
void clients_close(struct clients *clients, struct client *client);

size_t clients_connections(const struct client *client);

/* Counts a request at `now`: 0, or the seconds after which the next one will be taken. */
double clients_delay(struct clients *clients, struct client *client, int64_t now);

#endif
