/* What a head means: blanks around values, Host, paths. */
#include "tests/http/client.h"
#include "tests/http/wire.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

Suite *heads_suite(void);

#define PATIENCE 30.0

static struct service service;
static char keys[64];

static void start(void)
{
    snprintf(keys, sizeof keys, "/tmp/attentiond-keys-XXXXXX");
    int descriptor = mkstemp(keys);
    ck_assert_int_ge(descriptor, 0);
    ck_assert_int_eq(write(descriptor, "KEY\n", 4), 4);
    close(descriptor);
    service = service_start((const char *const[]){"--api-key-file", keys, NULL});
}

static void stop(void)
{
    ck_assert_int_eq(service_stop(&service), 0);
    unlink(keys);
}

static int ask(const char *request, char **body)
{
    struct wire wire = wire_open(&service);
    ck_assert(wire_send(&wire, request));
    int status = wire_receive(&wire, body, PATIENCE);
    wire_close(&wire);
    return status;
}

#define INFO "GET /v1/info HTTP/1.1\r\nHost: x\r\n"
#define POST "POST /v1/attention HTTP/1.1\r\nHost: x\r\nX-API-Key: KEY\r\n"

/* libmicrohttpd 0.9.75 leaves those behind a value. */
START_TEST(blanks_around_a_value_are_no_part_of_it)
{
    static const struct {
        const char *request;
        int status;
    } rows[] = {
        {INFO "X-API-Key: KEY \r\n\r\n", 200},
        {INFO "X-API-Key:\t KEY\t\r\n\r\n", 200},
        {INFO "X-API-Key:KEY\r\n\r\n", 200},
        {INFO "Authorization: Bearer KEY \t \r\n\r\n", 200},
        {INFO "Authorization: Bearer \t\r\n\r\n", 401},
        {INFO "X-API-Key: K EY\r\n\r\n", 401},
        {"GET /v1/info HTTP/1.1\r\nHost: x \r\nX-API-Key: KEY\r\n\r\n", 200},
        {INFO "X-API-Key: KEY\r\nAccept: image/png \r\nAccept: application/json \r\n\r\n", 200},
        {POST "Expect: 100-continue \r\nContent-Length: 0\r\n\r\n", 400},
        {POST "Content-Encoding: identity \r\nContent-Length: 2\r\n\r\n{}", 422},
    };
    int status = ask(rows[_i].request, NULL);
    ck_assert_msg(status == rows[_i].status, "%s: %d", rows[_i].request, status);
}
END_TEST

START_TEST(request_id_is_taken_without_its_blanks)
{
    char *body = NULL;
    ck_assert_int_eq(ask("GET /nope HTTP/1.1\r\nHost: x\r\nX-API-Key: KEY\r\nX-Request-Id: mine-1 \r\n\r\n", &body),
                     404);
    ck_assert_ptr_nonnull(strstr(body, "\"request_id\":\"mine-1\""));
    free(body);
}
END_TEST

START_TEST(host_that_is_none_is_400)
{
    static const char *const hosts[] = {"a b", "user@host", "[::1", "host:port", "host:99999999", "http://host/"};
    char request[128];
    char *body = NULL;
    struct wire wire = wire_open(&service);
    snprintf(request, sizeof request, "GET /livez HTTP/1.1\r\nHost: %s\r\n\r\n", hosts[_i]);
    ck_assert(wire_send(&wire, request));
    ck_assert_int_eq(wire_receive(&wire, &body, PATIENCE), 400);
    wire_check_problem(&wire, body);
    ck_assert_ptr_nonnull(strstr(body, "Host"));
    free(body);
    wire_close(&wire);
}
END_TEST

START_TEST(hosts_of_any_name_are_served)
{
    static const char *const hosts[] = {"", "x", "[::1]:8080", "example.org:443", "a_b"};
    char request[128];
    snprintf(request, sizeof request, "GET /livez HTTP/1.1\r\nHost: %s\r\n\r\n", hosts[_i]);
    ck_assert_int_eq(ask(request, NULL), 200);
}
END_TEST

/* libmicrohttpd 1.0 ends such a connection without a word, before any code of ours runs. */
START_TEST(nul_in_a_target_is_refused)
{
    static const char request[] = "GET /livez\0?x HTTP/1.1\r\nHost: x\r\n\r\n";
    struct wire wire = wire_open(&service);
    ck_assert(wire_send_bytes(&wire, request, sizeof request - 1));
    int status = wire_receive(&wire, NULL, PATIENCE);
    ck_assert_msg(status == 400 || status == 0, "status %d", status);
    ck_assert(wire_closed(&wire, PATIENCE));
    wire_close(&wire);
}
END_TEST

START_TEST(escaped_slash_parts_no_path)
{
    ck_assert_int_eq(ask("GET /v1%2finfo HTTP/1.1\r\nHost: x\r\nX-API-Key: KEY\r\n\r\n", NULL), 404);
    ck_assert_int_eq(ask("GET /v1/%69nfo HTTP/1.1\r\nHost: x\r\nX-API-Key: KEY\r\n\r\n", NULL), 200);
}
END_TEST

START_TEST(http_1_2_is_served_as_1_1_and_goes_on)
{
    struct wire wire = wire_open(&service);
    for (int i = 0; i < 2; i++) {
        ck_assert(wire_send(&wire, "GET /livez HTTP/1.2\r\nHost: x\r\n\r\n"));
        ck_assert_int_eq(wire_receive(&wire, NULL, PATIENCE), 200);
        ck_assert(!wire_ended(&wire));
    }
    wire_close(&wire);
    ck_assert_int_eq(ask("GET /livez HTTP/1.2\r\n\r\n", NULL), 400); /* Host is needed there too */
}
END_TEST

START_TEST(empty_line_before_a_request_is_ignored)
{
    struct wire wire = wire_open(&service);
    for (int i = 0; i < 2; i++) {
        ck_assert(wire_send(&wire, "\r\nGET /livez HTTP/1.1\r\nHost: x\r\n\r\n"));
        ck_assert_int_eq(wire_receive(&wire, NULL, PATIENCE), 200);
    }
    wire_close(&wire);
}
END_TEST

Suite *heads_suite(void)
{
    Suite *suite = suite_create("heads");
    TCase *tests = tcase_create("one service");
    tcase_add_unchecked_fixture(tests, start, stop);
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, blanks_around_a_value_are_no_part_of_it, 0, 10);
    tcase_add_test(tests, request_id_is_taken_without_its_blanks);
    tcase_add_loop_test(tests, host_that_is_none_is_400, 0, 6);
    tcase_add_loop_test(tests, hosts_of_any_name_are_served, 0, 5);
    tcase_add_test(tests, nul_in_a_target_is_refused);
    tcase_add_test(tests, escaped_slash_parts_no_path);
    tcase_add_test(tests, http_1_2_is_served_as_1_1_and_goes_on);
    tcase_add_test(tests, empty_line_before_a_request_is_ignored);
    suite_add_tcase(suite, tests);
    return suite;
}
