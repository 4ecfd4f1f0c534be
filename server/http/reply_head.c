/* Heads of replies. */
#include "server/http/reply_head.h"

#include "server/coding/content_encoding.h"
#include "server/config/origin.h"
#include "server/config/settings.h"
#include "server/http/cors.h"

#include <stdio.h>
#include <string.h>

static const struct {
    enum problem_code code;
    const char *challenge, *accept_post, *accept_encoding;
} demands[] = {
    {PROBLEM_UNAUTHORIZED, .challenge = "Bearer realm=\"attentiond\""},
    {PROBLEM_UNSUPPORTED_TYPE, .accept_post = "application/json"},
    {PROBLEM_UNSUPPORTED_CODING, .accept_encoding = CONTENT_ENCODING_ACCEPTED},
};

/* Seconds; they differ from client to client so that not all come back at once. */
static unsigned find_retry(const char *id)
{
    return 1 + (unsigned char)id[0] % 3;
}

void reply_head_refuse(struct reply_head *head, const struct problem *problem, const char *allow, const char *instance)
{
    head->status = problem_status(problem->code);
    head->media_type = problem_media_type(instance);
    head->allow = head->status == 405 ? allow : NULL;
    if (head->status == 503 || head->status == 429)
        head->retry_after = problem->retry_after ? problem->retry_after : find_retry(head->id);
    for (size_t i = 0; i < sizeof demands / sizeof *demands; i++)
        if (demands[i].code == problem->code) {
            head->challenge = demands[i].challenge;
            head->accept_post = demands[i].accept_post;
            head->accept_encoding = demands[i].accept_encoding;
        }
}

struct fields {
    reply_head_put *put;
    void *context;
};

static void put(const struct fields *fields, const char *name, const char *value)
{
    if (value)
        fields->put(fields->context, name, value);
}

static void put_retry(const struct fields *fields, unsigned seconds)
{
    char value[16];
    if (seconds == 0)
        return;
    snprintf(value, sizeof value, "%u", seconds);
    put(fields, "Retry-After", value);
}

static void put_json_length(const struct fields *fields, size_t length)
{
    char value[24];
    if (length == 0)
        return;
    snprintf(value, sizeof value, "%zu", length);
    put(fields, REQUEST_HEAD_JSON_LENGTH, value);
}

static void put_varying(const struct fields *fields, bool origin, bool accept)
{
    char value[64];
    snprintf(value, sizeof value, "%s%sAccept-Encoding", origin ? "Origin, " : "", accept ? "Accept, " : "");
    put(fields, "Vary", value);
}

/* A page for browsers may use its own files and ask its own service, and nothing else. */
#define POLICY \
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " \
    "base-uri 'self'; form-action 'none'"

/* Which pages may show it in a frame; all may while nothing is said of it. */
static void put_policy(const struct fields *fields, const struct settings *settings, const char *media_type)
{
    char ancestors[ORIGIN_FRAMES_TEXT];
    char policy[sizeof POLICY + sizeof ancestors];
    if (!media_type || strncmp(media_type, "text/html", strlen("text/html")) != 0)
        return;
    origin_write_frames(&settings->frame_ancestor, ancestors, sizeof ancestors);
    snprintf(policy, sizeof policy, "%s%s", POLICY, ancestors);
    put(fields, "Content-Security-Policy", policy);
}

/* A refusal has no ETag. */
static const char *find_caching(const struct reply_head *head)
{
    if (!head->etag)
        return "no-store";
    return head->release ? "public, max-age=31536000, immutable" : "no-cache";
}

void reply_head_write(const struct reply_head *head, const struct settings *settings, reply_head_put *put_field,
                      void *context)
{
    const struct fields fields = {put_field, context};
    put(&fields, "Content-Type", head->media_type);
    put(&fields, "X-Request-Id", head->id);
    put(&fields, "X-Content-Type-Options", "nosniff");
    put(&fields, "Referrer-Policy", head->method == METHOD_POST ? NULL : "no-referrer");
    put(&fields, "Cache-Control", find_caching(head));
    put(&fields, "ETag", head->etag);
    put(&fields, "Allow", head->allow);
    put(&fields, "WWW-Authenticate", head->challenge);
    put(&fields, "Accept-Post", head->accept_post);
    put(&fields, "Accept-Encoding", head->accept_encoding);
    put(&fields, "Server-Timing", head->timing);
    put(&fields, "Connection", head->last ? "close" : NULL);
    put(&fields, "Content-Encoding", head->content_encoding);
    put_varying(&fields, cors_varies(settings), head->forms);
    put_policy(&fields, settings, head->media_type);
    put_retry(&fields, head->retry_after);
    put_json_length(&fields, head->json_length);
    cors_put_fields(settings, head->origin, head->method == METHOD_OPTIONS ? head->allow : NULL, put_field, context);
}
