/* What each version of libmicrohttpd is known for. */
#include "server/run/library_check.h"

#include "server/config/version.h"
#include "server/listen/listener.h"
#include "server/run/server.h"

#define WAY_OUT \
    "Debian's package libmicrohttpd12t64 1.0.10 or later, the image, or nginx on this machine before a Unix socket"

static void warn_of_crash(struct server *server, bool local)
{
    if (local)
        log_event(server->service.log, LOG_WARN,
                  "libmicrohttpd %s can be crashed by one request; here only programs of this machine can send it. "
                  "To serve other machines take " WAY_OUT,
                  version_http());
    else
        log_event(server->service.log, LOG_WARN,
                  "libmicrohttpd %s can be crashed by one request, and every machine that reaches %s can send it. "
                  "Better take " WAY_OUT,
                  version_http(), server->service.settings.listen);
}

static bool refuse_crash(struct server *server)
{
    log_event(
        server->service.log, LOG_ERROR,
        "libmicrohttpd %s can be crashed by one request, so %s, which other machines reach, is not served without "
        "--allow-vulnerable-libmicrohttpd. Better take " WAY_OUT,
        version_http(), server->service.settings.listen);
    return false;
}

static void warn_of_lenience(struct server *server)
{
    log_event(server->service.log, LOG_WARN,
              "libmicrohttpd %s misreads some malformed heads before this program sees them: a field without a name "
              "ends the head, a folded Content-Length vanishes, NULs cut values. Where a proxy shares connections "
              "among clients, let it be one that refuses them, as nginx and HAProxy do",
              version_http());
}

bool library_check(struct server *server)
{
    bool local = listener_is_local(&server->acceptors[0].listener) && listener_is_local(&server->acceptors[1].listener);
    if (version_http_vulnerable() && !local && !server->service.settings.allow_vulnerable_libmicrohttpd)
        return refuse_crash(server);
    if (version_http_vulnerable())
        warn_of_crash(server, local);
    else if (version_http_lenient() && !local)
        warn_of_lenience(server);
    return true;
}
