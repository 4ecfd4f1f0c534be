/* The service's life: start, tend, drain, stop. */
#include "server/run/server.h"

#include "api/job.h"
#include "api/json/jansson_start.h"
#include "core/tensor/blas.h"
#include "server/compute/block_queue.h"
#include "server/config/version.h"
#include "server/exchange/answer.h"
#include "server/listen/client_limits.h"
#include "server/listen/connections.h"
#include "server/listen/listener.h"
#include "server/listen/reaper.h"
#include "server/machine/fit.h"
#include "server/machine/kernel.h"
#include "server/machine/memory.h"
#include "server/run/daemon.h"
#include "server/run/library_check.h"
#include "server/run/port_file.h"
#include "server/run/signals.h"
#include "server/run/systemd_notify.h"
#include "server/service/keys.h"
#include "server/service/metrics.h"
#include "server/service/page_cache.h"
#include "server/tls/tls_certificate.h"
#include "server/tls/tls_relay.h"

#include <inttypes.h>
#include <sched.h>
#include <sys/resource.h>

#define TICK_MILLISECONDS 250
#define FULL_MILLISECONDS 5  /* until a connection that was cut is closed */
#define SPARE_DESCRIPTORS 48 /* for everything but connections */

static bool fail(struct server *server, const char *what)
{
    log_event(server->service.log, LOG_ERROR, "%s", what);
    return false;
}

static bool check_blas(struct server *server)
{
    struct error err = {0};
    if (!blas_start(&err))
        return fail(server, err.faults[0].text);
    kernel_report(server->service.log);
    return true;
}

/* A connection by TLS has three: to the client, and two between the relay and libmicrohttpd. */
static size_t count_places(const struct server *server, uintmax_t descriptors)
{
    size_t each = tls_certificate_wanted(&server->service.settings) ? 3 : 1;
    return descriptors > SPARE_DESCRIPTORS ? (size_t)(descriptors - SPARE_DESCRIPTORS) / each : 0;
}

/* As many as there may be, where that is more than there are now. */
static uintmax_t raise_descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return SPARE_DESCRIPTORS;
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_max : before;
}

/* Descriptors for all connections, or fewer connections. */
static bool fit_connections(struct server *server)
{
    uintmax_t descriptors = raise_descriptors();
    size_t *usual = &server->service.settings.max_connections;
    if (!connections_find_room(&server->room, *usual, count_places(server, descriptors))) {
        log_event(server->service.log, LOG_ERROR, "the limit of open files is %ju: too low for any connection",
                  descriptors);
        return false;
    }
    if (server->room.usual < *usual)
        log_event(server->service.log, LOG_WARN, "only %zu connections instead of %zu: the limit of open files is %ju",
                  server->room.usual, *usual, descriptors);
    *usual = server->room.usual;
    return true;
}

static bool open_port(struct server *server)
{
    char why[256];
    const struct settings *settings = &server->service.settings;
    return listener_open(&server->acceptors[0].listener, settings->listen, (unsigned)settings->port, why, sizeof why) ||
           fail(server, why);
}

static bool open_side(struct server *server)
{
    char why[256];
    struct listener *listener = &server->acceptors[1].listener;
    const char *place = server->service.settings.metrics_listen;
    if (!*place)
        return true;
    if (!listener_open_at(listener, place, why, sizeof why)) {
        log_event(server->service.log, LOG_ERROR, "--metrics-listen: %s", why);
        return false;
    }
    log_event(server->service.log, LOG_INFO,
              listener->port ? "probes and metrics on %s, port %u" : "probes and metrics on %s", place, listener->port);
    return true;
}

struct warm_up {
    size_t workers;
    atomic_size_t arrived, left;
};

/* Worker by worker, and none leaves before all have come: so each gets its BLAS buffer before the first request. */
static void warm_worker(void *context)
{
    struct warm_up *warm_up = context;
    blas_warm();
    atomic_fetch_add(&warm_up->arrived, 1);
    while (atomic_load(&warm_up->arrived) < warm_up->workers)
        sched_yield();
    atomic_fetch_add(&warm_up->left, 1);
}

static bool warm_workers(struct server *server)
{
    struct warm_up warm_up = {.workers = pool_workers(server->service.pool)};
    for (size_t i = 0; i < warm_up.workers; i++)
        while (!pool_submit(server->service.pool, warm_worker, &warm_up))
            sched_yield();
    while (atomic_load(&warm_up.left) < warm_up.workers)
        sched_yield();
    return true;
}

static bool load_keys(struct server *server)
{
    char why[512];
    const char *path = server->service.settings.api_key_file;
    return !*path || keys_load(server->service.keys, path, why, sizeof why) || fail(server, why);
}

/* New connections are shown the certificate that is in the files now. */
static bool load_tls(struct server *server)
{
    char why[512];
    if (!tls_certificate_wanted(&server->service.settings))
        return true;
    struct tls_certificate *certificate = tls_certificate_load(&server->service.settings, why, sizeof why);
    if (!certificate)
        return fail(server, why);
    if (server->relay)
        tls_relay_show(server->relay, certificate);
    else
        server->relay = tls_relay_start(certificate, acceptor_events());
    return server->relay || fail(server, "the thread for TLS could not be started");
}

/* Blocks of replies have places of their own, half as many as requests. */
static void start_pool(struct service *service)
{
    const struct settings *settings = &service->settings;
    size_t places = settings->queue / 2 > settings->workers ? settings->queue / 2 : settings->workers;
    service->pool = pool_start(settings->workers, settings->queue + places);
    service->blocks = service->pool ? block_queue_new(service->pool, places) : NULL;
}

static bool start_parts(struct server *server)
{
    struct service *service = &server->service;
    const struct settings *settings = &service->settings;
    service->spent = answer_make_spent(settings);
    service->clients = client_limits_new(settings->rate_limit, settings->rate_burst);
    service->keys = keys_new();
    service->memory = job_memory_new();
    service->defaults = job_defaults_new();
    service->connections = service->clients ? connections_new(settings, service->clients, &server->room) : NULL;
    service->metrics = metrics_new();
    service->pages = page_cache_new();
    start_pool(service);
    if (!service->spent || !service->connections || !service->metrics || !service->pages || !service->keys ||
        !service->blocks)
        return fail(server, "the threads could not be started");
    if (settings->pin_workers && !pool_pin(service->pool))
        log_event(service->log, LOG_WARN, "no worker is pinned: there are more or fewer processors than workers");
    return load_keys(server) && load_tls(server);
}

/* The settings were checked when they were read. */
static void set_proxies(struct server *server)
{
    const struct settings_list *list = &server->service.settings.trusted_proxy;
    for (size_t i = 0; i < list->count; i++)
        proxies_read(&server->service.proxies, list->texts[i]);
}

static void set_limits(struct server *server)
{
    char why[320];
    struct settings *settings = &server->service.settings;
    size_t granted = memory_granted();
    fit_settings(settings, granted);
    if (!fit_check(settings, granted, why, sizeof why))
        log_event(server->service.log, LOG_WARN, "%s", why);
    server->service.limits = (struct request_limits){.elements = settings->max_elements,
                                                     .reply_elements = settings->max_reply_elements,
                                                     .flops = (double)settings->max_flops,
                                                     .memory = settings->request_memory};
    server->service.held.limit = settings->memory;
}

static void set_acceptors(struct server *server)
{
    for (size_t i = 0; i < SIGNALS_BESIDE; i++) {
        server->acceptors[i].connections = server->service.connections;
        server->acceptors[i].relay = server->relay;
    }
}

/* Nothing has been accepted before this: who connects meanwhile waits, and is never told of a start that failed. */
static bool turn_ready(struct server *server)
{
    char why[512];
    const struct settings *settings = &server->service.settings;
    set_acceptors(server);
    if (!port_file_publish(settings->port_file, why, sizeof why))
        return fail(server, why);
    atomic_store(&server->service.phase, SERVICE_READY);
    log_event(server->service.log, LOG_INFO, "attentiond %s listens on %s port %u with %zu workers", version_program(),
              settings->listen, server->acceptors[0].listener.port, settings->workers);
    systemd_notify("READY=1");
    return true;
}

static bool prepare_port_file(struct server *server)
{
    char why[512];
    return port_file_prepare(server->service.settings.port_file, server->acceptors[0].listener.port, why, sizeof why) ||
           fail(server, why);
}

bool server_start(struct server *server, const struct settings *settings, struct log *log)
{
    *server = (struct server){.service = {.settings = *settings, .log = log},
                              .acceptors = {{.listener = LISTENER_NONE}, {.listener = LISTENER_NONE, .side = true}}};
    jansson_start();
    set_limits(server);
    set_proxies(server);
    if (!check_blas(server))
        return false;
    return fit_connections(server) && open_port(server) && open_side(server) && library_check(server) &&
           start_parts(server) && prepare_port_file(server) && daemon_start(server) && warm_workers(server) &&
           turn_ready(server);
}

void server_reload(struct server *server)
{
    bool keys = load_keys(server);
    bool tls = load_tls(server);
    bool good = keys && tls;
    log_event(server->service.log, good ? LOG_INFO : LOG_ERROR,
              good ? "settings' files were read again" : "what could not be read stays as it was");
}

void server_wait(struct server *server, int milliseconds)
{
    bool ready[SIGNALS_BESIDE] = {false};
    int beside[SIGNALS_BESIDE];
    for (size_t i = 0; i < SIGNALS_BESIDE; i++)
        beside[i] = server->full[i] ? -1 : server->acceptors[i].listener.descriptor;
    signals_wait(beside, ready, server->full[0] || server->full[1] ? FULL_MILLISECONDS : milliseconds);
    for (size_t i = 0; i < SIGNALS_BESIDE; i++)
        server->full[i] = (ready[i] || server->full[i]) && !acceptor_run(&server->acceptors[i]);
}

void server_tend(struct server *server)
{
    server_wait(server, TICK_MILLISECONDS);
    if (signals_reload_wanted())
        server_reload(server);
    reaper_run(server->service.connections);
}

static void free_parts(struct service *service)
{
    if (service->pool)
        pool_stop(service->pool);
    block_queue_free(service->blocks);
    if (service->spent)
        MHD_destroy_response(service->spent);
    connections_free(service->connections);
    client_limits_free(service->clients);
    keys_free(service->keys);
    job_memory_free(service->memory);
    job_defaults_free(service->defaults);
    metrics_free(service->metrics);
    page_cache_free(service->pages);
}

void server_stop(struct server *server)
{
    if (server->daemon)
        MHD_stop_daemon(server->daemon);
    tls_relay_stop(server->relay);
    for (size_t i = 0; i < SIGNALS_BESIDE; i++) {
        listener_refuse(&server->acceptors[i].listener);
        listener_close(&server->acceptors[i].listener);
    }
    free_parts(&server->service);
}
