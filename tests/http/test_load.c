/* More than the service can do, and clients that go away: every request is answered or cleanly refused, and nothing is
 * left behind. */
#include "tests/http/client.h"
#include "tests/http/gauge.h"
#include "tests/http/sample.h"
#include "tests/http/wire.h"

#include <check.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

Suite *load_suite(void);

#define PATIENCE 90.0

static char *write_slow(size_t n)
{
    return sample_request(sample_slow(n));
}

/* The same as a batch of one. */
static char *write_slow_batch(size_t n)
{
    static const char *const names[] = {"q", "k", "v"};
    char *body = sample_slow(n);
    json_t *root = json_loads(body, 0, NULL);
    ck_assert_ptr_nonnull(root);
    for (size_t i = 0; i < 3; i++)
        json_object_set_new(root, names[i], json_pack("[[O]]", json_object_get(root, names[i])));
    free(body);
    body = json_dumps(root, JSON_COMPACT);
    json_decref(root);
    return sample_request(body);
}

/* Far above what a probe takes, far below what the work before it takes. */
static void check_probes(const struct service *service)
{
    for (size_t i = 0; i < 50; i++) {
        struct client_reply live = client_get(service, "/livez");
        ck_assert_int_eq(live.status, 200);
        ck_assert_double_lt(live.seconds, 10);
        client_free(&live);
    }
}

/* Behind one that takes very long, one request and a batch of one wait alike, and are refused alike. */
START_TEST(full_queue_is_503_with_retry_after_and_liveness_stays)
{
    enum { COUNT = 12 };
    static struct wire wires[COUNT];
    int answered = 0;
    int refused = 0;
    struct service service =
        service_start((const char *const[]){"--workers", "1", "--queue", "2", "--deadline", "600", NULL});
    char *first = write_slow(60000);
    char *request = _i ? write_slow_batch(6000) : write_slow(6000);
    struct wire running = wire_open(&service);
    ck_assert(wire_send(&running, first));
    gauge_await(&service, "\nattnd_workers_busy 1\n");
    for (size_t i = 0; i < COUNT; i++) {
        wires[i] = wire_open(&service);
        ck_assert(wire_send(&wires[i], request));
    }
    check_probes(&service);
    wire_abort(&running);
    for (size_t i = 0; i < COUNT; i++) {
        char *body = NULL;
        int status = wire_receive(&wires[i], &body, PATIENCE);
        ck_assert_msg(status == 200 || status == 503, "status %d", status);
        ck_assert(status == 200 || strstr(body, "\"code\":\"queue-full\""));
        ck_assert(status == 200 || strstr(wires[i].head, "\r\nRetry-After: "));
        answered += status == 200;
        refused += status == 503;
        free(body);
        wire_close(&wires[i]);
    }
    ck_assert_int_ge(answered, 2);
    ck_assert_int_ge(refused, 1);
    struct client_reply after = client_post(&service, "/v1/attention", SAMPLE_CAT);
    ck_assert_int_eq(after.status, 200);
    client_free(&after);
    free(first);
    free(request);
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST

START_TEST(one_connection_too_many_is_503_and_probes_are_answered)
{
    static struct wire wires[4];
    struct service service = service_start((const char *const[]){"--max-connections", "4", NULL});
    for (size_t i = 0; i < 4; i++) {
        wires[i] = wire_open(&service);
        ck_assert(wire_send(&wires[i], "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"));
        ck_assert_int_eq(wire_receive(&wires[i], NULL, PATIENCE), 200);
    }
    struct client_reply reply = client_post(&service, "/v1/attention", SAMPLE_CAT);
    json_t *problem = client_problem(&reply, 503);
    ck_assert_str_eq(json_string_value(json_object_get(problem, "code")), "too-many-connections");
    json_decref(problem);
    client_free(&reply);
    struct client_reply probe = client_get(&service, "/readyz");
    ck_assert_int_eq(probe.status, 200);
    client_free(&probe);
    struct wire excess = wire_open(&service);
    ck_assert(wire_send(&excess, "GET /v1/info HTTP/1.1\r\nHost: x\r\n\r\n"));
    ck_assert_int_eq(wire_receive(&excess, NULL, PATIENCE), 503);
    ck_assert(wire_ended(&excess)); /* else its client would be refused on it for ever */
    wire_close(&excess);
    for (size_t i = 0; i < 4; i++)
        wire_close(&wires[i]);
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST

START_TEST(client_that_went_away_frees_its_worker)
{
    struct service service = service_start((const char *const[]){"--workers", "1", "--deadline", "600", NULL});
    char *request = write_slow(60000);
    struct wire wire = wire_open(&service);
    ck_assert(wire_send(&wire, request));
    gauge_await(&service, "\nattnd_workers_busy 1\n");
    wire_abort(&wire);
    char *body = sample_slow(600);
    struct client_reply reply = client_post(&service, "/v1/attention", body);
    ck_assert_int_eq(reply.status, 200);
    ck_assert(service_logged(&service, "\"msg\":\"request aborted\"", 1, PATIENCE));
    client_free(&reply);
    free(body);
    free(request);
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST

/* Projected, a row of one number is as wide as the request likes: much work, and much memory, from 30 kB. */
static char *write_wide(size_t rows, size_t width)
{
    json_t *x = json_array();
    json_t *w = json_array();
    for (size_t i = 0; i < rows; i++)
        json_array_append_new(x, json_pack("[i]", 1));
    for (size_t i = 0; i < width; i++)
        json_array_append_new(w, json_integer(1));
    json_t *root = json_pack("{sos[o]s[O]s[O]s[s]}", "x", x, "w_q", w, "w_k", w, "w_v", w, "include", "log_sum_exp");
    ck_assert_ptr_nonnull(root);
    char *body = json_dumps(root, JSON_COMPACT);
    json_decref(root);
    return sample_request(body);
}

static bool has_reply(const struct wire *wire)
{
    return poll(&(struct pollfd){.fd = wire->descriptor, .events = POLLIN}, 1, 0) == 1;
}

/* What takes milliseconds does not wait for the end of what takes seconds; what only looks as if it did, does: beside
 * the other it would hold memory that no limit counts. */
START_TEST(the_worker_of_a_large_request_answers_what_is_brief_and_nothing_else)
{
    struct service service = service_start((const char *const[]){"--workers", "1", "--deadline", "600", NULL});
    struct wire large = wire_open(&service);
    struct wire wide = wire_open(&service);
    char *first = write_slow(20000);
    char *second = write_wide(3000, 2000);
    char *brief = sample_square(400, 48, "\"include\":[\"output\"]");
    ck_assert_uint_gt(strlen(brief), 256 * 1024);
    ck_assert(wire_send(&large, first));
    gauge_await(&service, "\nattnd_workers_busy 1\n");
    ck_assert(wire_send(&wide, second));
    struct client_reply reply = client_post(&service, "/v1/attention", brief);
    ck_assert_int_eq(reply.status, 200);
    ck_assert(!has_reply(&large));
    ck_assert_int_eq(wire_receive(&large, NULL, PATIENCE), 200);
    ck_assert(!has_reply(&wide));
    ck_assert_int_eq(wire_receive(&wide, NULL, PATIENCE), 200);
    client_free(&reply);
    wire_close(&large);
    wire_close(&wide);
    free(first);
    free(second);
    free(brief);
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST

/* A client that crashes at each stage of its request: after a part of the head, the head, a part of the body, while its
 * work waits, in the middle of its reply. */
START_TEST(clients_that_crash_leave_nothing_behind)
{
    enum { STAGES = 5, TIMES = 20 };
    char *slow = write_slow(3000);
    char *large = sample_request(sample_square(500, 2, "\"include\":[\"steps\"]"));
    const char *requests[STAGES] = {
        "POST /v1/att", "POST /v1/attention HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n",
        "POST /v1/attention HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{}", slow, large};
    struct service service = service_start((const char *const[]){"--workers", "1", NULL});
    for (size_t i = 0; i < TIMES * STAGES; i++) {
        struct wire wire = wire_open(&service);
        ck_assert(wire_send(&wire, requests[i % STAGES]));
        if (i % STAGES == STAGES - 1)
            ck_assert_uint_eq(wire_take(&wire, 1000, PATIENCE), 1000);
        wire_abort(&wire);
    }
    gauge_await(&service, "\nattnd_connections_open 1\n");
    gauge_await(&service, "\nattnd_http_requests_in_flight 1\n");
    gauge_await(&service, "\nattnd_workers_busy 0\n");
    gauge_await(&service, "\nattnd_bytes_held 0\n");
    free(slow);
    free(large);
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST

/* Killed without a word, it can start again at the same port at once. */
START_TEST(the_port_is_free_after_a_crash)
{
    char port[16];
    struct service first = service_start(NULL);
    struct wire wire = wire_open(&first);
    ck_assert(wire_send(&wire, "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"));
    ck_assert_int_eq(wire_receive(&wire, NULL, PATIENCE), 200);
    snprintf(port, sizeof port, "%u", first.port);
    service_signal(&first, SIGKILL);
    ck_assert_int_eq(service_wait(&first, PATIENCE), -1);
    service_clean(&first);
    struct service second = service_start((const char *const[]){"--port", port, NULL});
    ck_assert_uint_eq(second.port, first.port);
    struct client_reply reply = client_get(&second, "/livez");
    ck_assert_int_eq(reply.status, 200);
    client_free(&reply);
    wire_close(&wire);
    ck_assert_int_eq(service_stop(&second), 0);
}
END_TEST

/* Who says that nothing more comes still wants the reply; only of work that takes long it is given up. */
START_TEST(half_closed_connections_are_answered)
{
    struct service service = service_start(NULL);
    char *tiny = sample_request(strdup(SAMPLE_CAT));
    for (size_t i = 0; i < 60; i++) {
        struct wire wire = wire_open(&service);
        ck_assert(wire_send(&wire, i % 2 ? tiny : "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"));
        shutdown(wire.descriptor, SHUT_WR);
        ck_assert_int_eq(wire_receive(&wire, NULL, PATIENCE), 200);
        wire_close(&wire);
    }
    free(tiny);
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST

Suite *load_suite(void)
{
    Suite *suite = suite_create("load");
    TCase *tests = tcase_create("a service each");
    tcase_set_timeout(tests, 180);
    tcase_add_loop_test(tests, full_queue_is_503_with_retry_after_and_liveness_stays, 0, 2);
    tcase_add_test(tests, one_connection_too_many_is_503_and_probes_are_answered);
    tcase_add_test(tests, client_that_went_away_frees_its_worker);
    tcase_add_test(tests, the_worker_of_a_large_request_answers_what_is_brief_and_nothing_else);
    tcase_add_test(tests, clients_that_crash_leave_nothing_behind);
    tcase_add_test(tests, the_port_is_free_after_a_crash);
    tcase_add_test(tests, half_closed_connections_are_answered);
    suite_add_tcase(suite, tests);
    return suite;
}
