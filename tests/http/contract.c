/* Replies against /openapi.json. */
#include "tests/http/contract.h"

#include "tests/api/validator.h"

#include <check.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BODY_MAX ((size_t)1 << 20) /* larger ones are more of the same */

/* As the program prints it, so that no service under test sees a request that its test did not make. */
static const json_t *description(void)
{
    static json_t *document;
    char *out = NULL;
    char *err = NULL;
    if (document)
        return document;
    ck_assert_int_eq(service_run((const char *const[]){"--print-openapi", NULL}, NULL, &out, &err), 0);
    document = json_loads(out, 0, NULL);
    ck_assert_ptr_nonnull(document);
    free(out);
    free(err);
    return document;
}

/* "/v1/examples/{name}" matches "/v1/examples/the-cat"; a query does not count. */
static bool path_matches(const char *pattern, const char *path)
{
    while (*pattern && *path && *path != '?') {
        if (*pattern == '{') {
            pattern += strcspn(pattern, "}") + 1;
            path += strcspn(path, "/?");
            continue;
        }
        if (*pattern++ != *path++)
            return false;
    }
    return *pattern == '\0' && (*path == '\0' || *path == '?');
}

static json_t *find_operation(const struct client_request *request)
{
    const char *path;
    json_t *item;
    char method[16] = "";
    const char *given = request->method ? request->method : request->body ? "post" : "get";
    for (size_t i = 0; given[i] && i + 1 < sizeof method; i++)
        method[i] = (char)tolower((unsigned char)given[i]);
    json_object_foreach(
        json_object_get(description(), "paths"), path,
        item) if (path_matches(path, request->path)) return json_object_get(item, strcmp(method, "head") == 0 ? "get"
                                                                                                              : method);
    return NULL;
}

static const json_t *resolve(const json_t *at)
{
    const char *reference = json_string_value(json_object_get(at, "$ref"));
    return reference ? validator_find(description(), reference) : at;
}

static void check_body(const struct client_request *request, const struct client_reply *reply, const json_t *content)
{
    char type[128] = "";
    char why[200] = "";
    client_header(reply, "Content-Type", type, sizeof type);
    type[strcspn(type, "; ")] = '\0';
    const json_t *medium = json_object_get(content, type);
    if (!medium)
        medium = json_object_get(content, "*/*"); /* whatever type it has */
    ck_assert_msg(medium != NULL, "%s: status %ld comes as %s, which is not described", request->path, reply->status,
                  type);
    const json_t *schema = json_object_get(medium, "schema");
    if (!schema || !strstr(type, "json"))
        return;
    json_t *body = client_json(reply);
    ck_assert_msg(validator_accepts(description(), schema, body, why),
                  "%s: the body of status %ld is not as described: %s", request->path, reply->status, why);
    json_decref(body);
}

void contract_check(const struct client_request *request, const struct client_reply *reply)
{
    char value[128];
    const json_t *operation = find_operation(request);
    if (reply->failure || reply->status == 0 || reply->length == 0 || reply->length > BODY_MAX ||
        client_header(reply, "Content-Encoding", value, sizeof value))
        return;
    if (!operation) {
        ck_assert_msg(reply->status >= 400, "%s is not described, and yet answered", request->path);
        return;
    }
    char status[8];
    snprintf(status, sizeof status, "%ld", reply->status);
    const json_t *responses = json_object_get(operation, "responses");
    const json_t *response = json_object_get(responses, status);
    response = resolve(response ? response : json_object_get(responses, "default"));
    ck_assert_msg(response != NULL, "%s: status %s is not described", request->path, status);
    check_body(request, reply, json_object_get(response, "content"));
}
