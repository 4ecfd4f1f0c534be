/* How requests arrive: in one piece, in many, several at once, asked about before they are sent. */
#include "tests/http/client.h"
#include "tests/http/sample.h"
#include "tests/http/wire.h"

#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

Suite *delivery_suite(void);

#define PATIENCE 30.0

static struct service service;

/* A request is never late here, however long this process has to wait for its turn. */
static void start(void)
{
    service = service_start((const char *const[]){"--header-timeout", "600", "--body-timeout", "600", NULL});
}

static void stop(void)
{
    ck_assert_int_eq(service_stop(&service), 0);
}

static char *write_post(const char *headers, const char *body)
{
    size_t size = strlen(headers) + strlen(body) + 128;
    char *request = malloc(size);
    ck_assert_ptr_nonnull(request);
    snprintf(request, size, "POST /v1/attention HTTP/1.1\r\nHost: x\r\n%sContent-Length: %zu\r\n\r\n%s", headers,
             strlen(body), body);
    return request;
}

static void expect_cat(struct wire *wire)
{
    char *body = NULL;
    ck_assert_int_eq(wire_receive(wire, &body, PATIENCE), 200);
    ck_assert_msg(strstr(body, "\"weights\":[[1,0],[0.27"), "%s", body);
    free(body);
}

START_TEST(byte_at_a_time_is_the_same)
{
    char *request = write_post("", SAMPLE_CAT);
    struct wire wire = wire_open(&service);
    ck_assert(wire_send_slowly(&wire, request));
    expect_cat(&wire);
    wire_close(&wire);
    free(request);
}
END_TEST

START_TEST(cut_in_two_anywhere_is_the_same)
{
    char *request = write_post("", SAMPLE_CAT);
    struct wire wire = wire_open(&service);
    for (size_t cut = 1; cut < strlen(request); cut += 7) {
        ck_assert(wire_send_bytes(&wire, request, cut));
        ck_assert(wire_send(&wire, request + cut));
        expect_cat(&wire);
    }
    wire_close(&wire);
    free(request);
}
END_TEST

START_TEST(connection_is_kept)
{
    char *request = write_post("", SAMPLE_CAT);
    struct wire wire = wire_open(&service);
    for (size_t i = 0; i < 20; i++) {
        ck_assert(wire_send(&wire, request));
        expect_cat(&wire);
        ck_assert(wire_send(&wire, "GET /nope HTTP/1.1\r\nHost: x\r\n\r\n"));
        ck_assert_int_eq(wire_receive(&wire, NULL, PATIENCE), 404);
        ck_assert(wire_send(&wire, "PUT /v1/attention HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody"));
        ck_assert_int_eq(wire_receive(&wire, NULL, PATIENCE), 405);
    }
    wire_close(&wire);
    free(request);
}
END_TEST

struct sending {
    struct wire *wire;
    const char *const *requests; /* ends with NULL */
    bool sent;
};

static void *send_all(void *context)
{
    struct sending *sending = context;
    sending->sent = true;
    for (size_t i = 0; sending->sent && sending->requests[i]; i++)
        sending->sent = wire_send(sending->wire, sending->requests[i]);
    return NULL;
}

/* Sent by a thread of their own: who sends all before it reads waits for ever when the kernel keeps little. */
START_TEST(pipelined_requests_are_answered_in_order)
{
    pthread_t sender;
    char *slow_body = sample_slow(1024);
    char *slow = write_post("", slow_body);
    char *tiny = write_post("", SAMPLE_CAT);
    const char *const none = "GET /nope HTTP/1.1\r\nHost: x\r\n\r\n";
    const char *const requests[] = {slow, tiny, none, slow, tiny, none, slow, tiny, none, NULL};
    struct wire wire = wire_open(&service);
    struct sending sending = {&wire, requests, false};
    ck_assert_int_eq(pthread_create(&sender, NULL, send_all, &sending), 0);
    for (size_t i = 0; i < 3; i++) {
        char *body = NULL;
        ck_assert_int_eq(wire_receive(&wire, &body, PATIENCE), 200);
        ck_assert_ptr_nonnull(strstr(body, "\"log_sum_exp\""));
        free(body);
        expect_cat(&wire);
        ck_assert_int_eq(wire_receive(&wire, NULL, PATIENCE), 404);
    }
    pthread_join(sender, NULL);
    ck_assert(sending.sent);
    wire_close(&wire);
    free(tiny);
    free(slow);
    free(slow_body);
}
END_TEST

START_TEST(close_is_honoured)
{
    char *request = write_post("Connection: close\r\n", SAMPLE_CAT);
    struct wire wire = wire_open(&service);
    ck_assert(wire_send(&wire, request));
    expect_cat(&wire);
    ck_assert(wire_closed(&wire, PATIENCE));
    wire_close(&wire);
    free(request);
}
END_TEST

START_TEST(http_1_0_is_served)
{
    struct wire wire = wire_open(&service);
    ck_assert(wire_send(&wire, "GET /livez HTTP/1.0\r\n\r\n"));
    ck_assert_int_eq(wire_receive(&wire, NULL, PATIENCE), 200);
    ck_assert(wire_closed(&wire, PATIENCE));
    wire_close(&wire);
}
END_TEST

START_TEST(expect_is_answered_with_100_at_once)
{
    struct wire wire = wire_open(&service);
    char head[160];
    snprintf(head, sizeof head,
             "POST /v1/attention HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: %zu\r\n\r\n",
             strlen(SAMPLE_CAT));
    ck_assert(wire_send(&wire, head));
    ck_assert_int_eq(wire_receive(&wire, NULL, PATIENCE), 100);
    ck_assert(wire_send(&wire, SAMPLE_CAT));
    expect_cat(&wire);
    wire_close(&wire);
}
END_TEST

START_TEST(expect_is_answered_with_the_refusal_at_once)
{
    static const struct {
        const char *head;
        int status;
    } rows[] = {
        {"POST /nope HTTP/1.1\r\nContent-Length: 100\r\n", 404},
        {"PUT /v1/attention HTTP/1.1\r\nContent-Length: 100\r\n", 405},
        {"POST /v1/attention HTTP/1.1\r\nContent-Length: 1000000000000\r\n", 413},
        {"POST /v1/attention HTTP/1.1\r\nContent-Type: image/png\r\nContent-Length: 100\r\n", 415},
    };
    struct wire wire = wire_open(&service);
    ck_assert(wire_send(&wire, rows[_i].head));
    ck_assert(wire_send(&wire, "Host: x\r\nExpect: 100-continue\r\n\r\n"));
    ck_assert_int_eq(wire_receive(&wire, NULL, PATIENCE), rows[_i].status);
    ck_assert(wire_closed(&wire, PATIENCE));
    wire_close(&wire);
}
END_TEST

START_TEST(curl_upload_with_expect_does_not_stall)
{
    char *body = sample_square(2000, 8, "\"include\":[\"log_sum_exp\"]");
    struct client_reply reply = client_send(
        &service, &(struct client_request){.path = "/v1/attention", .headers = {"Expect: 100-continue"}, .body = body});
    ck_assert_int_eq(reply.status, 200);
    client_free(&reply);
    free(body);
}
END_TEST

START_TEST(chunked_bodies_are_taken)
{
    struct client_reply reply =
        client_send(&service, &(struct client_request){.path = "/v1/attention", .body = SAMPLE_CAT, .chunked = true});
    ck_assert_msg(reply.status == 200, "%s", reply.body);
    client_free(&reply);
}
END_TEST

START_TEST(chunked_bodies_in_small_chunks_are_taken)
{
    const char *body = SAMPLE_CAT;
    struct wire wire = wire_open(&service);
    ck_assert(wire_send(&wire, "POST /v1/attention HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"));
    for (size_t i = 0; i < strlen(body); i += 5) {
        char chunk[32];
        size_t size = strlen(body) - i < 5 ? strlen(body) - i : 5;
        snprintf(chunk, sizeof chunk, "%zx\r\n%.*s\r\n", size, (int)size, body + i);
        ck_assert(wire_send(&wire, chunk));
    }
    ck_assert(wire_send(&wire, "0\r\n\r\n"));
    expect_cat(&wire);
    wire_close(&wire);
}
END_TEST

START_TEST(body_on_get_is_read_and_forgotten)
{
    struct wire wire = wire_open(&service);
    ck_assert(wire_send(&wire, "GET /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody"));
    ck_assert_int_eq(wire_receive(&wire, NULL, PATIENCE), 200);
    ck_assert(wire_send(&wire, "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"));
    ck_assert_int_eq(wire_receive(&wire, NULL, PATIENCE), 200);
    wire_close(&wire);
}
END_TEST

/* libmicrohttpd may notice first, and then closes without a word. */
START_TEST(body_shorter_than_announced_is_never_taken)
{
    char *body = NULL;
    struct wire wire = wire_open(&service);
    ck_assert(wire_send(&wire, "POST /v1/attention HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"));
    ck_assert(wire_send(&wire, SAMPLE_CAT));
    shutdown(wire.descriptor, SHUT_WR);
    int status = wire_receive(&wire, &body, PATIENCE);
    ck_assert_msg(status == 400 || status == 0, "status %d", status);
    ck_assert(status == 0 || strstr(body, "\"status\":400"));
    free(body);
    wire_close(&wire);
}
END_TEST

START_TEST(many_connections_at_once)
{
    enum { COUNT = 200 };
    static struct wire wires[COUNT];
    char *request = write_post("", SAMPLE_CAT);
    for (size_t i = 0; i < COUNT; i++) {
        wires[i] = wire_open(&service);
        ck_assert(wire_send_bytes(&wires[i], request, 60));
    }
    for (size_t i = 0; i < COUNT; i++)
        ck_assert(wire_send(&wires[i], request + 60));
    for (size_t i = 0; i < COUNT; i++) {
        expect_cat(&wires[i]);
        wire_close(&wires[i]);
    }
    free(request);
}
END_TEST

Suite *delivery_suite(void)
{
    Suite *suite = suite_create("delivery");
    TCase *tests = tcase_create("one service");
    tcase_add_unchecked_fixture(tests, start, stop);
    tcase_set_timeout(tests, 90);
    tcase_add_test(tests, byte_at_a_time_is_the_same);
    tcase_add_test(tests, cut_in_two_anywhere_is_the_same);
    tcase_add_test(tests, connection_is_kept);
    tcase_add_test(tests, pipelined_requests_are_answered_in_order);
    tcase_add_test(tests, close_is_honoured);
    tcase_add_test(tests, http_1_0_is_served);
    tcase_add_test(tests, expect_is_answered_with_100_at_once);
    tcase_add_loop_test(tests, expect_is_answered_with_the_refusal_at_once, 0, 4);
    tcase_add_test(tests, curl_upload_with_expect_does_not_stall);
    tcase_add_test(tests, chunked_bodies_are_taken);
    tcase_add_test(tests, chunked_bodies_in_small_chunks_are_taken);
    tcase_add_test(tests, body_on_get_is_read_and_forgotten);
    tcase_add_test(tests, body_shorter_than_announced_is_never_taken);
    tcase_add_test(tests, many_connections_at_once);
    suite_add_tcase(suite, tests);
    return suite;
}
