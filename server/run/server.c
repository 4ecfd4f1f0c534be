/* The service's life: start, tend, drain, stop. */
#include "server/run/server.h"

#include "api/job.h"
#include "api/json/jansson_start.h"
#include "core/blas.h"
#include "server/config/version.h"
#include "server/exchange/answer.h"
#include "server/exchange/metrics.h"
#include "server/http/keys.h"
#include "server/http/page_cache.h"
#include "server/listen/client_limits.h"
#include "server/listen/connections.h"
#include "server/listen/listener.h"
#include "server/listen/metrics_listener.h"
#include "server/listen/tls.h"
#include "server/run/daemon.h"
#include "server/run/fit.h"
#include "server/run/library_check.h"
#include "server/run/memory.h"
#include "server/run/signals.h"
#include "server/run/systemd_notify.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define TICK_MILLISECONDS 250
#define SPARE_DESCRIPTORS 64

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
    log_event(server->service.log, LOG_INFO, "OpenBLAS %s, kernel %s", blas_config(), blas_core());
    return true;
}

/* Descriptors for all connections, or fewer connections. */
static void fit_connections(struct server *server)
{
    struct rlimit limit;
    size_t wanted = server->service.settings.max_connections + DAEMON_EXCESS + SPARE_DESCRIPTORS;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
        return;
    limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur >= wanted)
        return;
    size_t spare = DAEMON_EXCESS + SPARE_DESCRIPTORS;
    server->service.settings.max_connections = limit.rlim_cur > 2 * spare ? limit.rlim_cur - spare : spare / 2;
    log_event(server->service.log, LOG_WARN, "only %zu connections: the limit of open files is %ju",
              server->service.settings.max_connections, (uintmax_t)limit.rlim_max);
}

static bool open_port(struct server *server)
{
    char why[256];
    server->port = (unsigned)server->service.settings.port;
    server->listener = listener_open(server->service.settings.listen, &server->port, why, sizeof why);
    return server->listener >= 0 || fail(server, why);
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

static bool load_tls(struct server *server)
{
    char why[512];
    return tls_load(&server->service.settings, why, sizeof why) || fail(server, why);
}

static bool start_parts(struct server *server)
{
    struct service *service = &server->service;
    const struct settings *settings = &service->settings;
    service->spent = answer_make_spent(settings);
    service->clients = client_limits_new(settings->rate_limit, settings->rate_burst);
    service->keys = keys_new();
    service->memory = job_memory_new();
    service->connections = service->clients ? connections_new(settings, service->clients, server->side) : NULL;
    service->metrics = metrics_new();
    service->pages = page_cache_new();
    service->pool = pool_start(settings->workers, settings->queue);
    if (!service->spent || !service->connections || !service->metrics || !service->pages || !service->keys ||
        !service->pool)
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

/* Written beside and renamed: who waits for the file never reads half of it. */
static bool write_port_file(struct server *server)
{
    const char *path = server->service.settings.port_file;
    char beside[4096];
    if (!*path)
        return true;
    snprintf(beside, sizeof beside, "%s.new", path);
    FILE *file = fopen(beside, "we");
    bool written = file && fprintf(file, "%u\n", server->port) > 0;
    if (file && fclose(file) != 0)
        written = false;
    if (written && rename(beside, path) == 0)
        return true;
    log_event(server->service.log, LOG_ERROR, "--port-file %s: %s", path, strerror(errno));
    return false;
}

bool server_start(struct server *server, const struct settings *settings, struct log *log)
{
    *server = (struct server){.service = {.settings = *settings, .log = log}, .listener = -1, .side = -1};
    jansson_start();
    set_limits(server);
    set_proxies(server);
    if (!check_blas(server))
        return false;
    fit_connections(server);
    if (!open_port(server) || !metrics_listener_open(settings->metrics_listen, &server->side, log) ||
        !library_check(server) || !start_parts(server) || !daemon_start(server) || !warm_workers(server))
        return false;
    atomic_store(&server->service.phase, SERVICE_READY);
    log_event(log, LOG_INFO, "attentiond %s listens on %s port %u with %zu workers", version_program(),
              settings->listen, server->port, server->service.settings.workers);
    if (!write_port_file(server))
        return false;
    systemd_notify("READY=1");
    return true;
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
    if (signals_wait(server->side, milliseconds))
        metrics_listener_accept(server->side, server->daemon);
}

void server_tend(struct server *server)
{
    server_wait(server, TICK_MILLISECONDS);
    if (signals_reload_wanted())
        server_reload(server);
    connections_reap(server->service.connections);
}

static void free_parts(struct service *service)
{
    if (service->pool)
        pool_stop(service->pool);
    if (service->spent)
        MHD_destroy_response(service->spent);
    connections_free(service->connections);
    client_limits_free(service->clients);
    keys_free(service->keys);
    job_memory_free(service->memory);
    metrics_free(service->metrics);
    page_cache_free(service->pages);
}

void server_stop(struct server *server)
{
    const struct settings *settings = &server->service.settings;
    if (server->daemon)
        MHD_stop_daemon(server->daemon);
    if (server->listener >= 0) {
        listener_refuse(server->listener, settings->listen);
        listener_close(server->listener);
    }
    metrics_listener_close(settings->metrics_listen, &server->side);
    free_parts(&server->service);
    tls_unload();
}
