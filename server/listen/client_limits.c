/* Clients by address: a hash table of those that are connected, or whose bucket of requests is not full yet. */
#include "server/listen/client_limits.h"

#include "server/config/address.h"
#include "server/watch/clock.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS 4096
#define CLIENT_LIMITS_MAX 65536 /* that are remembered without a connection */
#define KEY_BYTES 8

struct client {
    struct client *next; /* in the slot */
    unsigned char key[KEY_BYTES];
    bool v6;
    size_t connections;
    double tokens;
    int64_t refilled;
};

struct client_limits {
    double rate, burst;
    size_t count;
    struct client *slots[SLOTS];
};

struct client_limits *client_limits_new(double rate, size_t burst)
{
    struct client_limits *clients = calloc(1, sizeof *clients);
    if (!clients)
        return NULL;
    clients->rate = rate;
    clients->burst = (double)burst;
    return clients;
}

void client_limits_free(struct client_limits *clients)
{
    for (size_t i = 0; clients && i < SLOTS; i++)
        while (clients->slots[i]) {
            struct client *next = clients->slots[i]->next;
            free(clients->slots[i]);
            clients->slots[i] = next;
        }
    free(clients);
}

static bool read_key(const struct address *address, struct client *client)
{
    client->v6 = address->family == ADDRESS_V6;
    memcpy(client->key, address->bytes, KEY_BYTES);
    return client->v6 || address->family == ADDRESS_V4;
}

static struct client **find_slot(struct client_limits *clients, const struct client *wanted)
{
    uint64_t sum = wanted->v6;
    for (size_t i = 0; i < KEY_BYTES; i++)
        sum = (sum ^ wanted->key[i]) * UINT64_C(0x100000001b3);
    return &clients->slots[(sum >> 20) % SLOTS];
}

static void refill(const struct client_limits *clients, struct client *client, int64_t now)
{
    double seconds = (double)(now - client->refilled) / (double)CLOCK_SECOND;
    client->tokens += seconds * clients->rate;
    if (client->tokens > clients->burst)
        client->tokens = clients->burst;
    client->refilled = now;
}

/* Forgets those that are gone and could send a full burst again: nothing is lost with them. */
static void sweep(struct client_limits *clients, int64_t now)
{
    for (size_t i = 0; i < SLOTS; i++)
        for (struct client **at = &clients->slots[i]; *at;) {
            struct client *client = *at;
            refill(clients, client, now);
            if (client->connections > 0 || (clients->rate > 0 && client->tokens < clients->burst)) {
                at = &client->next;
                continue;
            }
            *at = client->next;
            free(client);
            clients->count--;
        }
}

static struct client *add_client(struct client_limits *clients, const struct client *wanted)
{
    int64_t now = clock_now();
    if (clients->count >= CLIENT_LIMITS_MAX && clients->count % 1024 == 0)
        sweep(clients, now);
    struct client *client = clients->count < 4 * CLIENT_LIMITS_MAX ? malloc(sizeof *client) : NULL;
    if (!client)
        return NULL;
    struct client **slot = find_slot(clients, wanted);
    *client = *wanted;
    client->tokens = clients->burst;
    client->refilled = now;
    client->next = *slot;
    *slot = client;
    clients->count++;
    return client;
}

struct client *client_limits_open(struct client_limits *clients, const struct address *address)
{
    struct client wanted = {0};
    if (!read_key(address, &wanted))
        return NULL;
    struct client *client = *find_slot(clients, &wanted);
    while (client && (client->v6 != wanted.v6 || memcmp(client->key, wanted.key, KEY_BYTES) != 0))
        client = client->next;
    if (!client)
        client = add_client(clients, &wanted);
    if (client)
        client->connections++;
    return client;
}

void client_limits_close(struct client_limits *clients, struct client *client)
{
    if (!client || --client->connections > 0 || clients->rate > 0)
        return;
    struct client **at = find_slot(clients, client);
    while (*at != client)
        at = &(*at)->next;
    *at = client->next;
    free(client);
    clients->count--;
}

size_t client_limits_connections(const struct client *client)
{
    return client ? client->connections : 0;
}

double client_limits_delay(struct client_limits *clients, struct client *client, int64_t now)
{
    if (!client || clients->rate <= 0)
        return 0;
    refill(clients, client, now);
    if (client->tokens >= 1) {
        client->tokens -= 1;
        return 0;
    }
    return (1 - client->tokens) / clients->rate;
}
