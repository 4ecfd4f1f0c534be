/* Replies without libmicrohttpd. */
#include "server/listen/raw_refusal.h"

#include "server/config/settings.h"
#include "server/http/cors.h"

#include <microhttpd.h>
#include <stdio.h>
#include <sys/socket.h>

#define RAW_REFUSAL_MAX 2048

static void write_sharing(char *out, size_t size, const struct settings *settings, const char *origin)
{
    const char *allowed = cors_find_allowed(settings, origin);
    const char *vary = cors_varies(settings) ? "Vary: Origin\r\n" : "";
    *out = '\0';
    if (allowed)
        snprintf(out, size, "Access-Control-Allow-Origin: %s\r\nAccess-Control-Expose-Headers: " CORS_EXPOSED "\r\n%s",
                 allowed, vary);
    else
        snprintf(out, size, "%s", vary);
}

static size_t write_notice(char out[RAW_REFUSAL_MAX], const struct settings *settings, const struct raw_refusal *notice)
{
    char sharing[512];
    struct buffer body = {0};
    unsigned status = problem_status(notice->problem->code);
    problem_write(&body, notice->problem, notice->id, NULL);
    write_sharing(sharing, sizeof sharing, settings, notice->origin);
    int length = snprintf(out, RAW_REFUSAL_MAX,
                          "HTTP/1.1 %u %s\r\nContent-Type: application/problem+json\r\nContent-Length: %zu\r\n"
                          "X-Request-Id: %s\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n%s"
                          "Connection: close\r\n\r\n%.*s",
                          status, MHD_get_reason_phrase_for(status), body.length, notice->id, sharing, (int)body.length,
                          body.failed ? "" : body.data);
    bool whole = !body.failed && length > 0 && length < RAW_REFUSAL_MAX;
    buffer_free(&body);
    return whole ? (size_t)length : 0;
}

bool raw_refusal_send(int descriptor, const struct settings *settings, const struct raw_refusal *notice)
{
    char out[RAW_REFUSAL_MAX];
    size_t length = write_notice(out, settings, notice);
    return length > 0 && send(descriptor, out, length, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)length;
}
