/* Clients that take their time: each wait has an end of its own. */
#include "tests/http/client.h"
#include "tests/http/sample.h"
#include "tests/http/wire.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

Suite *deadlines_suite(void);

#define PATIENCE 30.0 /* far more than any deadline below, for a loaded machine */
#define HEAD 0.5
#define BODY 0.6
#define SOON 0.3  /* less than each of them */
#define TICK 0.01 /* the service's deadlines are whole milliseconds */

static struct service service;

static void start(void)
{
    service = service_start(
        (const char *const[]){"--header-timeout", "0.5", "--body-timeout", "0.6", "--idle-timeout", "0.7", NULL});
}

static void stop(void)
{
    ck_assert_int_eq(service_stop(&service), 0);
}

static void check_alive(void)
{
    struct client_reply reply = client_get(&service, "/livez");
    ck_assert_int_eq(reply.status, 200);
    client_free(&reply);
}

/* A connection on which this was sent long before its first deadline. */
static struct wire open_and_send(const char *text)
{
    for (double end = service_now() + PATIENCE; service_now() < end;) {
        double begun = service_now();
        struct wire wire = wire_open(&service);
        bool sent = wire_send(&wire, text);
        if (service_now() - begun < SOON) {
            ck_assert(sent);
            return wire;
        }
        wire_close(&wire);
    }
    ck_abort_msg("this machine takes more than %g seconds to connect and send", SOON);
}

/* Sends a byte whenever the service is looked at, so that it is never silent; returns the seconds until it was cut. */
static double drip_until_closed(struct wire *wire, double begun, const char *byte)
{
    while (service_now() - begun < PATIENCE) {
        double pause = service_now() + 0.02;
        if (!wire_send(wire, byte))
            return service_now() - begun;
        while (service_now() < pause)
            if (wire_closed(wire, pause - service_now()))
                return service_now() - begun;
    }
    return PATIENCE;
}

START_TEST(dripping_header_is_cut)
{
    double begun = service_now();
    struct wire wire = open_and_send("GET /livez HTTP/1.1\r\nHost: x\r\nA: ");
    double seconds = drip_until_closed(&wire, begun, "x");
    ck_assert_double_lt(seconds, PATIENCE);
    ck_assert_double_gt(seconds, HEAD - TICK);
    wire_close(&wire);
    check_alive();
}
END_TEST

START_TEST(unfinished_header_gets_408)
{
    char *body = NULL;
    struct wire wire = open_and_send("GET /livez HTTP/1.1\r\nHost");
    ck_assert_int_eq(wire_receive(&wire, &body, PATIENCE), 408);
    ck_assert_ptr_nonnull(strstr(body, "\"status\":408"));
    wire_check_problem(&wire, body);
    free(body);
    wire_close(&wire);
}
END_TEST

START_TEST(silent_connection_is_closed_without_a_word)
{
    struct wire wire = wire_open(&service);
    ck_assert_int_eq(wire_receive(&wire, NULL, PATIENCE), 0);
    wire_close(&wire);
}
END_TEST

START_TEST(idle_connection_is_closed_without_a_word)
{
    struct wire wire = open_and_send("GET /livez HTTP/1.1\r\nHost: x\r\n\r\n");
    ck_assert_int_eq(wire_receive(&wire, NULL, PATIENCE), 200);
    ck_assert_int_eq(wire_receive(&wire, NULL, PATIENCE), 0);
    wire_close(&wire);
}
END_TEST

START_TEST(dripping_body_is_cut)
{
    double begun = service_now();
    struct wire wire = open_and_send("POST /v1/attention HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n");
    double seconds = drip_until_closed(&wire, begun, " ");
    ck_assert_double_lt(seconds, PATIENCE);
    ck_assert_double_gt(seconds, BODY - TICK);
    wire_close(&wire);
    check_alive();
}
END_TEST

START_TEST(unfinished_body_gets_408)
{
    char *body = NULL;
    struct wire wire = open_and_send("POST /v1/attention HTTP/1.1\r\nHost: x\r\nX-Request-Id: slow-one\r\n"
                                     "Content-Length: 100\r\n\r\n{");
    ck_assert_int_eq(wire_receive(&wire, &body, PATIENCE), 408);
    wire_check_problem(&wire, body);
    ck_assert_ptr_nonnull(strstr(body, "\"request_id\":\"slow-one\""));
    ck_assert(service_logged(&service,
                             "\"request_id\":\"slow-one\",\"client\":\"127.0.0.1\",\"method\":\"POST\",\"route\":\"/v1/"
                             "attention\",\"status\":408",
                             1, PATIENCE));
    json_error_t error;
    json_t *root = json_loads(body, 0, &error);
    ck_assert_ptr_nonnull(root);
    ck_assert_str_eq(json_string_value(json_object_get(root, "code")), "timeout");
    json_decref(root);
    free(body);
    ck_assert(wire_closed(&wire, PATIENCE));
    wire_close(&wire);
    check_alive();
}
END_TEST

START_TEST(work_past_its_deadline_is_503)
{
    char value[32];
    char *body = sample_slow(60000);
    struct service own = service_start((const char *const[]){"--deadline", "0.5", "--workers", "1", NULL});
    struct client_reply reply = client_post(&own, "/v1/attention", body);
    json_t *problem = client_problem(&reply, 503);
    ck_assert_str_eq(json_string_value(json_object_get(problem, "code")), "deadline");
    ck_assert_ptr_nonnull(client_header(&reply, "Retry-After", value, sizeof value));
    json_decref(problem);
    client_free(&reply);
    free(body);
    struct client_reply after = client_post(&own, "/v1/attention", SAMPLE_CAT);
    ck_assert_int_eq(after.status, 200);
    client_free(&after);
    ck_assert_int_eq(service_stop(&own), 0);
}
END_TEST

START_TEST(many_slow_heads_hurt_nobody)
{
    enum { COUNT = 100 };
    static struct wire wires[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        wires[i] = open_and_send("GET /livez HTTP/1.1\r\nA");
    }
    check_alive();
    for (size_t i = 0; i < COUNT; i++) {
        ck_assert(wire_closed(&wires[i], PATIENCE));
        wire_close(&wires[i]);
    }
    check_alive();
}
END_TEST

Suite *deadlines_suite(void)
{
    Suite *suite = suite_create("deadlines");
    TCase *tests = tcase_create("one service");
    tcase_add_unchecked_fixture(tests, start, stop);
    tcase_set_timeout(tests, 90);
    tcase_add_test(tests, dripping_header_is_cut);
    tcase_add_test(tests, unfinished_header_gets_408);
    tcase_add_test(tests, silent_connection_is_closed_without_a_word);
    tcase_add_test(tests, idle_connection_is_closed_without_a_word);
    tcase_add_test(tests, dripping_body_is_cut);
    tcase_add_test(tests, unfinished_body_gets_408);
    tcase_add_test(tests, work_past_its_deadline_is_503);
    tcase_add_test(tests, many_slow_heads_hurt_nobody);
    suite_add_tcase(suite, tests);
    return suite;
}
