/* Replies without libmicrohttpd. */
#include "server/notice.h"

#include "server/cors.h"
#include "server/settings.h"

#include <stdio.h>
#include <sys/socket.h>

#define NOTICE_MAX 2048

static const char *name_status(enum problem_code code)
{
    return code == PROBLEM_TIMEOUT ? "408 Request Timeout" : "400 Bad Request";
}

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

static size_t write_notice(char out[NOTICE_MAX], const struct settings *settings, const struct notice *notice)
{
    char sharing[512];
    struct text body = {0};
    struct problem problem = {.code = PROBLEM_NONE};
    problem_set(&problem, notice->code, "%s",
                notice->code == PROBLEM_TIMEOUT ? "The rest of the request took too long to arrive."
                                                : "The body ended before its announced length.");
    problem_write(&body, &problem, notice->id, NULL);
    write_sharing(sharing, sizeof sharing, settings, notice->origin);
    int length = snprintf(out, NOTICE_MAX,
                          "HTTP/1.1 %s\r\nContent-Type: application/problem+json\r\nContent-Length: %zu\r\n"
                          "X-Request-Id: %s\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n%s"
                          "Connection: close\r\n\r\n%.*s",
                          name_status(notice->code), body.length, notice->id, sharing, (int)body.length,
                          body.failed ? "" : body.data);
    bool whole = !body.failed && length > 0 && length < NOTICE_MAX;
    text_free(&body);
    return whole ? (size_t)length : 0;
}

bool notice_send(int descriptor, const struct settings *settings, const struct notice *notice)
{
    char out[NOTICE_MAX];
    size_t length = write_notice(out, settings, notice);
    return length > 0 && send(descriptor, out, length, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)length;
}
