/* TLS for all connections, on one thread. */
#include "server/tls/tls_relay.h"

#include "server/tls/tls_certificate.h"
#include "server/tls/tls_link.h"
#include "server/watch/clock.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define EVENTS 64
#define STOP_SECONDS 2
#define STOP_TICK 20 /* milliseconds */

struct tls_relayed {
    struct tls_relayed *previous, *next; /* among all */
    struct tls_relayed *after;           /* among those that go on, or those that have ended */
    struct tls_link *link;
    void *connection;
    bool goes_on, ended;
};

struct tls_relay {
    pthread_t thread;
    int watcher, alarm; /* epoll; an eventfd that wakes it */
    atomic_bool stopping;
    struct tls_relay_events events;
    pthread_mutex_t mutex; /* the list and the certificate */
    struct tls_relayed *first;
    struct tls_certificate *certificate;
    gnutls_priority_t priorities;
    struct tls_relayed *going_on, *ended; /* the thread's */
    char room[TLS_LINK_RECORD];
};

static void add(struct tls_relay *relay, struct tls_relayed *relayed)
{
    pthread_mutex_lock(&relay->mutex);
    relayed->next = relay->first;
    if (relay->first)
        relay->first->previous = relayed;
    relay->first = relayed;
    pthread_mutex_unlock(&relay->mutex);
}

static void take_out(struct tls_relay *relay, struct tls_relayed *relayed)
{
    pthread_mutex_lock(&relay->mutex);
    if (relayed->previous)
        relayed->previous->next = relayed->next;
    else
        relay->first = relayed->next;
    if (relayed->next)
        relayed->next->previous = relayed->previous;
    pthread_mutex_unlock(&relay->mutex);
}

static void release(struct tls_relay *relay, struct tls_relayed *relayed)
{
    take_out(relay, relayed);
    tls_link_free(relayed->link);
    free(relayed);
}

static struct tls_certificate *hold_certificate(struct tls_relay *relay)
{
    pthread_mutex_lock(&relay->mutex);
    struct tls_certificate *certificate = tls_certificate_hold(relay->certificate);
    pthread_mutex_unlock(&relay->mutex);
    return certificate;
}

/* Freed only after the round, whose other events may name it, too. */
static void end(struct tls_relay *relay, struct tls_relayed *relayed)
{
    relayed->ended = true;
    relay->events.end(relayed->connection);
    relayed->after = relay->ended;
    relay->ended = relayed;
}

static void run(struct tls_relay *relay, struct tls_relayed *relayed, struct tls_certificate *certificate)
{
    const struct tls_link_means means = {relay->priorities, certificate, relay->room, relay->events.open,
                                         relayed->connection};
    if (relayed->ended || relayed->goes_on)
        return;
    switch (tls_link_run(relayed->link, &means)) {
    case TLS_LINK_WAITS:
        return;
    case TLS_LINK_GOES_ON:
        relayed->goes_on = true;
        relayed->after = relay->going_on;
        relay->going_on = relayed;
        return;
    case TLS_LINK_ENDED:
        end(relay, relayed);
        return;
    }
}

static void run_events(struct tls_relay *relay, const struct epoll_event *events, int count)
{
    struct tls_certificate *certificate = hold_certificate(relay);
    struct tls_relayed *going_on = relay->going_on;
    relay->going_on = NULL;
    while (going_on) {
        struct tls_relayed *relayed = going_on;
        going_on = relayed->after;
        relayed->goes_on = false;
        run(relay, relayed, certificate);
    }
    for (int i = 0; i < count; i++)
        if (events[i].data.ptr)
            run(relay, events[i].data.ptr, certificate);
    tls_certificate_release(certificate);
}

static void free_ended(struct tls_relay *relay)
{
    while (relay->ended) {
        struct tls_relayed *relayed = relay->ended;
        relay->ended = relayed->after;
        release(relay, relayed);
    }
}

static bool is_over(struct tls_relay *relay, int64_t *until)
{
    if (!atomic_load(&relay->stopping))
        return false;
    if (*until == 0)
        *until = clock_now() + STOP_SECONDS * CLOCK_SECOND;
    pthread_mutex_lock(&relay->mutex);
    bool empty = !relay->first;
    pthread_mutex_unlock(&relay->mutex);
    return empty || clock_now() > *until;
}

static void *serve(void *context)
{
    struct tls_relay *relay = context;
    struct epoll_event events[EVENTS];
    int64_t until = 0;
    while (!is_over(relay, &until)) {
        int patience = atomic_load(&relay->stopping) ? STOP_TICK : -1;
        int count = epoll_wait(relay->watcher, events, EVENTS, relay->going_on ? 0 : patience);
        run_events(relay, events, count);
        free_ended(relay);
    }
    return NULL;
}

static bool start_thread(struct tls_relay *relay)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failure = pthread_create(&relay->thread, NULL, serve, relay);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failure == 0;
}

static bool open_watcher(struct tls_relay *relay)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    relay->watcher = epoll_create1(EPOLL_CLOEXEC);
    relay->alarm = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return relay->watcher >= 0 && relay->alarm >= 0 &&
           epoll_ctl(relay->watcher, EPOLL_CTL_ADD, relay->alarm, &event) == 0;
}

static void free_relay(struct tls_relay *relay)
{
    while (relay->first) {
        relay->events.end(relay->first->connection);
        release(relay, relay->first);
    }
    if (relay->watcher >= 0)
        close(relay->watcher);
    if (relay->alarm >= 0)
        close(relay->alarm);
    if (relay->priorities)
        gnutls_priority_deinit(relay->priorities);
    tls_certificate_release(relay->certificate);
    pthread_mutex_destroy(&relay->mutex);
    free(relay);
}

struct tls_relay *tls_relay_start(struct tls_certificate *certificate, struct tls_relay_events events)
{
    struct tls_relay *relay = calloc(1, sizeof *relay);
    if (!relay) {
        tls_certificate_release(certificate);
        return NULL;
    }
    relay->events = events;
    relay->certificate = certificate;
    pthread_mutex_init(&relay->mutex, NULL);
    if (open_watcher(relay) && gnutls_priority_init(&relay->priorities, TLS_LINK_PRIORITIES, NULL) >= 0 &&
        start_thread(relay))
        return relay;
    free_relay(relay);
    return NULL;
}

void tls_relay_stop(struct tls_relay *relay)
{
    uint64_t one = 1;
    if (!relay)
        return;
    atomic_store(&relay->stopping, true);
    (void)!write(relay->alarm, &one, sizeof one);
    pthread_join(relay->thread, NULL);
    free_relay(relay);
}

void tls_relay_show(struct tls_relay *relay, struct tls_certificate *certificate)
{
    pthread_mutex_lock(&relay->mutex);
    struct tls_certificate *before = relay->certificate;
    relay->certificate = certificate;
    pthread_mutex_unlock(&relay->mutex);
    tls_certificate_release(before);
}

struct tls_relayed *tls_relay_prepare(int descriptor, void *connection)
{
    struct tls_relayed *relayed = calloc(1, sizeof *relayed);
    if (!relayed)
        return NULL;
    relayed->connection = connection;
    relayed->link = tls_link_new(descriptor);
    if (relayed->link)
        return relayed;
    free(relayed);
    return NULL;
}

bool tls_relay_begin(struct tls_relay *relay, struct tls_relayed *relayed)
{
    add(relay, relayed);
    if (tls_link_watch(relayed->link, relay->watcher, relayed))
        return true;
    release(relay, relayed);
    return false;
}

bool tls_relay_busy(const struct tls_relayed *relayed)
{
    return tls_link_busy(relayed->link);
}
