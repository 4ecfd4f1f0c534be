/* Every status that refuses a request, and that the service goes on after it. */
#include "tests/http/client.h"
#include "tests/http/sample.h"
#include "tests/http/wire.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

Suite *refusals_suite(void);

#define PATIENCE 30.0

static struct service service;

static void start(void)
{
    service = service_start(
        (const char *const[]){"--max-body", "64K", "--max-elements", "3000", "--max-flops", "200000", NULL});
}

static void stop(void)
{
    ck_assert_int_eq(service_stop(&service), 0);
}

static void check_alive(void)
{
    struct client_reply reply = client_post(&service, "/v1/attention", SAMPLE_CAT);
    ck_assert_msg(reply.status == 200, "%s", reply.body);
    client_free(&reply);
}

static json_t *refuse(const struct client_request *request, long status)
{
    struct client_reply reply = client_send(&service, request);
    json_t *problem = client_problem(&reply, status);
    client_free(&reply);
    check_alive();
    return problem;
}

static json_t *refuse_body(const char *body, long status)
{
    return refuse(&(struct client_request){.path = "/v1/attention", .body = body}, status);
}

START_TEST(malformed_json_is_400_with_its_place)
{
    json_t *problem = refuse_body("{\"q\": [[1, 2],\n  [3 4]]}", 400);
    ck_assert_str_eq(json_string_value(json_object_get(problem, "code")), "malformed-body");
    ck_assert_int_eq(json_integer_value(json_object_get(problem, "line")), 2);
    ck_assert_int_gt(json_integer_value(json_object_get(problem, "column")), 0);
    ck_assert_int_gt(json_integer_value(json_object_get(problem, "byte")), 14);
    json_decref(problem);
}
END_TEST

START_TEST(what_is_not_one_json_text_is_400)
{
    static const char *const bodies[] = {
        "", " ", "{", "{} {}", "{\"q\":1,\"q\":2}", "nul", "{\"q\":[1e999]}", "\xef\xbb\xbf{}"};
    json_decref(refuse_body(bodies[_i], 400));
}
END_TEST

START_TEST(nul_byte_is_400)
{
    static const char body[] = "{\"q\":[[1\0,2]]}";
    json_decref(
        refuse(&(struct client_request){.path = "/v1/attention", .body = body, .length = sizeof body - 1}, 400));
}
END_TEST

START_TEST(invalid_request_is_422_with_a_pointer)
{
    json_t *problem = refuse_body("{\"q\":[[1,2],[3]],\"k\":[[1,2]],\"v\":[[1]]}", 422);
    ck_assert_int_eq(strncmp(json_string_value(json_object_get(problem, "pointer")), "/q", 2), 0);
    ck_assert_str_eq(json_string_value(json_object_get(problem, "instance")), "/v1/attention");
    json_decref(problem);
}
END_TEST

START_TEST(unknown_member_is_422_and_named)
{
    json_t *problem = refuse_body("{\"q\":[[1]],\"k\":[[1]],\"v\":[[1]],\"scal\":2}", 422);
    ck_assert_str_eq(json_string_value(json_object_get(problem, "pointer")), "/scal");
    json_decref(problem);
}
END_TEST

START_TEST(a_long_strange_name_stays_short_and_printable)
{
    char body[4200] = "{\"";
    memset(body + 2, 0xc3, 4000);
    for (size_t i = 3; i < 4002; i += 2)
        body[i] = (char)0xbc;
    strcpy(body + 4002, "\":1}");
    struct client_reply reply = client_post(&service, "/v1/attention", body);
    json_decref(client_problem(&reply, 422));
    ck_assert_uint_lt(reply.length, 2048);
    client_free(&reply);
}
END_TEST

START_TEST(large_body_is_413_before_it_is_read)
{
    static const char head[] = "POST /v1/attention HTTP/1.1\r\nHost: x\r\nContent-Length: 10000000\r\n\r\n";
    char *body = NULL;
    struct wire wire = wire_open(&service);
    ck_assert(wire_send(&wire, head));
    ck_assert_int_eq(wire_receive(&wire, &body, PATIENCE), 413);
    ck_assert_ptr_nonnull(strstr(body, "10000000"));
    ck_assert_ptr_nonnull(strstr(body, "65536"));
    ck_assert_ptr_nonnull(strstr(body, "\"limit_bytes\":65536"));
    ck_assert(wire_closed(&wire, PATIENCE));
    free(body);
    wire_close(&wire);
    check_alive();
}
END_TEST

START_TEST(body_a_little_too_large_is_413_and_the_connection_goes_on)
{
    char *big = calloc(1, 70001);
    ck_assert_ptr_nonnull(big);
    memset(big, ' ', 70000);
    struct wire wire = wire_open(&service);
    ck_assert(wire_send(&wire, "POST /v1/attention HTTP/1.1\r\nHost: x\r\nContent-Length: 70000\r\n\r\n"));
    ck_assert(wire_send(&wire, big));
    ck_assert_int_eq(wire_receive(&wire, NULL, PATIENCE), 413);
    ck_assert(wire_send(&wire, "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"));
    ck_assert_int_eq(wire_receive(&wire, NULL, PATIENCE), 200);
    wire_close(&wire);
    free(big);
}
END_TEST

/* A little too large, and so large that it is refused before its end. */
START_TEST(chunked_body_too_large_is_413)
{
    static const size_t sizes[] = {70000, 140000, 200000};
    char *big = calloc(1, sizes[_i] + 1);
    ck_assert_ptr_nonnull(big);
    memset(big, ' ', sizes[_i]);
    json_t *problem = refuse(&(struct client_request){.path = "/v1/attention", .body = big, .chunked = true}, 413);
    ck_assert_int_eq(json_integer_value(json_object_get(problem, "limit_bytes")), 65536);
    json_decref(problem);
    free(big);
}
END_TEST

/* The reply comes while the body is still on its way. */
START_TEST(chunked_body_too_large_is_refused_wherever_it_goes)
{
    static const char *const heads[] = {"GET /v1/info", "POST /v1/info", "POST /v1/attention"};
    static const int statuses[] = {413, 405, 413};
    char chunk[0x20000 + 16] = "20000\r\n";
    char *body = NULL;
    struct wire wire = wire_open(&service);
    memset(chunk + 7, ' ', 0x20000);
    strcpy(chunk + 7 + 0x20000, "\r\n");
    ck_assert(wire_send(&wire, heads[_i]));
    ck_assert(wire_send(&wire, " HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"));
    ck_assert(wire_send(&wire, chunk));
    ck_assert(wire_send(&wire, "1000\r\n"));
    ck_assert(wire_send_bytes(&wire, chunk + 7, 0x1000));
    ck_assert_int_eq(wire_receive(&wire, &body, 10), statuses[_i]);
    wire_check_problem(&wire, body);
    free(body);
    wire_close(&wire);
    check_alive();
}
END_TEST

START_TEST(endless_chunked_body_is_cut_off)
{
    char chunk[4096 + 16] = "1000\r\n";
    memset(chunk + 6, ' ', 4096);
    strcpy(chunk + 6 + 4096, "\r\n");
    struct wire wire = wire_open(&service);
    ck_assert(wire_send(&wire, "POST /v1/attention HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"));
    size_t sent = 0;
    while (sent < 100 * 1024 * 1024 && wire_send(&wire, chunk))
        sent += 4096;
    ck_assert_uint_lt(sent, 100 * 1024 * 1024);
    wire_close(&wire);
    check_alive();
}
END_TEST

START_TEST(too_many_numbers_is_413)
{
    char *body = sample_square(600, 2, "\"include\":[\"output\"]");
    json_t *problem = refuse_body(body, 413);
    ck_assert_ptr_nonnull(strstr(json_string_value(json_object_get(problem, "detail")), "3000"));
    json_decref(problem);
    free(body);
}
END_TEST

/* 14 operations for each of 150 * 150 pairs */
START_TEST(too_much_work_is_413_with_both_numbers)
{
    char *body = sample_square(150, 2, "\"include\":[\"output\"]");
    json_t *problem = refuse_body(body, 413);
    ck_assert_ptr_nonnull(strstr(json_string_value(json_object_get(problem, "detail")), "315000"));
    ck_assert_ptr_nonnull(strstr(json_string_value(json_object_get(problem, "detail")), "200000"));
    json_decref(problem);
    free(body);
}
END_TEST

START_TEST(what_cannot_be_json_is_415_with_accept_post)
{
    static const char *const types[] = {"multipart/form-data; boundary=x",
                                        "image/png",
                                        "application/xml",
                                        "text/html",
                                        "Text/CSV",
                                        "application/soap+xml"};
    char header[128];
    char value[64];
    snprintf(header, sizeof header, "Content-Type: %s", types[_i]);
    struct client_reply reply = client_send(
        &service, &(struct client_request){.path = "/v1/attention", .headers = {header}, .body = SAMPLE_CAT});
    json_t *problem = client_problem(&reply, 415);
    ck_assert_ptr_nonnull(strstr(json_string_value(json_object_get(problem, "detail")), "application/json"));
    ck_assert_ptr_nonnull(client_header(&reply, "Accept-Post", value, sizeof value));
    ck_assert_str_eq(value, "application/json");
    json_decref(problem);
    client_free(&reply);
}
END_TEST

START_TEST(what_may_be_json_is_taken)
{
    static const char *const types[] = {
        "Content-Type: application/json",          "Content-Type: application/x-www-form-urlencoded",
        "Content-Type: text/plain; charset=utf-8", "Content-Type: application/problem+json",
        "Content-Type: application/octet-stream",  "Content-Type:"};
    struct client_reply reply = client_send(
        &service, &(struct client_request){.path = "/v1/attention", .headers = {types[_i]}, .body = SAMPLE_CAT});
    ck_assert_msg(reply.status == 200, "%s: %s", types[_i], reply.body);
    client_free(&reply);
}
END_TEST

START_TEST(unknown_content_coding_is_415)
{
    json_decref(refuse(
        &(struct client_request){.path = "/v1/attention", .headers = {"Content-Encoding: br"}, .body = SAMPLE_CAT},
        415));
}
END_TEST

START_TEST(unacceptable_is_406)
{
    json_decref(refuse(
        &(struct client_request){.path = "/v1/attention", .headers = {"Accept: image/png"}, .body = SAMPLE_CAT}, 406));
    json_decref(refuse(&(struct client_request){.path = "/v1/attention",
                                                .headers = {"Accept: application/json;q=0, text/html"},
                                                .body = SAMPLE_CAT},
                       406));
}
END_TEST

/* Some probers ask for a type of their own. */
START_TEST(probes_are_answered_whatever_is_accepted)
{
    static const char *const paths[] = {"/livez", "/readyz", "/health", "/metrics"};
    struct client_reply reply = client_send(
        &service, &(struct client_request){.path = paths[_i], .headers = {"Accept: application/x-protobuf"}});
    ck_assert_int_eq(reply.status, 200);
    client_free(&reply);
}
END_TEST

START_TEST(more_members_than_any_request_has_are_413)
{
    char *body = sample_members(100001, 7);
    struct service large = service_start(NULL);
    struct client_reply reply = client_post(&large, "/v1/attention", body);
    json_t *problem = client_problem(&reply, 413);
    ck_assert_ptr_nonnull(strstr(json_string_value(json_object_get(problem, "detail")), "100000"));
    json_decref(problem);
    client_free(&reply);
    free(body);
    ck_assert_int_eq(service_stop(&large), 0);
}
END_TEST

START_TEST(unknown_expectation_is_417)
{
    json_decref(refuse(
        &(struct client_request){.path = "/v1/attention", .headers = {"Expect: magic"}, .body = SAMPLE_CAT}, 417));
}
END_TEST

/* Sends a head with so many bytes of filling in it. `ours`: whether the refusal has to be the service's own. */
static void send_long(const char *before, size_t length, const char *after, int status, bool ours)
{
    char *body = NULL;
    char *filling = malloc(length + 1);
    ck_assert_ptr_nonnull(filling);
    memset(filling, 'x', length);
    filling[length] = '\0';
    struct wire wire = wire_open(&service);
    (void)(wire_send(&wire, before) && wire_send(&wire, filling) && wire_send(&wire, after));
    int got = wire_receive(&wire, &body, PATIENCE);
    ck_assert_msg(got == status || (got == 0 && !ours), "%zu bytes: status %d", length, got);
    if (ours)
        wire_check_problem(&wire, body);
    free(body);
    free(filling);
    wire_close(&wire);
    check_alive();
}

/* Past 60 kB it is libmicrohttpd that refuses, without our headers, and it may close before all is sent. */
static const size_t lengths[] = {14000, 30000, 55000, 200000, 1000000};

START_TEST(large_header_is_431)
{
    send_long("GET /livez HTTP/1.1\r\nHost: x\r\nX-Request-Id: ", lengths[_i], "\r\n\r\n", 431, lengths[_i] < 60000);
}
END_TEST

START_TEST(long_target_is_414)
{
    send_long("GET /", 1024, " HTTP/1.1\r\nHost: x\r\n\r\n", 414, true);
    send_long("GET /", lengths[_i], " HTTP/1.1\r\nHost: x\r\n\r\n", 414, lengths[_i] < 60000);
}
END_TEST

/* Each field costs libmicrohttpd more than its bytes; the limit is on the bytes all the same. */
START_TEST(many_small_fields_are_taken)
{
    struct wire wire = wire_open(&service);
    ck_assert(wire_send(&wire, "GET /livez HTTP/1.1\r\nHost: x\r\n"));
    for (int i = 0; i < 400; i++)
        ck_assert(wire_send(&wire, "A: b\r\n"));
    ck_assert(wire_send(&wire, "\r\n"));
    ck_assert_int_eq(wire_receive(&wire, NULL, PATIENCE), 200);
    wire_close(&wire);
}
END_TEST

Suite *refusals_suite(void)
{
    Suite *suite = suite_create("refusals");
    TCase *tests = tcase_create("one service");
    tcase_add_unchecked_fixture(tests, start, stop);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, malformed_json_is_400_with_its_place);
    tcase_add_loop_test(tests, what_is_not_one_json_text_is_400, 0, 8);
    tcase_add_test(tests, nul_byte_is_400);
    tcase_add_test(tests, invalid_request_is_422_with_a_pointer);
    tcase_add_test(tests, unknown_member_is_422_and_named);
    tcase_add_test(tests, a_long_strange_name_stays_short_and_printable);
    tcase_add_test(tests, large_body_is_413_before_it_is_read);
    tcase_add_test(tests, body_a_little_too_large_is_413_and_the_connection_goes_on);
    tcase_add_loop_test(tests, chunked_body_too_large_is_413, 0, 3);
    tcase_add_loop_test(tests, chunked_body_too_large_is_refused_wherever_it_goes, 0, 3);
    tcase_add_test(tests, endless_chunked_body_is_cut_off);
    tcase_add_test(tests, too_many_numbers_is_413);
    tcase_add_test(tests, too_much_work_is_413_with_both_numbers);
    tcase_add_loop_test(tests, what_cannot_be_json_is_415_with_accept_post, 0, 6);
    tcase_add_loop_test(tests, what_may_be_json_is_taken, 0, 6);
    tcase_add_test(tests, unknown_content_coding_is_415);
    tcase_add_test(tests, unacceptable_is_406);
    tcase_add_loop_test(tests, probes_are_answered_whatever_is_accepted, 0, 4);
    tcase_add_test(tests, more_members_than_any_request_has_are_413);
    tcase_add_test(tests, unknown_expectation_is_417);
    tcase_add_loop_test(tests, large_header_is_431, 0, 5);
    tcase_add_loop_test(tests, long_target_is_414, 0, 5);
    tcase_add_test(tests, many_small_fields_are_taken);
    suite_add_tcase(suite, tests);
    return suite;
}
