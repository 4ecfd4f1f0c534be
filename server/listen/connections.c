/* Open connections and their deadlines. */
#include "server/listen/connections.h"

#include "server/config/listen_address.h"
#include "server/config/settings.h"
#include "server/http/request_id.h"
#include "server/listen/client_limits.h"
#include "server/listen/tls.h"
#include "server/watch/clock.h"

#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#define ORIGIN_SIZE 128
#define ABANDONED_MAX 64 /* waits given up in one go */
#define GONE_MILLISECONDS 200
#define STATE_BITS 3 /* the deadline, in ms, is above them: both change in one step */

struct entry {
    struct connection peer; /* first: a peer is its entry */
    struct entry *previous, *next;
    struct connection_wait held;
    struct raw_refusal of; /* the request whose body is being read; its texts are below */
    char id[REQUEST_ID_SIZE];
    char origin[ORIGIN_SIZE];
    int descriptor;
    _Atomic uint64_t wait; /* state and deadline */
    _Atomic int64_t moved; /* when a request last began or ended */
    atomic_int told;       /* the problem that was sent from outside */
    uint64_t gone;         /* the reaper's: when it saw in milliseconds that the other side sends no more; 0: not yet */
};

struct connections {
    const struct settings *settings;
    struct client_limits *clients;
    int side;
    pthread_mutex_t mutex; /* the list, and that a listed descriptor is open */
    struct entry *first;
    size_t open;
    atomic_size_t suspended; /* that someone has still to resume */
    atomic_bool stopping;
};

static uint64_t pack_wait(enum connection_state state, int64_t deadline)
{
    return (uint64_t)(deadline / 1000000) << STATE_BITS | (uint64_t)state;
}

static enum connection_state find_state(uint64_t wait)
{
    return (enum connection_state)(wait & ((1u << STATE_BITS) - 1));
}

struct connections *connections_new(const struct settings *settings, struct client_limits *clients, int side)
{
    struct connections *peers = calloc(1, sizeof *peers);
    if (!peers)
        return NULL;
    peers->settings = settings;
    peers->clients = clients;
    peers->side = side;
    pthread_mutex_init(&peers->mutex, NULL);
    return peers;
}

void connections_free(struct connections *peers)
{
    if (!peers)
        return;
    pthread_mutex_destroy(&peers->mutex);
    free(peers);
}

static void add_entry(struct connections *peers, struct entry *entry)
{
    pthread_mutex_lock(&peers->mutex);
    entry->next = peers->first;
    if (peers->first)
        peers->first->previous = entry;
    peers->first = entry;
    if (++peers->open > peers->settings->max_connections)
        entry->peer.excess = PROBLEM_CONNECTIONS;
    pthread_mutex_unlock(&peers->mutex);
}

static void remove_entry(struct connections *peers, struct entry *entry)
{
    pthread_mutex_lock(&peers->mutex);
    if (entry->previous)
        entry->previous->next = entry->next;
    else
        peers->first = entry->next;
    if (entry->next)
        entry->next->previous = entry->previous;
    peers->open--;
    pthread_mutex_unlock(&peers->mutex);
    client_limits_close(peers->clients, entry->peer.client);
    free(entry);
}

static struct entry *open_entry(struct connections *peers, struct MHD_Connection *connection)
{
    struct entry *entry = calloc(1, sizeof *entry);
    if (!entry)
        return NULL;
    int64_t now = clock_now();
    entry->descriptor = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    atomic_store(&entry->wait, pack_wait(CONNECTION_HEAD, now + clock_from_seconds(peers->settings->header_timeout)));
    atomic_store(&entry->moved, now);
    entry->peer.address =
        address_of(MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr);
    address_print(&entry->peer.address, entry->peer.name);
    entry->peer.client = client_limits_open(peers->clients, &entry->peer.address);
    size_t limit = peers->settings->max_client_connections;
    if (limit > 0 && client_limits_connections(entry->peer.client) > limit)
        entry->peer.excess = PROBLEM_CLIENT_CONNECTIONS;
    entry->peer.side = peers->side >= 0 && listen_address_has(peers->side, entry->descriptor);
    add_entry(peers, entry);
    return entry;
}

void connections_notice(void *context, struct MHD_Connection *connection, void **socket_context,
                        enum MHD_ConnectionNotificationCode code)
{
    struct connections *peers = context;
    if (code == MHD_CONNECTION_NOTIFY_STARTED)
        *socket_context = open_entry(peers, connection);
    else if (*socket_context)
        remove_entry(peers, *socket_context);
}

struct connection *connections_find(struct MHD_Connection *connection)
{
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

bool connections_move(struct connection *peer, enum connection_state state, int64_t deadline)
{
    struct entry *entry = (struct entry *)peer;
    uint64_t before = atomic_load_explicit(&entry->wait, memory_order_relaxed);
    if (state == CONNECTION_IDLE || state == CONNECTION_HEAD)
        atomic_store_explicit(&entry->moved, clock_now(), memory_order_relaxed);
    do {
        if (find_state(before) == CONNECTION_CUT)
            return false;
    } while (!atomic_compare_exchange_weak(&entry->wait, &before, pack_wait(state, deadline)));
    return true;
}

bool connections_move_to_body(struct connection *peer, int64_t deadline, const struct raw_refusal *of)
{
    struct entry *entry = (struct entry *)peer;
    bool known = of->origin && strlen(of->origin) < sizeof entry->origin;
    entry->of = *of;
    entry->of.id = strncpy(entry->id, of->id, sizeof entry->id - 1);
    entry->of.origin = known ? strcpy(entry->origin, of->origin) : NULL;
    return connections_move(peer, CONNECTION_BODY, deadline);
}

enum problem_code connections_told(const struct connection *peer)
{
    return (enum problem_code)atomic_load(&((const struct entry *)peer)->told);
}

void connections_attach(struct connections *peers, struct connection *peer, struct connection_wait wait)
{
    pthread_mutex_lock(&peers->mutex);
    ((struct entry *)peer)->held = wait;
    pthread_mutex_unlock(&peers->mutex);
}

bool connections_suspend(struct connections *peers, struct MHD_Connection *connection)
{
    atomic_fetch_add(&peers->suspended, 1);
    if (atomic_load(&peers->stopping)) {
        atomic_fetch_sub(&peers->suspended, 1);
        return false;
    }
    MHD_suspend_connection(connection);
    return true;
}

void connections_resume(struct connections *peers, struct MHD_Connection *connection)
{
    MHD_resume_connection(connection);
    atomic_fetch_sub(&peers->suspended, 1);
}

size_t connections_open(struct connections *peers)
{
    pthread_mutex_lock(&peers->mutex);
    size_t open = peers->open;
    pthread_mutex_unlock(&peers->mutex);
    return open;
}

/* A browser opens connections ahead of need: one that never sent a byte is closed without a word. */
static bool has_spoken(int descriptor)
{
    struct tcp_info info = {0};
    socklen_t size = sizeof info;
    return getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 || info.tcpi_bytes_received > 0;
}

/* libmicrohttpd writes nothing while it reads a request, so this is the place of the reply; inside TLS there is none.
 */
static void tell(const struct connections *peers, struct entry *entry, enum connection_state state,
                 const struct problem *problem)
{
    char id[REQUEST_ID_SIZE];
    struct raw_refusal of = {.id = id, .method = METHOD_OTHER};
    if (!problem || tls_is_on(peers->settings))
        return;
    request_id_set(id, NULL);
    if (state == CONNECTION_BODY)
        of = entry->of;
    if (raw_refusal_send(entry->descriptor, peers->settings, problem, &of))
        atomic_store(&entry->told, (int)problem->code);
}

void connections_refuse(struct connections *peers, struct connection *peer, const struct problem *problem)
{
    struct entry *entry = (struct entry *)peer;
    uint64_t wait = atomic_load(&entry->wait);
    uint64_t told = (wait >> STATE_BITS << STATE_BITS) | (uint64_t)CONNECTION_TOLD;
    if (tls_is_on(peers->settings) || find_state(wait) != CONNECTION_BODY ||
        !atomic_compare_exchange_strong(&entry->wait, &wait, told))
        return;
    tell(peers, entry, CONNECTION_BODY, problem);
    if (connections_told(peer) != PROBLEM_NONE)
        shutdown(entry->descriptor, SHUT_WR);
}

/* Once it is cut, the event thread leaves what `tell` reads alone. `problem` NULL: it is cut without a word. */
static void cut_entry(const struct connections *peers, struct entry *entry, uint64_t wait,
                      const struct problem *problem)
{
    enum connection_state state = find_state(wait);
    if (!atomic_compare_exchange_strong(&entry->wait, &wait, (uint64_t)CONNECTION_CUT))
        return;
    tell(peers, entry, state, problem);
    shutdown(entry->descriptor, SHUT_RDWR);
}

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

static void give_up(struct given_up *list, const struct entry *entry, enum problem_code reason)
{
    if (list->count == ABANDONED_MAX)
        return;
    entry->held.keep(entry->held.what);
    list->pieces[list->count].held = entry->held;
    list->pieces[list->count++].reason = reason;
}

/* Resuming takes libmicrohttpd's locks, so it is done without ours. */
static void abandon_all(const struct given_up *list)
{
    for (size_t i = 0; i < list->count; i++)
        list->pieces[i].held.abandon(list->pieces[i].held.what, list->pieces[i].reason);
}

static void check_late(const struct connections *peers, struct entry *entry, uint64_t wait)
{
    static const struct problem timeout = {.code = PROBLEM_TIMEOUT,
                                           .detail = "The rest of the request took too long to arrive."};
    enum connection_state state = find_state(wait);
    bool told = state == CONNECTION_BODY || (state == CONNECTION_HEAD && has_spoken(entry->descriptor));
    if (state != CONNECTION_WORK)
        cut_entry(peers, entry, wait, told ? &timeout : NULL);
}

/* libmicrohttpd 0.9.75 may not notice the end of a connection before it writes to it. What it has read of the request
 * but not looked at yet gets its time: whoever sends a request and shuts its side down wants an answer. */
static void check_gone(const struct connections *peers, struct entry *entry, uint64_t wait, uint64_t now)
{
    static const struct problem cut_short = {.code = PROBLEM_BAD_REQUEST,
                                             .detail = "The body ended before its announced length."};
    enum connection_state state = find_state(wait);
    if (entry->gone == 0)
        entry->gone = now;
    if (now - entry->gone >= GONE_MILLISECONDS && state != CONNECTION_WORK && state != CONNECTION_REPLY &&
        !has_unread(entry->descriptor))
        cut_entry(peers, entry, wait, state == CONNECTION_BODY ? &cut_short : NULL);
}

static void check_entry(const struct connections *peers, struct entry *entry, uint64_t now, struct given_up *list)
{
    uint64_t wait = atomic_load(&entry->wait);
    bool late = wait >> STATE_BITS < now;
    if (find_state(wait) == CONNECTION_CUT)
        return;
    bool gone = !late && has_hung_up(entry->descriptor);
    if (entry->held.what && (late || gone))
        give_up(list, entry, late ? PROBLEM_DEADLINE : PROBLEM_NONE);
    else if (late)
        check_late(peers, entry, wait);
    else if (gone)
        check_gone(peers, entry, wait, now);
}

void connections_reap(struct connections *peers)
{
    struct given_up list = {0};
    uint64_t now = (uint64_t)(clock_now() / 1000000);
    pthread_mutex_lock(&peers->mutex);
    for (struct entry *entry = peers->first; entry; entry = entry->next)
        check_entry(peers, entry, now, &list);
    pthread_mutex_unlock(&peers->mutex);
    abandon_all(&list);
}

size_t connections_stop(struct connections *peers)
{
    struct given_up list = {0};
    atomic_store(&peers->stopping, true);
    pthread_mutex_lock(&peers->mutex);
    for (struct entry *entry = peers->first; entry; entry = entry->next)
        if (entry->held.what)
            give_up(&list, entry, PROBLEM_DRAINING);
    pthread_mutex_unlock(&peers->mutex);
    abandon_all(&list);
    return atomic_load(&peers->suspended);
}

static bool has_unsent(int descriptor)
{
    int unsent = 0;
    return ioctl(descriptor, SIOCOUTQ, &unsent) == 0 && unsent > 0;
}

/* A reply that was written may still be on its way to a slow reader: the connection is idle once it has arrived. */
static bool is_silent(struct entry *entry, int64_t since)
{
    enum connection_state state = find_state(atomic_load(&entry->wait));
    if (state == CONNECTION_CUT)
        return true;
    if (state == CONNECTION_IDLE && has_unsent(entry->descriptor))
        atomic_store(&entry->moved, clock_now());
    return (state == CONNECTION_IDLE || state == CONNECTION_HEAD) && atomic_load(&entry->moved) <= since &&
           !has_unread(entry->descriptor);
}

bool connections_silent(struct connections *peers, int64_t since)
{
    bool silent = true;
    pthread_mutex_lock(&peers->mutex);
    for (struct entry *entry = peers->first; entry; entry = entry->next)
        silent = is_silent(entry, since) && silent;
    pthread_mutex_unlock(&peers->mutex);
    return silent;
}
