/* Clients by address: a hash table of those that are connected, or whose bucket of requests is not full yet. */
#include "server/listen/client_limits.h"

#include "server/config/address.h"
#include "server/watch/clock.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define SLOTS ((size_t)1 << 16)
#define SWEPT 4 /* slots that are looked through for each client that is new: all of them in SLOTS / SWEPT */
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
    uint64_t seed[2]; /* unknown to clients: nobody can choose addresses that meet in one slot */
    size_t count, swept;
    struct client rest; /* all clients together that find no room */
    struct client *slots[SLOTS];
};

static void seed_hash(struct client_limits *clients)
{
    if (getrandom(clients->seed, sizeof clients->seed, GRND_NONBLOCK) == (ssize_t)sizeof clients->seed)
        return;
    clients->seed[0] = (uint64_t)clock_now();
    clients->seed[1] = (uint64_t)(uintptr_t)clients;
}

struct client_limits *client_limits_new(double rate, size_t burst)
{
    struct client_limits *clients = calloc(1, sizeof *clients);
    if (!clients)
        return NULL;
    clients->rate = rate;
    clients->burst = (double)burst;
    clients->rest.tokens = clients->burst;
    clients->rest.refilled = clock_now();
    seed_hash(clients);
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

/* The finaliser of MurmurHash3: every bit of the result depends on every bit of `x`. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ x >> 33;
}

static struct client **find_slot(struct client_limits *clients, const struct client *wanted)
{
    uint64_t key = 0;
    memcpy(&key, wanted->key, sizeof key);
    return &clients->slots[mix(mix(key ^ clients->seed[0]) + clients->seed[1] + wanted->v6) % SLOTS];
}

static void refill(const struct client_limits *clients, struct client *client, int64_t now)
{
    double seconds = (double)(now - client->refilled) / (double)CLOCK_SECOND;
    client->tokens += seconds * clients->rate;
    if (client->tokens > clients->burst)
        client->tokens = clients->burst;
    client->refilled = now;
}

/* Forgets those of a slot that are gone and could send a full burst again: nothing is lost with them. */
static void sweep_slot(struct client_limits *clients, struct client **at, int64_t now)
{
    while (*at) {
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
    for (size_t i = 0; i < SWEPT; i++)
        sweep_slot(clients, &clients->slots[clients->swept++ % SLOTS], now);
    struct client *client = clients->count < CLIENT_LIMITS_MAX ? malloc(sizeof *client) : NULL;
    if (!client)
        return &clients->rest;
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
    client->connections++;
    return client;
}

void client_limits_close(struct client_limits *clients, struct client *client)
{
    if (!client || --client->connections > 0 || clients->rate > 0 || client == &clients->rest)
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
