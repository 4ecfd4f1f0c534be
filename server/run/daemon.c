/* Starting libmicrohttpd. */
#include "server/run/daemon.h"

#include "server/exchange/exchange.h"
#include "server/http/request_head.h"
#include "server/listen/connections.h"
#include "server/run/server.h"

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The head of a request, parsed; what does not fit is refused by libmicrohttpd with a page of its own, so this is
 * several times --max-header. Below 1 MiB: 1.0.1 fails there. */
#define CONNECTION_MEMORY ((size_t)64 * 1024)

static void log_library(void *context, const char *format, va_list values)
{
    char message[256];
    struct server *server = context;
    if (!log_wants(server->service.log, LOG_DEBUG))
        return;
    vsnprintf(message, sizeof message, format, values);
    message[strcspn(message, "\n")] = '\0';
    log_event(server->service.log, LOG_DEBUG, "libmicrohttpd: %s", message);
}

/* libmicrohttpd's own timeout only backs up the deadlines of the reaper: it counts from the last byte. */
static unsigned find_library_timeout(const struct settings *settings)
{
    double longest = settings->idle_timeout;
    const double others[] = {settings->header_timeout, settings->body_timeout, settings->write_timeout};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        longest = others[i] > longest ? others[i] : longest;
    return (unsigned)longest + 2;
}

/* More than it is ever handed: what passes its own limit it closes without a word. */
static unsigned find_connection_limit(const struct connections_room *room)
{
    return (unsigned)(connections_all(room) + 2 * room->slack);
}

bool daemon_start(struct server *server)
{
    const unsigned flags =
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG | MHD_USE_NO_LISTEN_SOCKET;
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    server->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, exchange_handle, &server->service,
        /* first, so that it is there when a later option is bad */ MHD_OPTION_EXTERNAL_LOGGER, log_library, server,
        MHD_OPTION_CONNECTION_LIMIT, find_connection_limit(&server->room), MHD_OPTION_CONNECTION_TIMEOUT,
        find_library_timeout(&server->service.settings), MHD_OPTION_NOTIFY_CONNECTION, connections_notice,
        server->service.connections, MHD_OPTION_NOTIFY_COMPLETED, exchange_complete, &server->service,
        MHD_OPTION_URI_LOG_CALLBACK, exchange_note_target, &server->service, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        CONNECTION_MEMORY, MHD_OPTION_UNESCAPE_CALLBACK, request_head_unescape, NULL,
#if MHD_VERSION >= 0x00097701
        MHD_OPTION_CLIENT_DISCIPLINE_LVL, 1,
#endif /* before, being strict meant to refuse what head.c refuses in better words */
        MHD_OPTION_END);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    connections_serve(server->service.connections, server->daemon);
    if (!server->daemon)
        log_event(server->service.log, LOG_ERROR, "libmicrohttpd did not start");
    return server->daemon != NULL;
}
