/* Replies without libmicrohttpd. */
#include "server/listen/raw_refusal.h"

#include "server/http/reply_head.h"

#include <microhttpd.h>
#include <sys/socket.h>
#include <time.h>

static void put_field(void *context, const char *name, const char *value)
{
    buffer_format(context, "%s: %s\r\n", name, value);
}

static void put_date(struct buffer *out)
{
    char date[40];
    time_t now = time(NULL);
    struct tm parts;
    if (gmtime_r(&now, &parts) && strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", &parts) > 0)
        put_field(out, "Date", date);
}

static void write_reply(struct buffer *out, const struct settings *settings, const struct problem *problem,
                        const struct raw_refusal *of)
{
    struct buffer body = buffer_new(BUFFER_PAGE);
    struct reply_head head = {.id = of->id, .origin = of->origin, .method = of->method, .last = true};
    reply_head_refuse(&head, problem, of->allow, of->instance);
    problem_write(&body, problem, of->id, of->instance);
    buffer_format(out, "HTTP/1.1 %u %s\r\n", head.status, MHD_get_reason_phrase_for(head.status));
    put_date(out);
    buffer_format(out, "Content-Length: %zu\r\n", body.length);
    reply_head_write(&head, settings, put_field, out);
    buffer_string(out, "\r\n");
    buffer_append(out, body.data, body.length);
    out->failed |= body.failed;
    buffer_free(&body);
}

bool raw_refusal_send(int descriptor, const struct settings *settings, const struct problem *problem,
                      const struct raw_refusal *of)
{
    struct buffer out = buffer_new(BUFFER_PAGE);
    write_reply(&out, settings, problem, of);
    bool sent = !out.failed && send(descriptor, out.data, out.length, MSG_DONTWAIT | MSG_NOSIGNAL) > 0;
    buffer_free(&out);
    return sent;
}
