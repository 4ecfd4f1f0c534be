/* Replies in blocks: whole for a good reader, waiting for a slow one, dropped with one that has gone. */
#include "tests/http/client.h"
#include "tests/http/gauge.h"
#include "tests/http/sample.h"
#include "tests/http/wire.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

Suite *stream_suite(void);

#define PATIENCE 60.0 /* less than libmicrohttpd's own timeout */
#define WHOLE 400     /* weights: 160 000 numbers: streamed, and soon read to the end */
#define KEYS 1500     /* weights: 2 250 000 numbers, some 40 MB of text */
#define MANY 4000     /* weights: 16 000 000 numbers, some 290 MB of text: more than any kernel keeps for a reader */

static struct service service;

static void start(void)
{
    service = service_start((const char *const[]){"--workers", "2", NULL});
}

static void stop(void)
{
    ck_assert_int_eq(service_stop(&service), 0);
}

static void check_alive(void)
{
    struct client_reply reply = client_post(&service, "/v1/attention", SAMPLE_CAT);
    ck_assert_int_eq(reply.status, 200);
    ck_assert_double_lt(reply.seconds, PATIENCE);
    client_free(&reply);
}

static size_t resident_bytes(void)
{
    char path[64];
    unsigned long pages = 0;
    snprintf(path, sizeof path, "/proc/%d/statm", (int)service.pid);
    FILE *file = fopen(path, "re");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fscanf(file, "%*u %lu", &pages), 1);
    fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static struct wire ask_for_weights(const struct service *of, const char *version, size_t n)
{
    char head[200];
    char *body = sample_square(n, 2, "\"include\":[\"weights\"]");
    struct wire wire = wire_open_narrow(of);
    snprintf(head, sizeof head, "POST /v1/attention HTTP/%s\r\nHost: x\r\nContent-Length: %zu\r\n\r\n", version,
             strlen(body));
    ck_assert(wire_send(&wire, head) && wire_send(&wire, body));
    free(body);
    return wire;
}

START_TEST(large_reply_is_chunked_and_whole)
{
    char value[128];
    char *body = sample_square(WHOLE, 2, "\"include\":[\"weights\"]");
    struct client_reply reply = client_post(&service, "/v1/attention", body);
    ck_assert_msg(reply.status == 200, "%.300s", reply.body);
    ck_assert_ptr_nonnull(client_header(&reply, "Transfer-Encoding", value, sizeof value));
    ck_assert_ptr_null(client_header(&reply, "Content-Length", value, sizeof value));
    ck_assert_ptr_nonnull(client_header(&reply, "Server-Timing", value, sizeof value));
    ck_assert_ptr_nonnull(strstr(value, "parse;dur="));
    ck_assert_ptr_nonnull(strstr(value, "compute;dur="));
    json_t *root = client_json(&reply);
    const json_t *weights = json_object_get(root, "weights");
    ck_assert_uint_eq(json_array_size(weights), WHOLE);
    for (size_t i = 0; i < WHOLE; i += 101) {
        double sum = 0;
        ck_assert_uint_eq(json_array_size(json_array_get(weights, i)), WHOLE);
        for (size_t j = 0; j < WHOLE; j++)
            sum += json_number_value(json_array_get(json_array_get(weights, i), j));
        ck_assert_double_eq_tol(sum, 1, 1e-12);
    }
    json_decref(root);
    client_free(&reply);
    free(body);
}
END_TEST

START_TEST(http_1_0_gets_the_same_up_to_the_end_of_the_connection)
{
    char *first = NULL;
    char *second = NULL;
    struct wire chunked = ask_for_weights(&service, "1.1", WHOLE);
    ck_assert_int_eq(wire_receive(&chunked, &first, PATIENCE), 200);
    struct wire plain = ask_for_weights(&service, "1.0", WHOLE);
    ck_assert_int_eq(wire_receive(&plain, &second, PATIENCE), 200);
    ck_assert_uint_eq(strlen(first), strlen(second));
    ck_assert_int_eq(strcmp(first, second), 0);
    wire_close(&chunked);
    wire_close(&plain);
    free(first);
    free(second);
}
END_TEST

START_TEST(connection_goes_on_after_a_stream)
{
    struct wire wire = ask_for_weights(&service, "1.1", WHOLE);
    ck_assert_int_eq(wire_receive(&wire, NULL, PATIENCE), 200);
    ck_assert(wire_send(&wire, "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"));
    ck_assert_int_eq(wire_receive(&wire, NULL, PATIENCE), 200);
    wire_close(&wire);
}
END_TEST

START_TEST(slow_reader_costs_no_memory_and_hurts_nobody)
{
    check_alive();
    size_t before = resident_bytes();
    struct wire wire = ask_for_weights(&service, "1.1", KEYS);
    ck_assert_uint_eq(wire_take(&wire, 100000, PATIENCE), 100000);
    for (size_t i = 0; i < 50; i++) {
        ck_assert_uint_eq(wire_take(&wire, 4096, PATIENCE), 4096);
        check_alive();
    }
    size_t held = resident_bytes();
    ck_assert_msg(held < before + 32 * 1024 * 1024, "from %zu to %zu bytes", before, held);
    wire_close(&wire);
}
END_TEST

/* A service of its own, whose log has no other reader, and whose --write-timeout cuts no other. */
START_TEST(reader_that_stops_is_cut)
{
    struct service own = service_start((const char *const[]){"--write-timeout", "0.5", NULL});
    struct wire wire = ask_for_weights(&own, "1.1", MANY);
    ck_assert_uint_eq(wire_take(&wire, 1000, PATIENCE), 1000);
    ck_assert(service_logged(&own, "\"msg\":\"reply aborted\"", 1, PATIENCE));
    wire_close(&wire);
    ck_assert_int_eq(service_stop(&own), 0);
}
END_TEST

/* It is never silent, so what libmicrohttpd counts from the last byte does not end it. */
START_TEST(reader_that_drips_is_cut)
{
    struct service own = service_start((const char *const[]){"--write-timeout", "0.5", NULL});
    struct wire wire = ask_for_weights(&own, "1.1", MANY);
    double begun = service_now();
    while (!service_logged(&own, "\"msg\":\"reply aborted\"", 1, 0.05)) {
        ck_assert_double_lt(service_now() - begun, PATIENCE);
        wire_take(&wire, 1000, 0.05);
    }
    wire_close(&wire);
    ck_assert_int_eq(service_stop(&own), 0);
}
END_TEST

START_TEST(readers_that_vanish_leave_nothing_behind)
{
    check_alive();
    for (size_t i = 0; i < 30; i++) {
        struct wire wire = ask_for_weights(&service, "1.1", KEYS);
        ck_assert_uint_eq(wire_take(&wire, 1 + i * 5000, PATIENCE), 1 + i * 5000);
        if (i % 2)
            wire_abort(&wire);
        else
            wire_close(&wire);
    }
    check_alive();
    struct wire last = ask_for_weights(&service, "1.1", WHOLE);
    ck_assert_int_eq(wire_receive(&last, NULL, PATIENCE), 200);
    wire_close(&last);
}
END_TEST

START_TEST(streams_that_nobody_reads_are_bounded)
{
    enum { COUNT = 12 };
    static struct wire wires[COUNT];
    int refused = 0;
    struct service small = service_start((const char *const[]){"--memory", "16M", NULL});
    for (size_t i = 0; i < COUNT; i++) {
        wires[i] = ask_for_weights(&small, "1.1", MANY);
        ck_assert(wire_receive_text(&wires[i], "\r\n\r\n", PATIENCE));
        refused += strncmp(wires[i].data, "HTTP/1.1 503", 12) == 0;
    }
    for (size_t i = 0; i < COUNT; i++)
        wire_close(&wires[i]);
    ck_assert_int_ge(refused, 1);
    ck_assert_int_lt(refused, COUNT);
    ck_assert_int_eq(service_stop(&small), 0);
}
END_TEST

/* Trying again would not help, and nothing is computed for it. */
START_TEST(a_block_beyond_all_memory_is_413)
{
    struct service small = service_start((const char *const[]){"--memory", "1M", NULL});
    char *body = sample_square(MANY, 2, "\"include\":[\"weights\"]");
    struct client_reply reply = client_post(&small, "/v1/attention", body);
    json_t *problem = client_problem(&reply, 413);
    ck_assert_ptr_nonnull(strstr(json_string_value(json_object_get(problem, "detail")), "--memory"));
    json_decref(problem);
    client_free(&reply);
    reply = client_get(&small, "/metrics");
    ck_assert_ptr_null(strstr(reply.body, "attnd_compute_duration_seconds_count{op=\"/v1/attention\"}"));
    client_free(&reply);
    free(body);
    ck_assert_int_eq(service_stop(&small), 0);
}
END_TEST

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* which keep what is freed */
/* What is charged, the two workers' own, and what the program has when nothing happens: no more, however many readers
 * stop, and all of it comes back. */
START_TEST(readers_that_stop_stay_within_the_settings)
{
    enum { COUNT = 24, MEMORY = 64 << 20, REQUEST = 32 << 20 };
    static struct wire wires[COUNT];
    struct service small =
        service_start((const char *const[]){"--workers", "2", "--memory", "64M", "--request-memory", "32M", NULL});
    size_t idle = gauge_most_resident(&small);
    for (size_t i = 0; i < COUNT; i++) {
        wires[i] = ask_for_weights(&small, "1.1", 2700);
        ck_assert_uint_eq(wire_take(&wires[i], 300, PATIENCE), 300);
    }
    gauge_await(&small, "\nattnd_workers_busy 0\n");
    size_t most = gauge_most_resident(&small);
    ck_assert_msg(most < idle + MEMORY + 2 * REQUEST, "%zu bytes, idle %zu", most, idle);
    ck_assert_msg(most > idle + MEMORY / 4, "only %zu bytes, idle %zu: nothing was held", most, idle);
    for (size_t i = 0; i < COUNT; i++)
        wire_close(&wires[i]);
    gauge_await(&small, "\nattnd_bytes_held 0\n");
    ck_assert_int_eq(service_stop(&small), 0);
}
END_TEST
#endif

START_TEST(streams_share)
{
    enum { COUNT = 12 };
    static struct wire wires[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        wires[i] = ask_for_weights(&service, "1.1", KEYS);
    check_alive();
    for (size_t i = 0; i < COUNT; i++)
        ck_assert_uint_eq(wire_take(&wires[i], 500000, PATIENCE), 500000);
    for (size_t i = 0; i < COUNT; i++)
        wire_close(&wires[i]);
}
END_TEST

/* Whoever reads, and whatever the workers do: after each piece of four streams a probe is answered, while none of them
 * has ended. */
START_TEST(probes_are_answered_between_the_pieces_of_streams)
{
    enum { STREAMS = 4, PROBES = 50, PIECE = 65536 };
    static struct wire wires[STREAMS];
    struct wire probe = wire_open(&service);
    size_t answered = 0;
    for (size_t i = 0; i < STREAMS; i++) {
        wires[i] = ask_for_weights(&service, "1.1", MANY);
        ck_assert_uint_ge(wire_take(&wires[i], 13, PATIENCE), 13);
    }
    for (size_t x = 0; x < PROBES; x++) {
        for (size_t i = 0; i < STREAMS; i++)
            ck_assert_uint_eq(wire_take(&wires[i], PIECE, PATIENCE), PIECE);
        ck_assert(wire_send(&probe, "GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n"));
        answered += wire_receive(&probe, NULL, PATIENCE) == 200;
        ck_assert_double_ge(gauge_read(&service, "\nattnd_http_requests_in_flight "), STREAMS);
    }
    ck_assert_uint_eq(answered, PROBES);
    for (size_t i = 0; i < STREAMS; i++)
        wire_close(&wires[i]);
    wire_close(&probe);
    gauge_await(&service, "\nattnd_bytes_held 0\n");
}
END_TEST

Suite *stream_suite(void)
{
    Suite *suite = suite_create("stream");
    TCase *tests = tcase_create("one service");
    tcase_add_unchecked_fixture(tests, start, stop);
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, large_reply_is_chunked_and_whole);
    tcase_add_test(tests, http_1_0_gets_the_same_up_to_the_end_of_the_connection);
    tcase_add_test(tests, connection_goes_on_after_a_stream);
    tcase_add_test(tests, slow_reader_costs_no_memory_and_hurts_nobody);
    tcase_add_test(tests, probes_are_answered_between_the_pieces_of_streams);
    tcase_add_test(tests, reader_that_stops_is_cut);
    tcase_add_test(tests, reader_that_drips_is_cut);
    tcase_add_test(tests, readers_that_vanish_leave_nothing_behind);
    tcase_add_test(tests, streams_that_nobody_reads_are_bounded);
    tcase_add_test(tests, a_block_beyond_all_memory_is_413);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    tcase_add_test(tests, readers_that_stop_stay_within_the_settings);
#endif
    tcase_add_test(tests, streams_share);
    suite_add_tcase(suite, tests);
    return suite;
}
