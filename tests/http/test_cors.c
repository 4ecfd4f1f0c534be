/* Pages of other origins: what a browser asks before, and what it must find on every reply. */
#include "tests/http/client.h"
#include "tests/http/sample.h"
#include "tests/http/wire.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

Suite *cors_suite(void);

static struct service open_service, listed, closed;

static void start(void)
{
    open_service = service_start(NULL);
    listed = service_start(
        (const char *const[]){"--cors-origin", "https://a.example", "--cors-origin", "https://b.example,null", NULL});
    closed = service_start((const char *const[]){"--no-cors", NULL});
}

static void stop(void)
{
    ck_assert_int_eq(service_stop(&open_service), 0);
    ck_assert_int_eq(service_stop(&listed), 0);
    ck_assert_int_eq(service_stop(&closed), 0);
}

static void check_header(const struct client_reply *reply, const char *name, const char *wanted)
{
    char value[512];
    const char *found = client_header(reply, name, value, sizeof value);
    if (!wanted)
        ck_assert_msg(!found, "%s: %s", name, found);
    else
        ck_assert_msg(found && strcmp(found, wanted) == 0, "%s: %s, not %s", name, found ? found : "nothing", wanted);
}

static void check_has(const struct client_reply *reply, const char *name, const char *word)
{
    char value[512];
    const char *found = client_header(reply, name, value, sizeof value);
    ck_assert_msg(found && strcasestr(found, word), "%s: %s lacks %s", name, found ? found : "nothing", word);
}

static struct client_reply ask(const struct service *service, const char *method, const char *path, const char *origin,
                               const char *body)
{
    char header[128];
    snprintf(header, sizeof header, "Origin: %s", origin);
    return client_send(service,
                       &(struct client_request){.method = method, .path = path, .headers = {header}, .body = body});
}

START_TEST(preflight_is_answered_as_a_browser_wants)
{
    static const char *const words[] = {
        "authorization", "content-type", "x-request-id", "traceparent", "tracestate", "if-none-match", "*"};
    struct client_reply reply = client_send(
        &open_service, &(struct client_request){
                           .method = "OPTIONS",
                           .path = "/v1/attention",
                           .headers = {"Origin: https://page.example", "Access-Control-Request-Method: POST",
                                       "Access-Control-Request-Headers: authorization, content-type, x-made-up"}});
    ck_assert_int_eq(reply.status, 204);
    ck_assert_uint_eq(reply.length, 0);
    check_header(&reply, "Access-Control-Allow-Origin", "*");
    check_has(&reply, "Access-Control-Allow-Methods", "POST");
    check_header(&reply, "Access-Control-Max-Age", "7200");
    check_header(&reply, "Access-Control-Allow-Credentials", NULL);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        check_has(&reply, "Access-Control-Allow-Headers", words[i]);
    client_free(&reply);
}
END_TEST

START_TEST(every_reply_may_be_read)
{
    static const struct {
        const char *method, *path, *body;
        long status;
    } rows[] = {{"GET", "/livez", NULL, 200},
                {"GET", "/nope", NULL, 404},
                {"GET", "/v1/attention", NULL, 405},
                {"POST", "/v1/attention", SAMPLE_CAT, 200},
                {"POST", "/v1/attention", "{", 400},
                {"POST", "/v1/attention", "{\"a\":1}", 422},
                {"OPTIONS", "/nope", NULL, 204},
                {"GET", "/v1/info", NULL, 200},
                {"HEAD", "/", NULL, 200}};
    static const char *const exposed[] = {"X-Request-Id", "Retry-After",      "Server-Timing", "ETag",
                                          "Allow",        "Content-Encoding", "Content-Length"};
    struct client_reply reply =
        ask(&open_service, rows[_i].method, rows[_i].path, "https://page.example", rows[_i].body);
    ck_assert_int_eq(reply.status, rows[_i].status);
    check_header(&reply, "Access-Control-Allow-Origin", "*");
    check_header(&reply, "Timing-Allow-Origin", "*");
    for (size_t i = 0; i < sizeof exposed / sizeof *exposed; i++)
        check_has(&reply, "Access-Control-Expose-Headers", exposed[i]);
    client_free(&reply);
}
END_TEST

START_TEST(refusals_before_the_handler_may_be_read)
{
    struct client_reply reply = client_send(
        &open_service, &(struct client_request){.path = "/v1/attention",
                                                .headers = {"Origin: null", "Content-Length: 1000000000000"},
                                                .body = "x"});
    ck_assert_int_eq(reply.status, 413);
    check_header(&reply, "Access-Control-Allow-Origin", "*");
    client_free(&reply);
    struct service hasty = service_start((const char *const[]){"--body-timeout", "0.5", NULL});
    struct wire wire = wire_open(&hasty);
    ck_assert(wire_send(&wire, "POST /v1/attention HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{"));
    ck_assert(wire_receive_text(&wire, "Access-Control-Allow-Origin: *\r\n", 30));
    wire_close(&wire);
    ck_assert_int_eq(service_stop(&hasty), 0);
}
END_TEST

START_TEST(listed_origins_are_named)
{
    static const struct {
        const char *origin, *allowed;
    } rows[] = {{"https://a.example", "https://a.example"},
                {"https://b.example", "https://b.example"},
                {"null", "null"},
                {"https://c.example", NULL},
                {"https://a.example.evil.example", NULL},
                {"https://a.exampl", NULL},
                {"*", NULL}};
    struct client_reply reply = ask(&listed, "POST", "/v1/attention", rows[_i].origin, SAMPLE_CAT);
    ck_assert_int_eq(reply.status, 200);
    check_header(&reply, "Access-Control-Allow-Origin", rows[_i].allowed);
    check_header(&reply, "Access-Control-Allow-Credentials", NULL);
    check_has(&reply, "Vary", "Origin");
    client_free(&reply);
}
END_TEST

START_TEST(without_cors_nothing_is_said)
{
    struct client_reply reply = ask(&closed, "GET", "/livez", "https://a.example", NULL);
    ck_assert_int_eq(reply.status, 200);
    ck_assert_ptr_null(strcasestr(reply.head, "access-control"));
    ck_assert_ptr_null(strcasestr(reply.head, "timing-allow"));
    client_free(&reply);
}
END_TEST

Suite *cors_suite(void)
{
    Suite *suite = suite_create("cors");
    TCase *tests = tcase_create("three services");
    tcase_add_unchecked_fixture(tests, start, stop);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, preflight_is_answered_as_a_browser_wants);
    tcase_add_loop_test(tests, every_reply_may_be_read, 0, 9);
    tcase_add_test(tests, refusals_before_the_handler_may_be_read);
    tcase_add_loop_test(tests, listed_origins_are_named, 0, 7);
    tcase_add_test(tests, without_cors_nothing_is_said);
    suite_add_tcase(suite, tests);
    return suite;
}
