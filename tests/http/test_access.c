/* Who may ask, how often, by how many connections. */
#include "tests/http/client.h"
#include "tests/http/sample.h"
#include "tests/http/wire.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

Suite *access_suite(void);

#define PATIENCE 30.0

static char path[64];

static void write_keys(const char *text)
{
    FILE *file = fopen(path, "we");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

static void make_keys(void)
{
    snprintf(path, sizeof path, "/tmp/attentiond-keys-XXXXXX");
    int descriptor = mkstemp(path);
    ck_assert_int_ge(descriptor, 0);
    close(descriptor);
    write_keys("first-secret\nsecond-secret\n");
}

static void remove_keys(void)
{
    unlink(path);
}

static long ask(const struct service *service, const char *header)
{
    struct client_reply reply = client_send(
        service, &(struct client_request){.path = "/v1/attention", .headers = {header}, .body = SAMPLE_CAT});
    long status = reply.status;
    client_free(&reply);
    return status;
}

START_TEST(a_key_is_needed_and_any_of_them_will_do)
{
    char value[64];
    struct service service = service_start((const char *const[]){"--api-key-file", path, NULL});
    struct client_reply reply = client_post(&service, "/v1/attention", SAMPLE_CAT);
    json_decref(client_problem(&reply, 401));
    ck_assert_ptr_nonnull(client_header(&reply, "WWW-Authenticate", value, sizeof value));
    ck_assert_int_eq(strncmp(value, "Bearer", 6), 0);
    ck_assert_ptr_nonnull(client_header(&reply, "Access-Control-Allow-Origin", value, sizeof value));
    client_free(&reply);
    ck_assert_int_eq(ask(&service, "Authorization: Bearer first-secret"), 200);
    ck_assert_int_eq(ask(&service, "Authorization: Bearer second-secret"), 200);
    ck_assert_int_eq(ask(&service, "X-API-Key: second-secret"), 200);
    ck_assert_int_eq(ask(&service, "Authorization: Bearer third-secret"), 401);
    ck_assert_int_eq(ask(&service, "Authorization: Basic first-secret"), 401);
    ck_assert_int_eq(ask(&service, "X-API-Key: first"), 401);
    char *log = service_log(&service);
    ck_assert_ptr_null(strstr(log, "secret"));
    free(log);
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST

START_TEST(a_key_is_asked_for_before_the_body)
{
    struct service service = service_start((const char *const[]){"--api-key-file", path, NULL});
    struct wire wire = wire_open(&service);
    ck_assert(wire_send(&wire, "POST /v1/attention HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
                               "Content-Length: 100\r\n\r\n"));
    ck_assert_int_eq(wire_receive(&wire, NULL, PATIENCE), 401);
    wire_close(&wire);
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST

START_TEST(probes_preflight_and_descriptions_are_open)
{
    static const struct {
        const char *method, *path;
        long status;
    } rows[] = {{"GET", "/livez", 200},        {"GET", "/readyz", 200},
                {"GET", "/health", 200},       {"GET", "/metrics", 200},
                {"HEAD", "/livez", 200},       {"OPTIONS", "/v1/attention", 204},
                {"GET", "/openapi.json", 200}, {"GET", "/", 200},
                {"GET", "/v1/info", 401},      {"GET", "/nope", 401},
                {"GET", "/v1/attention", 401}};
    struct service service = service_start((const char *const[]){"--api-key-file", path, NULL});
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct client_reply reply = client_send(
            &service,
            &(struct client_request){.method = rows[i].method,
                                     .path = rows[i].path,
                                     .headers = {"Origin: https://page.example",
                                                 "Access-Control-Request-Headers: authorization, x-made-up"}});
        ck_assert_msg(reply.status == rows[i].status, "%s %s: %ld", rows[i].method, rows[i].path, reply.status);
        client_free(&reply);
    }
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST

static void await_status(const struct service *service, const char *header, long wanted)
{
    double end = service_now() + PATIENCE;
    long status = ask(service, header);
    while (status != wanted && service_now() < end) {
        service_pause();
        status = ask(service, header);
    }
    ck_assert_int_eq(status, wanted);
}

START_TEST(keys_are_read_again_on_sighup)
{
    struct service service = service_start((const char *const[]){"--api-key-file", path, NULL});
    write_keys("third-secret\n");
    service_signal(&service, SIGHUP);
    await_status(&service, "X-API-Key: third-secret", 200);
    ck_assert_int_eq(ask(&service, "X-API-Key: first-secret"), 401);
    write_keys("# none\n");
    service_signal(&service, SIGHUP);
    ck_assert(service_logged(&service, "it has no key", 1, PATIENCE));
    ck_assert_int_eq(ask(&service, "X-API-Key: third-secret"), 200);
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST

START_TEST(missing_key_file_is_an_error)
{
    char *out = NULL;
    char *err = NULL;
    const char *const flags[] = {"--port", "0", "--api-key-file", "/nonexistent/keys", NULL};
    ck_assert_int_eq(service_run(flags, NULL, &out, &err), 1);
    ck_assert_ptr_nonnull(strstr(out, "/nonexistent/keys"));
    free(out);
    free(err);
    const char *const check[] = {"--check-config", "--api-key-file", "/nonexistent/keys", NULL};
    ck_assert_int_eq(service_run(check, NULL, &out, &err), 2);
    ck_assert_ptr_nonnull(strstr(err, "/nonexistent/keys"));
    free(out);
    free(err);
    const char *const good[] = {"--check-config", "--api-key-file", path, NULL};
    ck_assert_int_eq(service_run(good, NULL, &out, &err), 0);
    free(out);
    free(err);
}
END_TEST

/* One request in two seconds is slower than any machine sends them. */
START_TEST(rate_is_limited_with_429)
{
    char value[32];
    size_t answered = 0;
    bool refused = false;
    double end = service_now() + PATIENCE;
    struct service service = service_start((const char *const[]){"--rate-limit", "0.5", "--rate-burst", "5", NULL});
    while (!refused && service_now() < end) {
        struct client_reply reply = client_post(&service, "/v1/attention", SAMPLE_CAT);
        refused = reply.status == 429;
        if (refused) {
            json_decref(client_problem(&reply, 429));
            ck_assert_ptr_nonnull(client_header(&reply, "Retry-After", value, sizeof value));
            ck_assert_int_ge(atoi(value), 1);
        } else {
            ck_assert_int_eq(reply.status, 200);
            answered++;
        }
        client_free(&reply);
        struct client_reply probe = client_get(&service, "/livez");
        ck_assert_int_eq(probe.status, 200);
        client_free(&probe);
        struct client_reply preflight =
            client_send(&service, &(struct client_request){.method = "OPTIONS", .path = "/v1/attention"});
        ck_assert_int_eq(preflight.status, 204);
        client_free(&preflight);
    }
    ck_assert(refused);
    ck_assert_uint_ge(answered, 5);
    await_status(&service, "X-Any: 1", 200);
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST

START_TEST(connections_of_one_client_are_limited_with_503)
{
    struct wire wires[3];
    struct service service = service_start((const char *const[]){"--max-client-connections", "3", NULL});
    for (size_t i = 0; i < 3; i++) {
        wires[i] = wire_open(&service);
        ck_assert(wire_send(&wires[i], "GET /v1/info HTTP/1.1\r\nHost: x\r\n\r\n"));
        ck_assert_int_eq(wire_receive(&wires[i], NULL, PATIENCE), 200);
    }
    struct wire excess = wire_open(&service);
    ck_assert(wire_send(&excess, "GET /v1/info HTTP/1.1\r\nHost: x\r\n"));
    for (size_t i = 0; i < 3; i++) { /* one too many does not take their turn from those that were there */
        ck_assert(wire_send(&wires[i], "GET /v1/info HTTP/1.1\r\nHost: x\r\n\r\n"));
        ck_assert_int_eq(wire_receive(&wires[i], NULL, PATIENCE), 200);
    }
    char *body = NULL;
    ck_assert(wire_send(&excess, "\r\n"));
    ck_assert_int_eq(wire_receive(&excess, &body, PATIENCE), 503);
    wire_check_problem(&excess, body);
    ck_assert_ptr_nonnull(strstr(body, "\"code\":\"too-many-client-connections\""));
    ck_assert(wire_ended(&excess));
    free(body);
    wire_close(&excess);
    for (size_t i = 0; i < 3; i++)
        wire_close(&wires[i]);
    await_status(&service, "X-Any: 1", 200);
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST

START_TEST(traces_are_logged)
{
    struct service service = service_start(NULL);
    ck_assert_int_eq(ask(&service, "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"), 200);
    ck_assert(service_logged(&service, "\"trace_id\":\"4bf92f3577b34da6a3ce929d0e0e4736\"", 1, PATIENCE));
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST

START_TEST(settings_are_printed_with_their_sources)
{
    char *out = NULL;
    char *err = NULL;
    const char *const flags[] = {"--print-config", "--max-body",        "2M", "--cors-origin", "https://a.example",
                                 "--cors-origin",  "https://b.example", NULL};
    ck_assert_int_eq(service_run(flags, (const char *const[]){"ATTND_QUEUE=9", NULL}, &out, &err), 0);
    ck_assert_ptr_nonnull(strstr(out, "max-body = 2M  # flag\n"));
    ck_assert_ptr_nonnull(strstr(out, "queue = 9  # environment\n"));
    ck_assert_ptr_nonnull(strstr(out, "listen = 127.0.0.1  # default\n"));
    ck_assert_ptr_nonnull(strstr(out, "cors-origin = https://a.example,https://b.example  # flag\n"));
    free(out);
    free(err);
}
END_TEST

Suite *access_suite(void)
{
    Suite *suite = suite_create("access");
    TCase *tests = tcase_create("a service each");
    tcase_add_checked_fixture(tests, make_keys, remove_keys);
    tcase_set_timeout(tests, 90);
    tcase_add_test(tests, a_key_is_needed_and_any_of_them_will_do);
    tcase_add_test(tests, a_key_is_asked_for_before_the_body);
    tcase_add_test(tests, probes_preflight_and_descriptions_are_open);
    tcase_add_test(tests, keys_are_read_again_on_sighup);
    tcase_add_test(tests, missing_key_file_is_an_error);
    tcase_add_test(tests, rate_is_limited_with_429);
    tcase_add_test(tests, connections_of_one_client_are_limited_with_503);
    tcase_add_test(tests, traces_are_logged);
    tcase_add_test(tests, settings_are_printed_with_their_sources);
    suite_add_tcase(suite, tests);
    return suite;
}
