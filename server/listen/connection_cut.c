/* What a connection is told from outside. */
#include "server/listen/connection_cut.h"

#include "server/listen/raw_refusal.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

/* libmicrohttpd writes nothing while it reads a request, so this is the place of the reply. */
static void tell(struct connection *connection, enum connection_state state, const struct problem *problem)
{
    char id[REQUEST_ID_SIZE];
    struct raw_refusal of = {.id = id, .method = METHOD_OTHER};
    if (!problem || connection->inner < 0)
        return;
    request_id_set(id, NULL);
    if (state == CONNECTION_BODY)
        of = connection->of;
    if (raw_refusal_send(connection->inner, connections_settings(connection->table), problem, &of))
        atomic_store(&connection->told, (int)problem->code);
}

void connection_cut_refuse(struct connection *connection, const struct problem *problem)
{
    uint64_t wait = atomic_load(&connection->wait);
    if (connections_state(wait) != CONNECTION_BODY ||
        !atomic_compare_exchange_strong(&connection->wait, &wait, connections_with_state(wait, CONNECTION_TOLD)))
        return;
    tell(connection, CONNECTION_BODY, problem);
    if (connection_cut_told(connection) != PROBLEM_NONE)
        shutdown(connection->inner, SHUT_WR);
}

/* Once it is cut, the event thread leaves what `tell` reads alone. By TLS the last words pass through the relay, unless
 * the client takes none. */
void connection_cut_now(struct connection *connection, uint64_t wait, const struct problem *problem)
{
    enum connection_state state = connections_state(wait);
    if (!atomic_compare_exchange_strong(&connection->wait, &wait, (uint64_t)CONNECTION_CUT))
        return;
    tell(connection, state, problem);
    if (connection->inner >= 0)
        shutdown(connection->inner, SHUT_RDWR);
    if (connection->inner < 0 || state == CONNECTION_REPLY)
        shutdown(connection->outer, SHUT_RDWR);
}

bool connection_cut_spoken(struct connection *connection)
{
    struct tcp_info info = {0};
    socklen_t size = sizeof info;
    if (!connection->spoken)
        connection->spoken =
            getsockopt(connection->outer, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 || info.tcpi_bytes_received > 0;
    return connection->spoken;
}

enum problem_code connection_cut_told(const struct connection *connection)
{
    return (enum problem_code)atomic_load(&connection->told);
}
