/* The query of a target, and the forms of pages. */
#include "tests/http/client.h"
#include "tests/http/sample.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

Suite *query_suite(void);

static struct service service;

static void start(void)
{
    service = service_start(NULL);
}

static void stop(void)
{
    ck_assert_int_eq(service_stop(&service), 0);
}

START_TEST(unknown_parameter_is_400_and_named)
{
    static const struct {
        const char *path, *body, *said;
    } rows[] = {
        {"/v1/attention?prety", SAMPLE_CAT, "There is no query parameter prety; did you mean pretty?"},
        {"/v1/attention?decimals=3", SAMPLE_CAT, "There is no query parameter decimals; there are pretty and color."},
        {"/v1/attention?colour=always", SAMPLE_CAT, "There is no query parameter colour; did you mean color?"},
        {"/v1/attention?color", SAMPLE_CAT, "color is never or always"},
        {"/v1/attention?color=auto", SAMPLE_CAT, "color is never or always"},
        {"/v1/info?a=1&pretty", NULL, "There is no query parameter a;"},
        {"/?x%0ay=1", NULL, "There is no query parameter x%0ay;"},
        {"/openapi.json?pretty=maybe", NULL, "pretty is true or false"}};
    struct client_reply reply =
        rows[_i].body ? client_post(&service, rows[_i].path, rows[_i].body) : client_get(&service, rows[_i].path);
    json_t *problem = client_problem(&reply, 400);
    ck_assert_str_eq(json_string_value(json_object_get(problem, "code")), "unknown-parameter");
    const char *detail = json_string_value(json_object_get(problem, "detail"));
    ck_assert_msg(strstr(detail, rows[_i].said) != NULL, "%s", detail);
    json_decref(problem);
    client_free(&reply);
}
END_TEST

/* Some probers add one against caches. */
START_TEST(probes_answer_whatever_the_query)
{
    static const char *const paths[] = {"/livez?t=1", "/readyz?t", "/health?verbose", "/metrics?name=x"};
    struct client_reply reply = client_get(&service, paths[_i]);
    ck_assert_int_eq(reply.status, 200);
    client_free(&reply);
}
END_TEST

START_TEST(pretty_is_the_same_document_in_lines)
{
    static const struct {
        const char *plain, *pretty, *body, *line;
    } rows[] = {{"/v1/attention", "/v1/attention?pretty", SAMPLE_CAT, "\n  \"output\": [\n    ["},
                {"/v1/attention", "/v1/attention?pretty=true", SAMPLE_CAT, "\n  \"scale\": "},
                {"/v1/examples", "/v1/examples?pretty", NULL, "\n      \"name\": \"the-cat\",\n"},
                {"/problems/timeout", "/problems/timeout?pretty=1", NULL, "{\n  \"type\": "},
                {"/openapi.json", "/openapi.json?pretty", NULL, "{\n  \"openapi\": \"3.1.0\",\n"}};
    struct client_reply plain =
        rows[_i].body ? client_post(&service, rows[_i].plain, rows[_i].body) : client_get(&service, rows[_i].plain);
    struct client_reply pretty =
        rows[_i].body ? client_post(&service, rows[_i].pretty, rows[_i].body) : client_get(&service, rows[_i].pretty);
    ck_assert_int_eq(pretty.status, 200);
    ck_assert_msg(strstr(pretty.body, rows[_i].line) != NULL, "%s", pretty.body);
    json_t *one = client_json(&plain);
    json_t *other = client_json(&pretty);
    ck_assert(json_equal(one, other));
    json_decref(one);
    json_decref(other);
    client_free(&plain);
    client_free(&pretty);
}
END_TEST

START_TEST(pretty_false_changes_nothing)
{
    struct client_reply plain = client_post(&service, "/v1/attention", SAMPLE_CAT);
    struct client_reply same = client_post(&service, "/v1/attention?pretty=false", SAMPLE_CAT);
    ck_assert_str_eq(plain.body, same.body);
    client_free(&plain);
    client_free(&same);
}
END_TEST

START_TEST(refusals_are_pretty_too)
{
    static const char *const bodies[] = {"{\"q\":[[1]]}", "{"};
    struct client_reply reply = client_post(&service, "/v1/attention?pretty", bodies[_i]);
    ck_assert_int_ge(reply.status, 400);
    ck_assert_int_eq(strncmp(reply.body, "{\n  \"type\": \"/problems/", 23), 0);
    client_free(&reply);
    reply = client_get(&service, "/nope?pretty");
    json_decref(client_problem(&reply, 404));
    ck_assert_int_eq(strncmp(reply.body, "{\n  \"type\": \"/problems/", 23), 0);
    client_free(&reply);
}
END_TEST

/* The worker indents, then packs. */
START_TEST(pretty_may_be_packed_and_text_stays_text)
{
    char value[64];
    char *body = sample_square(40, 4, "\"include\":[\"output\",\"weights\"]");
    struct client_reply reply = client_send(
        &service,
        &(struct client_request){.path = "/v1/attention?pretty", .body = body, .headers = {"Accept-Encoding: gzip"}});
    ck_assert_int_eq(reply.status, 200);
    ck_assert_str_eq(client_header(&reply, "Content-Encoding", value, sizeof value), "gzip");
    client_free(&reply);
    free(body);
    struct client_request text = {.path = "/v1/attention", .body = SAMPLE_CAT, .headers = {"Accept: text/plain"}};
    struct client_reply plain = client_send(&service, &text);
    text.path = "/v1/attention?pretty";
    struct client_reply pretty = client_send(&service, &text);
    ck_assert_str_eq(plain.body, pretty.body);
    client_free(&plain);
    client_free(&pretty);
}
END_TEST

START_TEST(color_is_for_text_that_asks_for_it)
{
    struct client_request request = {.path = "/v1/attention", .body = SAMPLE_CAT, .headers = {"Accept: text/plain"}};
    struct client_reply plain = client_send(&service, &request);
    request.path = "/v1/attention?color=never";
    struct client_reply never = client_send(&service, &request);
    request.path = "/v1/attention?color=always";
    struct client_reply always = client_send(&service, &request);
    struct client_reply json = client_post(&service, "/v1/attention?color=always", SAMPLE_CAT);
    ck_assert_str_eq(plain.body, never.body);
    ck_assert_ptr_null(strchr(plain.body, '\x1b'));
    ck_assert_int_eq(always.status, 200);
    ck_assert_ptr_nonnull(strstr(always.body, "\x1b[48;5;"));
    ck_assert_ptr_null(strchr(json.body, '\x1b'));
    client_free(&plain);
    client_free(&never);
    client_free(&always);
    client_free(&json);
}
END_TEST

/* A large reply is streamed, and comes as it is. */
START_TEST(streamed_reply_comes_as_it_is)
{
    char *body = sample_square(300, 2, "\"include\":[\"weights\"]");
    struct client_reply plain = client_post(&service, "/v1/attention", body);
    struct client_reply pretty = client_post(&service, "/v1/attention?pretty", body);
    ck_assert_int_eq(pretty.status, 200);
    ck_assert_uint_eq(plain.length, pretty.length);
    ck_assert_int_eq(memcmp(plain.body, pretty.body, plain.length), 0);
    client_free(&plain);
    client_free(&pretty);
    free(body);
}
END_TEST

START_TEST(lists_have_a_form_for_people)
{
    static const struct {
        const char *path, *line;
    } rows[] = {{"/", "\n  POST  /v1/attention "},
                {"/problems", "404 not-found: There is nothing at this path\n  "},
                {"/v1/examples", "the-cat: The cat looks back\n  "}};
    char value[64];
    struct client_reply reply =
        client_send(&service, &(struct client_request){.path = rows[_i].path, .headers = {"Accept: text/plain"}});
    ck_assert_int_eq(reply.status, 200);
    ck_assert_str_eq(client_header(&reply, "Content-Type", value, sizeof value), "text/plain; charset=utf-8");
    ck_assert_ptr_nonnull(strstr(client_header(&reply, "Vary", value, sizeof value), "Accept"));
    ck_assert_ptr_nonnull(client_header(&reply, "ETag", value, sizeof value));
    ck_assert_msg(strstr(reply.body, rows[_i].line) != NULL, "%s", reply.body);
    client_free(&reply);
    static const char *const both[] = {"Accept: */*", "Accept: application/json, text/plain"};
    for (size_t i = 0; i < sizeof both / sizeof *both; i++) {
        reply = client_send(&service, &(struct client_request){.path = rows[_i].path, .headers = {both[i]}});
        json_decref(client_json(&reply));
        client_free(&reply);
    }
}
END_TEST

Suite *query_suite(void)
{
    Suite *suite = suite_create("query");
    TCase *tests = tcase_create("one service");
    tcase_add_unchecked_fixture(tests, start, stop);
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, unknown_parameter_is_400_and_named, 0, 8);
    tcase_add_loop_test(tests, probes_answer_whatever_the_query, 0, 4);
    tcase_add_loop_test(tests, pretty_is_the_same_document_in_lines, 0, 5);
    tcase_add_test(tests, pretty_false_changes_nothing);
    tcase_add_loop_test(tests, refusals_are_pretty_too, 0, 2);
    tcase_add_test(tests, pretty_may_be_packed_and_text_stays_text);
    tcase_add_test(tests, color_is_for_text_that_asks_for_it);
    tcase_add_test(tests, streamed_reply_comes_as_it_is);
    tcase_add_loop_test(tests, lists_have_a_form_for_people, 0, 3);
    suite_add_tcase(suite, tests);
    return suite;
}
