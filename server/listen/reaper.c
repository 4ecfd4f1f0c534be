/* Ending what takes too long. */
#include "server/listen/reaper.h"

#include "server/listen/connection_cut.h"
#include "server/listen/connections.h"
#include "server/watch/clock.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#define ABANDONED_MAX 64 /* waits given up in one go */
#define GONE_MILLISECONDS 200

static bool has_hung_up(int descriptor)
{
    struct pollfd poller = {.fd = descriptor, .events = POLLRDHUP};
    return poll(&poller, 1, 0) > 0;
}

static bool has_unread(int descriptor)
{
    int unread = 0;
    return ioctl(descriptor, FIONREAD, &unread) == 0 && unread > 0;
}

struct given_up {
    size_t count;
    struct {
        struct connection_wait held;
        enum problem_code reason;
    } pieces[ABANDONED_MAX];
};

static void give_up(struct given_up *list, const struct connection *connection, enum problem_code reason)
{
    if (list->count == ABANDONED_MAX)
        return;
    connection->held.keep(connection->held.what);
    list->pieces[list->count].held = connection->held;
    list->pieces[list->count++].reason = reason;
}

/* Resuming takes libmicrohttpd's locks, so it is done without ours. */
static void abandon_all(const struct given_up *list)
{
    for (size_t i = 0; i < list->count; i++)
        list->pieces[i].held.abandon(list->pieces[i].held.what, list->pieces[i].reason);
}

/* A browser opens connections ahead of need: one that never sent a byte is closed without a word. */
static void cut_late(struct connection *connection, uint64_t wait)
{
    static const struct problem timeout = {.code = PROBLEM_TIMEOUT,
                                           .detail = "The rest of the request took too long to arrive."};
    enum connection_state state = connections_state(wait);
    bool told = state == CONNECTION_BODY || (state == CONNECTION_HEAD && connection_cut_spoken(connection));
    if (state != CONNECTION_WORK)
        connection_cut_now(connection, wait, told ? &timeout : NULL);
}

/* libmicrohttpd 0.9.75 may not notice the end of a connection before it writes to it. What it has read of the request
 * but not looked at yet gets its time: whoever sends a request and shuts its side down wants an answer. */
static void cut_gone(struct connection *connection, uint64_t wait, uint64_t now)
{
    static const struct problem cut_short = {.code = PROBLEM_BAD_REQUEST,
                                             .detail = "The body ended before its announced length."};
    enum connection_state state = connections_state(wait);
    if (connection->gone == 0)
        connection->gone = now;
    if (now - connection->gone >= GONE_MILLISECONDS && state != CONNECTION_WORK && state != CONNECTION_REPLY &&
        !has_unread(connection->inner))
        connection_cut_now(connection, wait, state == CONNECTION_BODY ? &cut_short : NULL);
}

static void check(struct connection *connection, uint64_t now, struct given_up *list)
{
    uint64_t wait = atomic_load(&connection->wait);
    bool late = connections_deadline(wait) < now;
    if (connections_state(wait) == CONNECTION_CUT)
        return;
    bool gone = !late && connection->started && connection->inner >= 0 && has_hung_up(connection->inner);
    if (connection->held.what && (late || gone))
        give_up(list, connection, late ? PROBLEM_DEADLINE : PROBLEM_NONE);
    else if (late)
        cut_late(connection, wait);
    else if (gone)
        cut_gone(connection, wait, now);
}

/* A plain socket that libmicrohttpd closed before it served it, for want of memory: it says nothing of that. */
static bool is_lost(const struct connection *connection, uint64_t now)
{
    return !connection->started && !connection->tls && connections_deadline(atomic_load(&connection->wait)) < now;
}

void reaper_run(struct connections *connections)
{
    struct given_up list = {0};
    struct connection *lost = NULL;
    uint64_t now = (uint64_t)(clock_now() / (CLOCK_SECOND / 1000));
    connections_lock(connections);
    for (struct connection *one = connections_youngest(connections); one; one = one->next)
        if (is_lost(one, now))
            lost = one;
        else
            check(one, now, &list);
    connections_unlock(connections);
    if (lost)
        connections_remove(lost);
    abandon_all(&list);
}

size_t reaper_stop(struct connections *connections)
{
    struct given_up list = {0};
    connections_stop(connections);
    connections_lock(connections);
    for (struct connection *one = connections_youngest(connections); one; one = one->next)
        if (one->held.what)
            give_up(&list, one, PROBLEM_DRAINING);
    connections_unlock(connections);
    abandon_all(&list);
    return connections_stop(connections);
}
