/* Replies without libmicrohttpd. */
#include "server/notice.h"

#include "server/settings.h"

#include <stdio.h>

void notice_write(char out[NOTICE_MAX], const struct settings *settings, const char *reason, enum problem_code code,
                  const char *detail)
{
    struct text body = {0};
    struct problem problem = {.code = PROBLEM_NONE};
    bool open = !settings->no_cors && settings_list_has(&settings->cors_origin, "*");
    problem_set(&problem, code, "%s", detail);
    problem_write(&body, &problem, "none", NULL);
    snprintf(out, NOTICE_MAX,
             "HTTP/1.1 %u %s\r\nContent-Type: application/problem+json\r\nContent-Length: %zu\r\n"
             "X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n%sConnection: close\r\n\r\n%.*s",
             problem_status(code), reason, body.length, open ? "Access-Control-Allow-Origin: *\r\n" : "",
             (int)body.length, body.failed ? "" : body.data);
    text_free(&body);
}
