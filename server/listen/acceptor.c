/* Accepting. */
#include "server/listen/acceptor.h"

#include "server/listen/connection_cut.h"
#include "server/listen/connections.h"
#include "server/watch/clock.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#define BATCH 64 /* accepted before the caller looks at other things */
#define PATIENCE CLOCK_SECOND

static size_t find_room(const struct connections *connections, bool side)
{
    const struct connections_room *room = connections_room(connections);
    return side ? room->side : room->usual + room->reserve;
}

static bool is_leaving(const struct connection *connection)
{
    enum connection_state state = connections_state(atomic_load(&connection->wait));
    return state == CONNECTION_CUT || state == CONNECTION_END;
}

static size_t count_staying(const struct connections *connections, bool side)
{
    size_t count = 0;
    for (const struct connection *one = connections_oldest(connections); one; one = one->previous)
        count += one->side == side && !is_leaving(one);
    return count;
}

/* A connection that has not asked for anything yet, or one past the limit, which is not to hold its place for long. */
static bool may_go(const struct connection *connection, enum connection_state state)
{
    bool plain_unstarted = !connection->started && !connection->tls;
    if (plain_unstarted)
        return false;
    if (state == CONNECTION_HEAD && !atomic_load(&connection->asked))
        return true;
    bool excess = connection->side || connection->excess == PROBLEM_CONNECTIONS;
    return excess && (state == CONNECTION_IDLE || state == CONNECTION_HEAD || state == CONNECTION_BODY);
}

static bool is_silent(struct connection *connection)
{
    return !atomic_load(&connection->asked) && (connection->inner < 0 || !connection_cut_spoken(connection));
}

/* The oldest that has been silent for a while, else the oldest that may go; NULL: none. Those that came just now are
 * the youngest of the list, and not worth telling apart. */
static struct connection *find_victim(const struct connections *connections, bool side)
{
    struct connection *second = NULL;
    int64_t since = clock_now() - PATIENCE;
    for (struct connection *one = connections_oldest(connections); one; one = one->previous) {
        if (one->side != side || !may_go(one, connections_state(atomic_load(&one->wait))))
            continue;
        if (one->opened > since)
            return second ? second : one;
        if (is_silent(one))
            return one;
        if (!second && (side || one->excess == PROBLEM_CONNECTIONS))
            second = one;
    }
    return second;
}

/* The connection gives its place to another. One that has sent nothing may have a request on its way: it is told, too.
 */
static void cut_victim(struct connection *victim)
{
    struct problem refusal = {.code = PROBLEM_NONE};
    uint64_t wait = atomic_load(&victim->wait);
    enum connection_state state = connections_state(wait);
    problem_set(&refusal, PROBLEM_CONNECTIONS, "More than %zu connections are open.",
                connections_room(victim->table)->usual);
    connection_cut_now(victim, wait, state == CONNECTION_IDLE ? NULL : &refusal);
}

static bool has_room(struct connections *connections, bool side)
{
    connections_lock(connections);
    bool has = connections_count(connections, side) < find_room(connections, side);
    connections_unlock(connections);
    return has;
}

/* Makes a place free where all are taken; whether there is one now. */
static bool make_room(struct connections *connections, bool side)
{
    size_t room = find_room(connections, side);
    connections_lock(connections);
    bool full = count_staying(connections, side) >= room;
    struct connection *victim = full ? find_victim(connections, side) : NULL;
    if (victim)
        cut_victim(victim);
    bool has = (!full || victim) && connections_count(connections, side) < room + connections_room(connections)->slack;
    connections_unlock(connections);
    return has;
}

static bool open_inner(void *context, int descriptor)
{
    const struct sockaddr address = {.sa_family = AF_UNIX};
    return connections_hand_over(context, descriptor, &address, sizeof address.sa_family);
}

static void end_connection(void *context)
{
    connections_leave(context);
}

struct tls_relay_events acceptor_events(void)
{
    return (struct tls_relay_events){.open = open_inner, .end = end_connection};
}

static void begin_tls(const struct acceptor *acceptor, struct connection *connection, int descriptor)
{
    struct tls_relayed *relayed = tls_relay_prepare(descriptor, connection);
    connection->tls = relayed;
    if (relayed && tls_relay_begin(acceptor->relay, relayed))
        return;
    connections_remove(connection);
    if (!relayed)
        close(descriptor);
}

static void begin(const struct acceptor *acceptor, int descriptor, const struct sockaddr *address, socklen_t size)
{
    struct connection *connection = connections_add(acceptor->connections, descriptor, address, acceptor->side);
    if (!connection)
        close(descriptor);
    else if (acceptor->relay)
        begin_tls(acceptor, connection, descriptor);
    else if (!connections_hand_over(connection, descriptor, address, size))
        connections_remove(connection);
}

static bool is_waiting(const struct listener *listener)
{
    return poll(&(struct pollfd){.fd = listener->descriptor, .events = POLLIN}, 1, 0) > 0;
}

static bool is_over(int reason)
{
    return reason != EINTR && reason != ECONNABORTED && reason != EPROTO && reason != EPERM;
}

bool acceptor_run(struct acceptor *acceptor)
{
    for (size_t i = 0; i < BATCH; i++) {
        struct sockaddr_storage address = {0};
        socklen_t size = sizeof address;
        if (!has_room(acceptor->connections, acceptor->side) && is_waiting(&acceptor->listener) &&
            !make_room(acceptor->connections, acceptor->side))
            return false;
        int descriptor =
            accept4(acceptor->listener.descriptor, (struct sockaddr *)&address, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (descriptor >= 0)
            begin(acceptor, descriptor, (struct sockaddr *)&address, size);
        else if (is_over(errno))
            return errno == EAGAIN || errno == EWOULDBLOCK;
    }
    return true;
}
