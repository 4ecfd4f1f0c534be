/* Open connections. */
#include "server/listen/connections.h"

#include "server/config/settings.h"
#include "server/listen/client_limits.h"
#include "server/watch/clock.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STATE_BITS 3  /* of a wait; the deadline is above them */
#define END_SECONDS 2 /* to take what is left of the last reply, by TLS */
#define MILLISECOND 1000000

struct connections {
    const struct settings *settings;
    struct connections_room room;
    struct client_limits *clients; /* the event thread's */
    struct MHD_Daemon *daemon;
    pthread_mutex_t mutex;
    struct connection *first, *last;
    size_t open, side;
    atomic_size_t suspended; /* that someone has still to resume */
    atomic_bool stopping;
};

static uint64_t pack_wait(enum connection_state state, int64_t deadline)
{
    return (uint64_t)(deadline / MILLISECOND) << STATE_BITS | (uint64_t)state;
}

enum connection_state connections_state(uint64_t wait)
{
    return (enum connection_state)(wait & ((1u << STATE_BITS) - 1));
}

uint64_t connections_deadline(uint64_t wait)
{
    return wait >> STATE_BITS;
}

uint64_t connections_with_state(uint64_t wait, enum connection_state state)
{
    return connections_deadline(wait) << STATE_BITS | (uint64_t)state;
}

size_t connections_all(const struct connections_room *room)
{
    return room->usual + room->reserve + room->side + 2 * room->slack;
}

static size_t limit(size_t value, size_t least, size_t most)
{
    return value < least ? least : value > most ? most : value;
}

bool connections_find_room(struct connections_room *room, size_t usual, size_t places)
{
    *room = (struct connections_room){.usual = usual,
                                      .reserve = limit(places / 4, 4, 256),
                                      .side = limit(places / 16, 4, 64),
                                      .slack = limit(places / 16, 2, 64)};
    size_t rest = connections_all(room) - usual;
    if (places <= rest)
        return false;
    room->usual = limit(usual, 1, places - rest);
    return true;
}

struct connections *connections_new(const struct settings *settings, struct client_limits *clients,
                                    const struct connections_room *room)
{
    struct connections *connections = calloc(1, sizeof *connections);
    if (!connections)
        return NULL;
    connections->settings = settings;
    connections->room = *room;
    connections->clients = clients;
    pthread_mutex_init(&connections->mutex, NULL);
    return connections;
}

void connections_free(struct connections *connections)
{
    if (!connections)
        return;
    pthread_mutex_destroy(&connections->mutex);
    free(connections);
}

void connections_serve(struct connections *connections, struct MHD_Daemon *daemon)
{
    connections->daemon = daemon;
}

static void list(struct connections *connections, struct connection *connection)
{
    connections_lock(connections);
    connection->next = connections->first;
    if (connections->first)
        connections->first->previous = connection;
    else
        connections->last = connection;
    connections->first = connection;
    connections->open++;
    connections->side += connection->side;
    if (!connection->side && connections->open - connections->side > connections->room.usual)
        connection->excess = PROBLEM_CONNECTIONS;
    connections_unlock(connections);
}

/* Under the lock. */
static void unlist(struct connection *connection)
{
    struct connections *connections = connection->table;
    if (connection->previous)
        connection->previous->next = connection->next;
    else
        connections->first = connection->next;
    if (connection->next)
        connection->next->previous = connection->previous;
    else
        connections->last = connection->previous;
    connections->open--;
    connections->side -= connection->side;
}

struct connection *connections_add(struct connections *connections, int descriptor, const struct sockaddr *address,
                                   bool side)
{
    struct connection *connection = calloc(1, sizeof *connection);
    if (!connection)
        return NULL;
    int64_t now = clock_now();
    int64_t deadline = now + clock_from_seconds(connections->settings->header_timeout);
    connection->table = connections;
    connection->outer = descriptor;
    connection->inner = -1;
    connection->side = side;
    connection->opened = now;
    connection->address = address_of(address);
    address_print(&connection->address, connection->name);
    atomic_store(&connection->wait, pack_wait(CONNECTION_HEAD, deadline));
    atomic_store(&connection->moved, now);
    list(connections, connection);
    return connection;
}

/* The lock is held until the socket is libmicrohttpd's, so that connections_stop comes before or after it. */
bool connections_hand_over(struct connection *connection, int descriptor, const struct sockaddr *address,
                           socklen_t size)
{
    struct connections *connections = connection->table;
    connections_lock(connections);
    bool stopping = atomic_load(&connections->stopping);
    connection->inner = descriptor;
    bool taken = !stopping && MHD_add_connection(connections->daemon, descriptor, address, size) == MHD_YES;
    if (!taken)
        connection->inner = -1;
    connections_unlock(connections);
    if (stopping)
        close(descriptor);
    return taken;
}

/* libmicrohttpd may still have it: then it goes when that is done. */
void connections_leave(struct connection *connection)
{
    struct connections *connections = connection->table;
    connections_lock(connections);
    bool last = connection->inner < 0;
    connection->tls = NULL;
    connection->outer = -1;
    if (last)
        unlist(connection);
    connections_unlock(connections);
    if (last)
        free(connection);
}

void connections_remove(struct connection *connection)
{
    struct connections *connections = connection->table;
    connections_lock(connections);
    unlist(connection);
    connections_unlock(connections);
    free(connection);
}

/* A socket that libmicrohttpd closed before it started serving it may have left another connection of that number
 * behind: the youngest is meant. */
static struct connection *find_handed_over(struct connections *connections, int descriptor)
{
    struct connection *found = connections->first;
    while (found && (found->started || found->inner != descriptor))
        found = found->next;
    return found;
}

static void limit_client(struct connections *connections, struct connection *connection)
{
    size_t limit = connections->settings->max_client_connections;
    connection->client = client_limits_open(connections->clients, &connection->address);
    if (limit > 0 && client_limits_connections(connection->client) > limit && connection->excess == PROBLEM_NONE)
        connection->excess = PROBLEM_CLIENT_CONNECTIONS;
}

static struct connection *start(struct connections *connections, int descriptor)
{
    connections_lock(connections);
    struct connection *connection = find_handed_over(connections, descriptor);
    if (connection)
        connection->started = true;
    connections_unlock(connections);
    if (connection)
        limit_client(connections, connection);
    return connection;
}

/* What the relay still holds goes on to the client. */
static void leave_to_relay(struct connection *connection)
{
    int64_t now = clock_now();
    connection->inner = -1;
    atomic_store(&connection->moved, now);
    atomic_store(&connection->wait, pack_wait(CONNECTION_END, now + END_SECONDS * CLOCK_SECOND));
}

static void finish(struct connections *connections, struct connection *connection)
{
    client_limits_close(connections->clients, connection->client);
    connections_lock(connections);
    bool relayed = connection->tls != NULL;
    if (relayed)
        leave_to_relay(connection);
    else
        unlist(connection);
    connections_unlock(connections);
    if (!relayed)
        free(connection);
}

void connections_notice(void *context, struct MHD_Connection *connection, void **socket_context,
                        enum MHD_ConnectionNotificationCode code)
{
    if (code == MHD_CONNECTION_NOTIFY_STARTED)
        *socket_context =
            start(context, MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd);
    else if (*socket_context)
        finish(context, *socket_context);
}

struct connection *connections_find(struct MHD_Connection *connection)
{
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

bool connections_move(struct connection *connection, enum connection_state state, int64_t deadline)
{
    uint64_t before = atomic_load_explicit(&connection->wait, memory_order_relaxed);
    atomic_store_explicit(&connection->asked, true, memory_order_relaxed);
    if (state == CONNECTION_IDLE || state == CONNECTION_HEAD)
        atomic_store_explicit(&connection->moved, clock_now(), memory_order_relaxed);
    do {
        if (connections_state(before) == CONNECTION_CUT)
            return false;
    } while (!atomic_compare_exchange_weak(&connection->wait, &before, pack_wait(state, deadline)));
    return true;
}

bool connections_move_to_body(struct connection *connection, int64_t deadline, const struct raw_refusal *of)
{
    bool known = of->origin && strlen(of->origin) < sizeof connection->origin;
    connection->of = *of;
    connection->of.id = strncpy(connection->id, of->id, sizeof connection->id - 1);
    connection->of.origin = known ? memcpy(connection->origin, of->origin, strlen(of->origin) + 1) : NULL;
    return connections_move(connection, CONNECTION_BODY, deadline);
}

void connections_attach(struct connections *connections, struct connection *connection, struct connection_wait wait)
{
    connections_lock(connections);
    connection->held = wait;
    connections_unlock(connections);
}

bool connections_suspend(struct connections *connections, struct MHD_Connection *connection)
{
    atomic_fetch_add(&connections->suspended, 1);
    if (atomic_load(&connections->stopping)) {
        atomic_fetch_sub(&connections->suspended, 1);
        return false;
    }
    MHD_suspend_connection(connection);
    return true;
}

void connections_resume(struct connections *connections, struct MHD_Connection *connection)
{
    MHD_resume_connection(connection);
    atomic_fetch_sub(&connections->suspended, 1);
}

size_t connections_stop(struct connections *connections)
{
    connections_lock(connections);
    atomic_store(&connections->stopping, true);
    connections_unlock(connections);
    return atomic_load(&connections->suspended);
}

size_t connections_open(struct connections *connections)
{
    connections_lock(connections);
    size_t open = connections->open;
    connections_unlock(connections);
    return open;
}

size_t connections_count(const struct connections *connections, bool side)
{
    return side ? connections->side : connections->open - connections->side;
}

const struct settings *connections_settings(const struct connections *connections)
{
    return connections->settings;
}

const struct connections_room *connections_room(const struct connections *connections)
{
    return &connections->room;
}

void connections_lock(struct connections *connections)
{
    pthread_mutex_lock(&connections->mutex);
}

void connections_unlock(struct connections *connections)
{
    pthread_mutex_unlock(&connections->mutex);
}

struct connection *connections_oldest(const struct connections *connections)
{
    return connections->last;
}

struct connection *connections_youngest(const struct connections *connections)
{
    return connections->first;
}
