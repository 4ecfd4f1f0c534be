/* attentiond: settings, then the service until a signal ends it. */
#include "core/tensor/blas.h"
#include "server/config/settings.h"
#include "server/machine/fit.h"
#include "server/machine/kernel.h"
#include "server/machine/memory.h"
#include "server/run/cli_help.h"
#include "server/run/drain.h"
#include "server/run/healthcheck.h"
#include "server/run/server.h"
#include "server/run/signals.h"
#include "server/service/keys.h"
#include "server/tls/tls_certificate.h"
#include "server/watch/log.h"

#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define EXIT_USAGE 2

/* In static memory: threads may still look at it while the process ends. */
static struct server server;

static int serve(const struct settings *settings, struct log *log)
{
    bool good = server_start(&server, settings, log);
    while (good && !signals_stop_wanted())
        server_tend(&server);
    if (server.daemon && !drain_run(&server)) {
        log_event(log, LOG_ERROR, "some connections could not be ended in time");
        log_stop(log);
        _exit(EXIT_FAILURE);
    }
    server_stop(&server);
    log_event(log, LOG_INFO, "stopped");
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* glibc raises its thresholds with what is freed, until each thread may keep 64 MB of free memory. */
static void bound_allocator(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 4 * 1024 * 1024);
    mallopt(M_TRIM_THRESHOLD, 8 * 1024 * 1024);
#endif
}

static int start_serving(const struct settings *settings)
{
    bound_allocator();
    struct log *log =
        log_start(STDOUT_FILENO, (enum log_format)settings->log_format, (enum log_level)settings->log_level);
    if (!log) {
        fputs("attentiond: the log could not be started\n", stderr);
        return EXIT_FAILURE;
    }
    int status = serve(settings, log);
    log_stop(log);
    return status;
}

static bool check_tls(const struct settings *settings, char *why, size_t size)
{
    if (!tls_certificate_wanted(settings))
        return true;
    struct tls_certificate *certificate = tls_certificate_load(settings, why, size);
    tls_certificate_release(certificate);
    return certificate != NULL;
}

static int check_files(const struct settings *settings)
{
    char why[512] = "there is no memory";
    char warning[320];
    if (!fit_check(settings, memory_granted(), warning, sizeof warning))
        fprintf(stderr, "attentiond: warning: %s\n", warning);
    struct keys *keys = keys_new();
    bool good = keys && (!*settings->api_key_file || keys_load(keys, settings->api_key_file, why, sizeof why)) &&
                check_tls(settings, why, sizeof why);
    keys_free(keys);
    if (good) {
        puts("the settings are good");
        return EXIT_SUCCESS;
    }
    fprintf(stderr, "attentiond: %s\n", why);
    return EXIT_USAGE;
}

/* What was closed when we began would be the next socket's number, and the log or an error would go to a client. */
static bool open_missing(void)
{
    int descriptor = open("/dev/null", O_RDWR);
    while (descriptor >= 0 && descriptor <= STDERR_FILENO)
        descriptor = open("/dev/null", O_RDWR);
    return descriptor >= 0 && close(descriptor) == 0;
}

int main(int argc, char **argv)
{
    char why[256];
    struct settings settings;
    signals_keep();
    if (!open_missing()) {
        perror("attentiond: the system refuses to start it");
        return EXIT_FAILURE;
    }
    if (!settings_read(&settings, argc, argv, environ, why, sizeof why)) {
        fprintf(stderr, "attentiond: %s\n", why);
        return EXIT_USAGE;
    }
    if (settings.action == SETTINGS_SERVE)
        kernel_choose(argv);
    if (!signals_install()) {
        perror("attentiond: the system refuses to start it");
        return EXIT_FAILURE;
    }
    fit_settings(&settings, memory_granted());
    switch (settings.action) {
    case SETTINGS_SERVE:
        return start_serving(&settings);
    case SETTINGS_HELP:
        cli_help_print_help(stdout);
        return EXIT_SUCCESS;
    case SETTINGS_VERSION:
        cli_help_print_version(stdout);
        return EXIT_SUCCESS;
    case SETTINGS_CHECK_CONFIG:
        return check_files(&settings);
    case SETTINGS_PRINT_CONFIG:
        cli_help_print_settings(stdout, &settings);
        return EXIT_SUCCESS;
    case SETTINGS_PRINT_OPENAPI:
        return cli_help_print_openapi(stdout) ? EXIT_SUCCESS : EXIT_FAILURE;
    case SETTINGS_HEALTHCHECK:
        return healthcheck_ready(&settings) ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    return EXIT_FAILURE;
}
