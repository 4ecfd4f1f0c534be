/* The description's promises, one by one: each example that it shows is answered, and each status that it declares is
 * produced, for each path. What a status takes is written here once; a status that is declared and not here fails. */
#include "tests/http/client.h"
#include "tests/http/wire.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

Suite *statuses_suite(void);

#define PATIENCE 60.0

static struct service plain, hasty, locked, limited, full, ending;
static struct wire held;
static char keys[64];
static json_t *description;

static void write_keys(void)
{
    snprintf(keys, sizeof keys, "/tmp/attentiond-keys-XXXXXX");
    int descriptor = mkstemp(keys);
    ck_assert_int_ge(descriptor, 0);
    ck_assert_int_eq(write(descriptor, "secret\n", 7), 7);
    close(descriptor);
}

static void start(void)
{
    write_keys();
    plain = service_start((const char *const[]){"--max-body", "64K", NULL});
    hasty = service_start((const char *const[]){"--body-timeout", "0.5", NULL});
    locked = service_start((const char *const[]){"--api-key-file", keys, NULL});
    limited = service_start((const char *const[]){"--rate-limit", "0.001", "--rate-burst", "1", NULL});
    full = service_start((const char *const[]){"--max-connections", "1", NULL});
    ending = service_start((const char *const[]){"--shutdown-delay", "600", NULL});
    held = wire_open(&full);
    ck_assert(wire_send(&held, "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"));
    ck_assert_int_eq(wire_receive(&held, NULL, PATIENCE), 200);
    service_signal(&ending, SIGTERM);
    ck_assert(service_logged(&ending, "draining", 1, PATIENCE));
    struct client_reply reply = client_get(&plain, "/openapi.json");
    description = client_json(&reply);
    client_free(&reply);
}

static void stop(void)
{
    wire_close(&held);
    service_signal(&ending, SIGTERM);
    ck_assert_int_eq(service_wait(&ending, PATIENCE), 3);
    service_clean(&ending);
    ck_assert_int_eq(service_stop(&full), 0);
    ck_assert_int_eq(service_stop(&limited), 0);
    ck_assert_int_eq(service_stop(&locked), 0);
    ck_assert_int_eq(service_stop(&hasty), 0);
    ck_assert_int_eq(service_stop(&plain), 0);
    unlink(keys);
    json_decref(description);
}

/* One operation of the description. */
struct operation {
    const char *path; /* with a name that there is, or is not */
    const json_t *item;
    char *body; /* of POST: an example */
};

static int send_request(const struct service *service, const struct operation *o, const char *header, const char *body)
{
    struct client_reply reply = client_send(
        service, &(struct client_request){.path = o->path, .headers = {header}, .body = o->body ? body : NULL});
    int status = (int)reply.status;
    client_free(&reply);
    return status;
}

static int send_good(const struct service *service, const struct operation *o, const char *header)
{
    return send_request(service, o, header, o->body);
}

static int send_bad(const struct operation *o, const char *body)
{
    return send_request(&plain, o, NULL, body);
}

static int send_unchanged(const struct operation *o)
{
    char tag[128] = "";
    char header[160];
    struct client_reply reply = client_get(&plain, o->path);
    client_header(&reply, "ETag", tag, sizeof tag);
    snprintf(header, sizeof header, "If-None-Match: %s", tag);
    client_free(&reply);
    return send_good(&plain, o, header);
}

static int send_half(const struct operation *o)
{
    char request[256];
    char *body = NULL;
    snprintf(request, sizeof request, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{", o->path);
    struct wire wire = wire_open(&hasty);
    ck_assert(wire_send(&wire, request));
    int status = wire_receive(&wire, &body, PATIENCE);
    wire_check_problem(&wire, body);
    free(body);
    wire_close(&wire);
    return status;
}

static int send_large(const struct operation *o)
{
    char *body = malloc(70000);
    ck_assert_ptr_nonnull(body);
    memset(body, ' ', 70000);
    body[69999] = '\0';
    int status = send_bad(o, body);
    free(body);
    return status;
}

static int send_long_target(const struct operation *o)
{
    char path[1400];
    memset(path, 'x', sizeof path);
    memcpy(path, o->path, strlen(o->path));
    path[strlen(o->path)] = '?';
    path[sizeof path - 1] = '\0';
    struct operation longer = {path, o->item, o->body};
    return send_good(&plain, &longer, NULL);
}

static int send_long_header(const struct operation *o)
{
    static char header[14000];
    memset(header, 'x', sizeof header - 1);
    memcpy(header, "X-Long: ", 8);
    return send_good(&plain, o, header);
}

/* The second of two in a row: one is all that this service takes. */
static int send_twice(const struct operation *o)
{
    send_good(&limited, o, NULL);
    return send_good(&limited, o, NULL);
}

static int send_unready(const struct operation *o)
{
    bool probe = strstr(o->path, "/ready") || strcmp(o->path, "/health") == 0;
    return send_good(probe ? &ending : &full, o, NULL);
}

static int send_unknown(const struct operation *o)
{
    char path[128];
    const char *slash = strrchr(o->path, '/');
    snprintf(path, sizeof path, "%.*s/nothing-of-the-kind", (int)(slash - o->path), o->path);
    struct operation unknown = {path, o->item, NULL};
    return send_good(&plain, &unknown, NULL);
}

/* Does what the status is for; what was answered, or 0 when there is no way here. */
static int produce(int status, const struct operation *o)
{
    switch (status) {
    case 200:
        return send_good(&plain, o, NULL);
    case 304:
        return send_unchanged(o);
    case 400:
        return send_bad(o, "{");
    case 401:
        return send_good(&locked, o, "Authorization: Bearer wrong");
    case 404:
        return send_unknown(o);
    case 406:
        return send_good(&plain, o, "Accept: image/png");
    case 408:
        return send_half(o);
    case 413:
        return send_large(o);
    case 414:
        return send_long_target(o);
    case 415:
        return send_good(&plain, o, "Content-Type: image/png");
    case 417:
        return send_good(&plain, o, "Expect: magic");
    case 422:
        return send_bad(o, "{\"unknown\":1}");
    case 429:
        return send_twice(o);
    case 431:
        return send_long_header(o);
    case 503:
        return send_unready(o);
    default:
        return 0;
    }
}

static char *find_example(const json_t *item)
{
    json_t *content = json_object_get(json_object_get(item, "requestBody"), "content");
    json_t *examples = json_object_get(json_object_get(content, "application/json"), "examples");
    void *first = json_object_iter(examples);
    return first ? json_dumps(json_object_get(json_object_iter_value(first), "value"), JSON_COMPACT) : NULL;
}

static void check_statuses(const struct operation *o)
{
    const char *status;
    json_t *response;
    json_object_foreach(json_object_get(o->item, "responses"), status, response)
    {
        int wanted = atoi(status);
        int got = wanted ? produce(wanted, o) : 0;
        ck_assert_msg(got == wanted, "%s: %s is declared, %d came", o->path, status, got);
    }
}

/* A path that ends with {name}, with one that there is. */
static void fill_path(char *out, size_t size, const char *pattern)
{
    const char *name = strncmp(pattern, "/problems", 9) == 0 ? "timeout"
                       : strncmp(pattern, "/web", 4) == 0    ? "index.html"
                                                             : "the-cat";
    snprintf(out, size, "%.*s%s", (int)strcspn(pattern, "{"), pattern, strchr(pattern, '{') ? name : "");
}

START_TEST(each_declared_status_is_produced)
{
    const char *pattern;
    const char *method;
    json_t *operations;
    json_t *item;
    size_t count = 0;
    json_object_foreach(json_object_get(description, "paths"), pattern, operations)
    {
        json_object_foreach(operations, method, item)
        {
            char path[128];
            fill_path(path, sizeof path, pattern);
            struct operation operation = {path, item, find_example(item)};
            if (strcmp(method, "get") != 0 && !operation.body) /* whatever the body */
                operation.body = strdup("{}");
            check_statuses(&operation);
            free(operation.body);
            count++;
        }
    }
    ck_assert_uint_ge(count, 14);
}
END_TEST

static size_t replay(const char *path, json_t *item)
{
    const char *name;
    json_t *example;
    json_t *content = json_object_get(json_object_get(item, "requestBody"), "content");
    json_t *examples = json_object_get(json_object_get(content, "application/json"), "examples");
    json_object_foreach(examples, name, example)
    {
        char *body = json_dumps(json_object_get(example, "value"), JSON_COMPACT);
        struct client_reply reply = client_post(&plain, path, body);
        ck_assert_msg(reply.status == 200, "%s, example %s: %ld %s", path, name, reply.status, reply.body);
        client_free(&reply);
        free(body);
    }
    return json_object_size(examples);
}

START_TEST(each_example_is_answered)
{
    const char *path;
    json_t *operations;
    size_t count = 0;
    json_object_foreach(json_object_get(description, "paths"), path, operations) count +=
        replay(path, json_object_get(operations, "post"));
    ck_assert_uint_ge(count, 100);
}
END_TEST

START_TEST(each_path_that_is_served_is_described)
{
    size_t at;
    json_t *link;
    struct client_reply reply = client_get(&plain, "/");
    json_t *root = client_json(&reply);
    json_array_foreach(json_object_get(root, "links"), at, link)
    {
        const char *path = json_string_value(json_object_get(link, "href"));
        const char *methods = json_string_value(json_object_get(link, "methods"));
        const json_t *item = json_object_get(json_object_get(description, "paths"), path);
        ck_assert_msg(!strstr(methods, "GET") == !json_object_get(item, "get"), "GET %s", path);
        ck_assert_msg(!strstr(methods, "POST") == !json_object_get(item, "post"), "POST %s", path);
    }
    ck_assert_uint_eq(at, json_object_size(json_object_get(description, "paths")));
    json_decref(root);
    client_free(&reply);
}
END_TEST

Suite *statuses_suite(void)
{
    Suite *suite = suite_create("statuses");
    TCase *tests = tcase_create("the description");
    tcase_add_unchecked_fixture(tests, start, stop);
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, each_declared_status_is_produced);
    tcase_add_test(tests, each_example_is_answered);
    tcase_add_test(tests, each_path_that_is_served_is_described);
    suite_add_tcase(suite, tests);
    return suite;
}
