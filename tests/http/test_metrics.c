/* /metrics: valid, complete, true, and bounded whatever clients send. */
#include "tests/http/client.h"
#include "tests/http/exposition.h"
#include "tests/http/sample.h"
#include "tests/http/wire.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *metrics_suite(void);

#define PATIENCE 30.0

static struct service service;

static void start(void)
{
    service = service_start((const char *const[]){"--workers", "1", NULL});
}

static void stop(void)
{
    ck_assert_int_eq(service_stop(&service), 0);
}

static struct client_reply read_metrics(void)
{
    struct client_reply reply = client_get(&service, "/metrics");
    ck_assert_int_eq(reply.status, 200);
    return reply;
}

static double read_value(const char *sample)
{
    struct client_reply reply = read_metrics();
    double value = exposition_value(reply.body, sample);
    client_free(&reply);
    return value;
}

/* A sample is there when the request that it counts is: replies are counted after they were sent. */
static void await_value(const char *sample, double wanted)
{
    double end = service_now() + PATIENCE;
    double value = read_value(sample);
    while (value != wanted && service_now() < end)
        value = read_value(sample);
    ck_assert_msg(value == wanted, "%s %g, not %g", sample, value, wanted);
}

static void send_and_drop(const struct client_request *request)
{
    struct client_reply reply = client_send(&service, request);
    client_free(&reply);
}

START_TEST(text_is_valid_and_complete)
{
    static const char *const names[] = {"attnd_http_requests_total",
                                        "attnd_http_request_duration_seconds",
                                        "attnd_http_request_size_bytes",
                                        "attnd_http_response_size_bytes",
                                        "attnd_http_requests_in_flight",
                                        "attnd_connections_open",
                                        "attnd_queue_depth",
                                        "attnd_queue_wait_seconds",
                                        "attnd_rejected_total",
                                        "attnd_compute_duration_seconds",
                                        "attnd_elements_processed_total",
                                        "attnd_build_info",
                                        "attnd_draining",
                                        "process_cpu_seconds_total",
                                        "process_resident_memory_bytes",
                                        "process_open_fds",
                                        "process_max_fds",
                                        "process_start_time_seconds"};
    char value[128];
    send_and_drop(&(struct client_request){.path = "/v1/attention", .body = SAMPLE_CAT});
    struct client_reply reply = read_metrics();
    ck_assert_ptr_nonnull(client_header(&reply, "Content-Type", value, sizeof value));
    ck_assert_str_eq(value, "text/plain; version=0.0.4; charset=utf-8");
    ck_assert_uint_gt(exposition_check(reply.body), 60);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(value, sizeof value, "# TYPE %s ", names[i]);
        ck_assert_msg(strstr(reply.body, value) != NULL, "%s", names[i]);
    }
    client_free(&reply);
}
END_TEST

START_TEST(requests_are_counted)
{
    static const char good[] = "attnd_http_requests_total{route=\"/v1/attention\",method=\"POST\",code=\"200\"}";
    static const char bad[] = "attnd_http_requests_total{route=\"/v1/attention\",method=\"POST\",code=\"422\"}";
    static const char invalid[] = "attnd_rejected_total{reason=\"invalid-request\"}";
    send_and_drop(&(struct client_request){.path = "/v1/attention", .body = SAMPLE_CAT});
    send_and_drop(&(struct client_request){.path = "/v1/attention", .body = "{\"a\":1}"});
    double end = service_now() + PATIENCE;
    while ((isnan(read_value(good)) || isnan(read_value(bad))) && service_now() < end)
        service_pause();
    double good_before = read_value(good);
    double bad_before = read_value(bad);
    double invalid_before = read_value(invalid);
    double numbers_before = read_value("attnd_elements_processed_total");
    for (size_t i = 0; i < 3; i++)
        send_and_drop(&(struct client_request){.path = "/v1/attention", .body = SAMPLE_CAT});
    send_and_drop(&(struct client_request){.path = "/v1/attention", .body = "{\"a\":1}"});
    await_value(good, good_before + 3);
    await_value(bad, bad_before + 1);
    await_value(invalid, invalid_before + 1);
    ck_assert_double_gt(read_value("attnd_elements_processed_total"), numbers_before + 3 * 12 - 1);
    ck_assert_double_ge(read_value("attnd_compute_duration_seconds_count{op=\"/v1/attention\"}"), good_before + 3);
}
END_TEST

START_TEST(waiting_is_measured)
{
    char *body = sample_slow(1500);
    send_and_drop(&(struct client_request){.path = "/v1/attention", .body = body});
    double end = service_now() + PATIENCE;
    while (read_value("attnd_queue_wait_seconds_count") < 1 && service_now() < end)
        service_pause();
    ck_assert_double_ge(read_value("attnd_queue_wait_seconds_count"), 1);
    ck_assert_double_gt(read_value("attnd_queue_wait_seconds_sum"), 0);
    free(body);
}
END_TEST

START_TEST(connections_are_counted_and_forgotten)
{
    struct wire wires[5];
    await_value("attnd_connections_open", 1);
    for (size_t i = 0; i < 5; i++) {
        wires[i] = wire_open(&service);
        ck_assert(wire_send(&wires[i], "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"));
        ck_assert_int_eq(wire_receive(&wires[i], NULL, PATIENCE), 200);
    }
    await_value("attnd_connections_open", 6);
    for (size_t i = 0; i < 5; i++)
        wire_close(&wires[i]);
    await_value("attnd_connections_open", 1);
    await_value("attnd_http_requests_in_flight", 1);
    await_value("attnd_bytes_held", 0);
}
END_TEST

START_TEST(series_are_bounded)
{
    struct client_reply before = read_metrics();
    ck_assert_int_gt((int)exposition_check(before.body), 0);
    client_free(&before);
    send_and_drop(&(struct client_request){.method = "BREW0", .path = "/0"});
    send_and_drop(&(struct client_request){.path = "/0"});
    struct wire probe = wire_open(&service);
    ck_assert(wire_send(&probe, "GET /livez HTTP/1.1\r\nHost: h\r\n\r\n"));
    ck_assert_int_eq(wire_receive(&probe, NULL, PATIENCE), 200);
    before = read_metrics();
    client_free(&before);
    before = read_metrics();
    size_t samples = exposition_check(before.body);
    client_free(&before);
    for (int i = 0; i < 10000; i++) {
        char request[160];
        snprintf(request, sizeof request, "%s%d /%d HTTP/1.1\r\nHost: h%d.example\r\nX-Request-Id: r%d\r\n\r\n",
                 i % 2 ? "BREW" : "M", i, i, i, i);
        ck_assert(wire_send(&probe, request));
        ck_assert_int_eq(wire_receive(&probe, NULL, PATIENCE), 404);
    }
    wire_close(&probe);
    struct client_reply after = read_metrics();
    ck_assert_uint_eq(exposition_check(after.body), samples);
    ck_assert_ptr_null(strstr(after.body, "example"));
    client_free(&after);
}
END_TEST

START_TEST(metrics_can_be_switched_off)
{
    struct service quiet = service_start((const char *const[]){"--no-metrics", NULL});
    struct client_reply reply = client_get(&quiet, "/metrics");
    json_decref(client_problem(&reply, 404));
    client_free(&reply);
    ck_assert_int_eq(service_stop(&quiet), 0);
}
END_TEST

Suite *metrics_suite(void)
{
    Suite *suite = suite_create("metrics");
    TCase *tests = tcase_create("one service");
    tcase_add_unchecked_fixture(tests, start, stop);
    tcase_set_timeout(tests, 90);
    tcase_add_test(tests, text_is_valid_and_complete);
    tcase_add_test(tests, requests_are_counted);
    tcase_add_test(tests, waiting_is_measured);
    tcase_add_test(tests, connections_are_counted_and_forgotten);
    tcase_add_test(tests, series_are_bounded);
    tcase_add_test(tests, metrics_can_be_switched_off);
    suite_add_tcase(suite, tests);
    return suite;
}
