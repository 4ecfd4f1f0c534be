/* An HTTP client for the service under test. */
#include "tests/http/client.h"

#include "tests/http/contract.h"

#include <check.h>
#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

#define PATIENCE_SECONDS 120L

struct bytes {
    char *data;
    size_t length;
};

static size_t collect(char *data, size_t size, size_t count, void *context)
{
    struct bytes *bytes = context;
    size_t more = size * count;
    char *grown = realloc(bytes->data, bytes->length + more + 1);
    if (!grown)
        return 0;
    memcpy(grown + bytes->length, data, more);
    bytes->data = grown;
    bytes->length += more;
    grown[bytes->length] = '\0';
    return more;
}

static struct curl_slist *list_headers(const struct client_request *request)
{
    struct curl_slist *list = NULL;
    for (size_t i = 0; i < CLIENT_HEADERS_MAX && request->headers[i]; i++)
        list = curl_slist_append(list, request->headers[i]);
    if (request->chunked)
        list = curl_slist_append(list, "Transfer-Encoding: chunked");
    return list;
}

static void set_body(CURL *curl, const struct client_request *request)
{
    size_t length = request->length ? request->length : strlen(request->body);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request->body);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)length);
}

static void set_tls(CURL *curl, const struct client_request *request)
{
    struct curl_blob authority = {
        .data = (void *)(size_t)request->authority, .len = strlen(request->authority), .flags = CURL_BLOB_COPY};
    curl_easy_setopt(curl, CURLOPT_CAINFO_BLOB, &authority);
    curl_easy_setopt(curl, CURLOPT_SSLVERSION, request->tls_version);
}

static void set_request(CURL *curl, const struct service *service, const struct client_request *request)
{
    char url[2048];
    snprintf(url, sizeof url, "http%s://127.0.0.1:%u%s", request->authority ? "s" : "", service->port, request->path);
    if (request->authority)
        set_tls(curl, request);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, PATIENCE_SECONDS);
    if (request->body)
        set_body(curl, request);
    if (request->method && strcmp(request->method, "HEAD") == 0)
        curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
    else if (request->method)
        curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request->method);
}

struct client_reply client_send(const struct service *service, const struct client_request *request)
{
    struct bytes head = {0};
    struct bytes body = {0};
    struct client_reply reply = {0};
    CURL *curl = curl_easy_init();
    ck_assert_ptr_nonnull(curl);
    struct curl_slist *headers = list_headers(request);
    set_request(curl, service, request);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, collect);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &body);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, collect);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, &head);
    reply.failure = (int)curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &reply.status);
    curl_easy_getinfo(curl, CURLINFO_TOTAL_TIME, &reply.seconds);
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
    reply.head = head.data ? head.data : strdup("");
    reply.body = body.data ? body.data : strdup("");
    reply.length = body.length;
    contract_check(request, &reply);
    return reply;
}

struct client_reply client_get(const struct service *service, const char *path)
{
    return client_send(service, &(struct client_request){.path = path});
}

struct client_reply client_post(const struct service *service, const char *path, const char *body)
{
    return client_send(service, &(struct client_request){.path = path, .body = body});
}

void client_free(struct client_reply *reply)
{
    free(reply->head);
    free(reply->body);
    *reply = (struct client_reply){0};
}

/* The start of the value, in the last head that was received (before it may stand "100 Continue"). */
static const char *find_header(const char *head, const char *name)
{
    size_t length = strlen(name);
    const char *found = NULL;
    for (const char *line = head; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        if (strncasecmp(line, name, length) == 0 && line[length] == ':')
            found = line + length + 1 + strspn(line + length + 1, " ");
    return found;
}

char *client_header(const struct client_reply *reply, const char *name, char *out, size_t size)
{
    const char *value = find_header(reply->head, name);
    if (!value)
        return NULL;
    snprintf(out, size, "%.*s", (int)strcspn(value, "\r\n"), value);
    return out;
}

json_t *client_json(const struct client_reply *reply)
{
    json_error_t error;
    json_t *root = json_loadb(reply->body, reply->length, JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(root != NULL, "%s in: %.200s", error.text, reply->body);
    return root;
}

static void check_string(json_t *root, const char *name)
{
    const char *value = json_string_value(json_object_get(root, name));
    ck_assert_msg(value && *value, "a problem has a %s", name);
}

json_t *client_problem(const struct client_reply *reply, long status)
{
    char value[256];
    ck_assert_msg(reply->status == status, "status %ld, not %ld: %.300s", reply->status, status, reply->body);
    ck_assert_ptr_nonnull(client_header(reply, "Content-Type", value, sizeof value));
    ck_assert_str_eq(value, "application/problem+json");
    json_t *root = client_json(reply);
    check_string(root, "title");
    check_string(root, "detail");
    check_string(root, "code");
    check_string(root, "request_id");
    ck_assert_int_eq(json_integer_value(json_object_get(root, "status")), status);
    ck_assert_int_eq(strncmp(json_string_value(json_object_get(root, "type")), "/problems/", 10), 0);
    ck_assert_ptr_nonnull(client_header(reply, "X-Request-Id", value, sizeof value));
    ck_assert_str_eq(value, json_string_value(json_object_get(root, "request_id")));
    return root;
}
