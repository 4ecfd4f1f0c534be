/* The end of the service while it works: no request is lost, and the end comes. */
#include "tests/http/client.h"
#include "tests/http/sample.h"
#include "tests/http/wire.h"

#include <check.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

Suite *drain_suite(void);

#define PATIENCE 90.0
#define KEPT 0.5     /* seconds that an idle connection is kept */
#define ONE_WISH 1.1 /* seconds after which another signal is another wish */

static void pause_for(double seconds)
{
    for (double end = service_now() + seconds; service_now() < end;)
        service_pause();
}

static char *write_slow(size_t n)
{
    return sample_request(sample_slow(n));
}

/* One client that sends until the service closes the port, a new connection whenever the old one was closed. */
struct crowd {
    const struct service *service;
    const char *request;
    atomic_int answered, broken;
};

static void exchange_once(struct crowd *crowd, struct wire *wire)
{
    char *body = NULL;
    bool sent = wire_send(wire, crowd->request);
    int status = sent ? wire_receive(wire, &body, PATIENCE) : 0;
    if (status == 200)
        atomic_fetch_add(&crowd->answered, 1);
    else
        atomic_fetch_add(&crowd->broken, 1);
    free(body);
}

static void *keep_asking(void *context)
{
    struct crowd *crowd = context;
    struct wire wire;
    while (wire_try_open(crowd->service, &wire)) {
        do
            exchange_once(crowd, &wire);
        while (!wire_ended(&wire));
        wire_close(&wire);
    }
    return NULL;
}

/* SIGTERM while clients send as fast as they can: each connection that was accepted gets its answer. */
static void drain_under_load(size_t slow, size_t enough)
{
    enum { CLIENTS = 6 };
    pthread_t threads[CLIENTS];
    struct service service = service_start(NULL);
    char *request = NULL;
    if (slow)
        request = write_slow(slow);
    else
        request = sample_request(strdup(SAMPLE_CAT));
    struct crowd crowd = {.service = &service, .request = request};
    for (size_t i = 0; i < CLIENTS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, keep_asking, &crowd), 0);
    double end = service_now() + PATIENCE;
    while ((size_t)atomic_load(&crowd.answered) < enough && service_now() < end)
        service_pause();
    service_signal(&service, SIGTERM);
    ck_assert_int_eq(service_wait(&service, PATIENCE), 0);
    for (size_t i = 0; i < CLIENTS; i++)
        pthread_join(threads[i], NULL);
    ck_assert_int_ge(atomic_load(&crowd.answered), (int)enough);
    ck_assert_msg(atomic_load(&crowd.broken) == 0, "%d of %d were lost", atomic_load(&crowd.broken),
                  atomic_load(&crowd.answered));
    free(request);
    service_clean(&service);
}

START_TEST(drain_loses_no_tiny_request)
{
    drain_under_load(0, 300);
}
END_TEST

START_TEST(drain_loses_no_slow_request)
{
    drain_under_load(2000, 6);
}
END_TEST

/* A reply is written sooner than it is read: until it has arrived the connection is not idle, and what is sent right
 * after it is answered. */
START_TEST(drain_waits_for_a_slow_reader)
{
    char *body = NULL;
    struct service service = service_start((const char *const[]){"--drain-timeout", "600", NULL});
    char *large = sample_request(sample_square(200, 2, "\"include\":[\"weights\"]"));
    char *tiny = sample_request(strdup(SAMPLE_CAT));
    struct crowd crowd = {.service = &service, .request = tiny};
    struct wire wire = wire_open_narrow(&service);
    ck_assert(wire_send(&wire, large));
    ck_assert(wire_receive_text(&wire, "\r\n\r\n", PATIENCE));
    service_signal(&service, SIGTERM);
    ck_assert(!service_logged(&service, "\"msg\":\"stopped\"", 1, 3 * KEPT));
    ck_assert_int_eq(wire_receive(&wire, &body, PATIENCE), 200);
    exchange_once(&crowd, &wire);
    ck_assert_int_eq(atomic_load(&crowd.broken), 0);
    wire_close(&wire);
    ck_assert_int_eq(service_wait(&service, PATIENCE), 0);
    free(body);
    free(large);
    free(tiny);
    service_clean(&service);
}
END_TEST

START_TEST(readiness_goes_first_and_the_port_stays_for_the_delay)
{
    int status = 200;
    struct service service = service_start((const char *const[]){"--shutdown-delay", "600", NULL});
    double end = service_now() + PATIENCE;
    service_signal(&service, SIGTERM);
    while (status == 200 && service_now() < end) {
        struct client_reply reply = client_get(&service, "/readyz");
        status = (int)reply.status;
        if (status == 503) {
            json_t *root = client_json(&reply);
            ck_assert_str_eq(json_string_value(json_object_get(root, "status")), "draining");
            ck_assert_ptr_nonnull(strstr(reply.head, "Connection: close"));
            json_decref(root);
        }
        client_free(&reply);
    }
    ck_assert_int_eq(status, 503);
    struct client_reply live = client_get(&service, "/livez");
    ck_assert_int_eq(live.status, 200);
    client_free(&live);
    struct client_reply work = client_post(&service, "/v1/attention", SAMPLE_CAT);
    ck_assert_int_eq(work.status, 200);
    client_free(&work);
    pause_for(ONE_WISH);
    service_signal(&service, SIGTERM);
    ck_assert_int_eq(service_wait(&service, PATIENCE), 3);
    service_clean(&service);
}
END_TEST

/* As "timeout" and some supervisors send them: to the process, and to its group. */
START_TEST(signals_of_one_moment_count_as_one)
{
    struct service service = service_start(NULL);
    struct wire wire = wire_open(&service);
    ck_assert(wire_send(
        &wire, "POST /v1/attention HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 37\r\n\r\n"));
    ck_assert(wire_receive_text(&wire, "100 Continue", PATIENCE));
    ck_assert(wire_send(&wire, "{\"q\":[[1,0]],"));
    service_signal(&service, SIGTERM);
    pause_for(0.02);
    service_signal(&service, SIGTERM);
    service_signal(&service, SIGINT);
    ck_assert(service_logged(&service, "draining", 1, PATIENCE));
    ck_assert(wire_send(&wire, "\"k\":[[1,0]],\"v\":[[1,2]]}"));
    ck_assert_int_eq(wire_receive(&wire, NULL, PATIENCE), 100);
    ck_assert_int_eq(wire_receive(&wire, NULL, PATIENCE), 200);
    wire_close(&wire);
    ck_assert_int_eq(service_wait(&service, PATIENCE), 0);
    service_clean(&service);
}
END_TEST

START_TEST(drain_timeout_ends_what_takes_too_long)
{
    char *body = NULL;
    struct service service =
        service_start((const char *const[]){"--drain-timeout", "0.3", "--workers", "1", "--deadline", "600", NULL});
    char *request = write_slow(60000);
    struct wire running = wire_open(&service);
    struct wire half = wire_open(&service);
    struct wire idle = wire_open(&service);
    ck_assert(wire_send(&half, "POST /v1/attention HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"));
    ck_assert(wire_send(&running, request));
    ck_assert(wire_send(&idle, "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"));
    ck_assert_int_eq(wire_receive(&idle, NULL, PATIENCE), 200);
    service_signal(&service, SIGTERM);
    int status = wire_receive(&running, &body, PATIENCE);
    ck_assert_msg(status == 503 || status == 0, "status %d", status);
    ck_assert_int_eq(service_wait(&service, PATIENCE), 0);
    ck_assert(wire_closed(&half, PATIENCE));
    ck_assert(wire_closed(&idle, PATIENCE));
    free(body);
    free(request);
    wire_close(&running);
    wire_close(&half);
    wire_close(&idle);
    service_clean(&service);
}
END_TEST

START_TEST(signal_right_after_the_start_is_a_clean_end)
{
    for (size_t i = 0; i < 10; i++) {
        struct service service = service_start(NULL);
        service_signal(&service, i % 2 ? SIGINT : SIGTERM);
        ck_assert_int_eq(service_wait(&service, PATIENCE), 0);
        service_clean(&service);
    }
}
END_TEST

Suite *drain_suite(void)
{
    Suite *suite = suite_create("drain");
    TCase *tests = tcase_create("a service each");
    tcase_set_timeout(tests, 180);
    tcase_add_test(tests, drain_loses_no_tiny_request);
    tcase_add_test(tests, drain_loses_no_slow_request);
    tcase_add_test(tests, drain_waits_for_a_slow_reader);
    tcase_add_test(tests, readiness_goes_first_and_the_port_stays_for_the_delay);
    tcase_add_test(tests, signals_of_one_moment_count_as_one);
    tcase_add_test(tests, drain_timeout_ends_what_takes_too_long);
    tcase_add_test(tests, signal_right_after_the_start_is_a_clean_end);
    suite_add_tcase(suite, tests);
    return suite;
}
