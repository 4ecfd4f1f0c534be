/* Silence at the end. */
#include "server/listen/silence.h"

#include "server/listen/connections.h"
#include "server/tls/tls_relay.h"
#include "server/watch/clock.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>

static bool has_bytes(int descriptor, unsigned long which)
{
    int bytes = 0;
    return descriptor >= 0 && ioctl(descriptor, which, &bytes) == 0 && bytes > 0;
}

struct traffic {
    bool up, down; /* bytes are on their way from the client, to the client */
};

/* In the order in which bytes pass from socket to relay to socket, so that none is overlooked on its way. */
static struct traffic find_traffic(const struct connection *connection)
{
    struct traffic traffic = {.up = has_bytes(connection->outer, FIONREAD)};
    if (connection->tls) {
        traffic.down = has_bytes(connection->inner, SIOCOUTQ);
        bool busy = tls_relay_busy(connection->tls);
        traffic.down = traffic.down || busy;
        traffic.up = traffic.up || busy || has_bytes(connection->inner, FIONREAD);
    }
    traffic.down = traffic.down || has_bytes(connection->outer, SIOCOUTQ);
    return traffic;
}

/* A reply that was written may still be on its way to a slow reader: the connection is idle once it has arrived. */
static bool is_silent(struct connection *connection, int64_t since)
{
    enum connection_state state = connections_state(atomic_load(&connection->wait));
    bool idle = state == CONNECTION_IDLE || state == CONNECTION_END;
    if (state == CONNECTION_CUT)
        return true;
    if (!idle && state != CONNECTION_HEAD)
        return false;
    struct traffic traffic = find_traffic(connection);
    if (idle && traffic.down)
        atomic_store(&connection->moved, clock_now());
    return !traffic.up && atomic_load(&connection->moved) <= since;
}

bool silence_since(struct connections *connections, int64_t since)
{
    bool silent = true;
    connections_lock(connections);
    for (struct connection *one = connections_youngest(connections); one; one = one->next)
        silent = is_silent(one, since) && silent;
    connections_unlock(connections);
    return silent;
}
