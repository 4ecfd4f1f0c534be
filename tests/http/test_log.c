/* The log: one JSON object a line, one line a request. */
#include "tests/http/client.h"
#include "tests/http/sample.h"
#include "tests/http/wire.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

Suite *log_suite(void);

#define PATIENCE 30.0

/* The log line of the request with this id, as JSON. */
static json_t *find_line(const struct service *service, const char *id)
{
    char wanted[200];
    json_t *found = NULL;
    snprintf(wanted, sizeof wanted, "\"request_id\":\"%s\"", id);
    ck_assert_msg(service_logged(service, wanted, 1, PATIENCE), "no line for %s", id);
    char *log = service_log(service);
    for (char *line = strtok(log, "\n"); line; line = strtok(NULL, "\n"))
        if (strstr(line, wanted))
            found = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
    free(log);
    ck_assert_ptr_nonnull(found);
    return found;
}

static void check_text(const json_t *line, const char *name, const char *wanted)
{
    ck_assert_str_eq(json_string_value(json_object_get(line, name)), wanted);
}

static void send_with_id(const struct service *service, const char *path, const char *body, const char *id)
{
    char header[200];
    snprintf(header, sizeof header, "X-Request-Id: %s", id);
    struct client_reply reply =
        client_send(service, &(struct client_request){.path = path, .body = body, .headers = {header}});
    client_free(&reply);
}

START_TEST(request_line_tells_what_happened)
{
    struct service service = service_start(NULL);
    send_with_id(&service, "/v1/attention", SAMPLE_CAT, "good-1");
    json_t *line = find_line(&service, "good-1");
    check_text(line, "level", "info");
    check_text(line, "msg", "request");
    check_text(line, "method", "POST");
    check_text(line, "route", "/v1/attention");
    ck_assert_int_eq(json_integer_value(json_object_get(line, "status")), 200);
    ck_assert_int_eq(json_integer_value(json_object_get(line, "bytes_in")), (json_int_t)strlen(SAMPLE_CAT));
    ck_assert_int_gt(json_integer_value(json_object_get(line, "bytes_out")), 100);
    ck_assert(json_is_real(json_object_get(line, "dur_ms")));
    ck_assert(json_is_real(json_object_get(line, "queue_ms")));
    ck_assert_uint_eq(strlen(json_string_value(json_object_get(line, "ts"))), strlen("2024-05-01T10:00:00.000Z"));
    json_decref(line);
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST

START_TEST(refusal_tells_its_code_and_path)
{
    struct service service = service_start(NULL);
    send_with_id(&service, "/nope/%0a%22b%5c%c3%a9?token=secret", NULL, "lost-1");
    json_t *line = find_line(&service, "lost-1");
    check_text(line, "route", "other");
    check_text(line, "path", "/nope/%0a%22b%5c%c3%a9");
    check_text(line, "code", "not-found");
    json_decref(line);
    send_with_id(&service, "/v1/examples/nobody", NULL, "lost-2");
    line = find_line(&service, "lost-2");
    check_text(line, "route", "/v1/examples/{name}");
    check_text(line, "path", "/v1/examples/nobody");
    check_text(line, "code", "not-found");
    json_decref(line);
    send_with_id(&service, "/v1/attention", "{}", "bad-1");
    line = find_line(&service, "bad-1");
    check_text(line, "code", "invalid-request");
    ck_assert_ptr_null(json_object_get(line, "path")); /* the route is the path */
    json_decref(line);
    char *log = service_log(&service);
    ck_assert_ptr_null(strstr(log, "secret"));
    free(log);
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST

START_TEST(long_path_is_cut_in_the_log)
{
    struct service service = service_start(NULL);
    char path[1000] = "/";
    memset(path + 1, 'x', sizeof path - 2);
    send_with_id(&service, path, NULL, "long-1");
    json_t *line = find_line(&service, "long-1");
    const char *told = json_string_value(json_object_get(line, "path"));
    ck_assert_uint_le(strlen(told), 131);
    ck_assert_str_eq(told + strlen(told) - 6, "xxx...");
    json_decref(line);
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST

START_TEST(methods_and_fields_from_outside_never_reach_the_log)
{
    struct service service = service_start(NULL);
    struct client_reply reply = client_send(
        &service, &(struct client_request){
                      .method = "BREW", .path = "/nope", .headers = {"X-Request-Id: odd-1", "X-Secret: abcdef"}});
    client_free(&reply);
    json_t *line = find_line(&service, "odd-1");
    check_text(line, "method", "other");
    json_decref(line);
    char *log = service_log(&service);
    ck_assert_ptr_null(strstr(log, "abcdef"));
    ck_assert_ptr_null(strstr(log, "BREW"));
    free(log);
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST

START_TEST(every_line_is_json)
{
    struct service service = service_start((const char *const[]){"--log-level", "debug", NULL});
    send_with_id(&service, "/livez", NULL, "probe-1");
    send_with_id(&service, "/v1/attention", "{", "bad-1");
    struct wire wire = wire_open(&service);
    (void)wire_send(&wire, "\x01\x02\x03 garbage\r\n\r\n");
    (void)wire_receive(&wire, NULL, PATIENCE);
    wire_close(&wire);
    send_with_id(&service, "/nope", NULL, "last-1");
    json_decref(find_line(&service, "last-1"));
    char *log = service_log(&service);
    size_t lines = 0;
    for (char *line = strtok(log, "\n"); line; line = strtok(NULL, "\n"), lines++) {
        json_t *root = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
        ck_assert_msg(json_string_value(json_object_get(root, "msg")) != NULL, "%s", line);
        json_decref(root);
    }
    ck_assert_uint_ge(lines, 4);
    free(log);
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST

START_TEST(probes_are_logged_at_debug)
{
    struct service quiet = service_start(NULL);
    send_with_id(&quiet, "/readyz", NULL, "probe-1");
    send_with_id(&quiet, "/nope", NULL, "last-1");
    json_decref(find_line(&quiet, "last-1"));
    char *log = service_log(&quiet);
    ck_assert_ptr_null(strstr(log, "probe-1"));
    free(log);
    ck_assert_int_eq(service_stop(&quiet), 0);
    struct service loud = service_start((const char *const[]){"--log-level", "debug", NULL});
    send_with_id(&loud, "/readyz", NULL, "probe-1");
    json_t *line = find_line(&loud, "probe-1");
    check_text(line, "level", "debug");
    json_decref(line);
    ck_assert_int_eq(service_stop(&loud), 0);
}
END_TEST

START_TEST(text_format_is_for_people)
{
    struct service service = service_start((const char *const[]){"--log-format", "text", NULL});
    send_with_id(&service, "/nope", NULL, "text-1");
    ck_assert(service_logged(&service, "info 404 GET /nope ", 1, PATIENCE));
    ck_assert(service_logged(&service, " text-1 not-found\n", 1, PATIENCE));
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST

/* libmicrohttpd quotes at debug what it refuses. */
START_TEST(text_lines_at_debug_hold_no_control_bytes)
{
    struct service service = service_start((const char *const[]){"--log-format", "text", "--log-level", "debug", NULL});
    struct wire wire = wire_open(&service);
    (void)wire_send(&wire, "\x1b[31m\x07\x9b garbage\x0b HTTP/1.1\r\n\r\n");
    (void)wire_receive(&wire, NULL, PATIENCE);
    wire_close(&wire);
    send_with_id(&service, "/%1b[31m", NULL, "last-1");
    ck_assert(service_logged(&service, " last-1 ", 1, PATIENCE));
    char *log = service_log(&service);
    for (const char *c = log; *c; c++)
        ck_assert_msg(*c == '\n' || (*c >= 0x20 && *c < 0x7f), "byte %d: %s", *c, log);
    free(log);
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST

START_TEST(client_that_goes_away_is_logged)
{
    struct service service = service_start(NULL);
    struct wire wire = wire_open(&service);
    ck_assert(wire_send(&wire, "POST /v1/attention HTTP/1.1\r\nHost: x\r\nX-Request-Id: gone-1\r\n"
                               "Expect: 100-continue\r\nContent-Length: 100\r\n\r\n"));
    ck_assert_int_eq(wire_receive(&wire, NULL, PATIENCE), 100);
    wire_abort(&wire);
    json_t *line = find_line(&service, "gone-1");
    check_text(line, "msg", "request aborted");
    ck_assert_int_eq(json_integer_value(json_object_get(line, "status")), 0);
    json_decref(line);
    ck_assert_int_eq(service_stop(&service), 0);
}
END_TEST

Suite *log_suite(void)
{
    Suite *suite = suite_create("log");
    TCase *tests = tcase_create("a service each");
    tcase_set_timeout(tests, 90);
    tcase_add_test(tests, request_line_tells_what_happened);
    tcase_add_test(tests, refusal_tells_its_code_and_path);
    tcase_add_test(tests, long_path_is_cut_in_the_log);
    tcase_add_test(tests, methods_and_fields_from_outside_never_reach_the_log);
    tcase_add_test(tests, every_line_is_json);
    tcase_add_test(tests, probes_are_logged_at_debug);
    tcase_add_test(tests, text_format_is_for_people);
    tcase_add_test(tests, text_lines_at_debug_hold_no_control_bytes);
    tcase_add_test(tests, client_that_goes_away_is_logged);
    suite_add_tcase(suite, tests);
    return suite;
}
