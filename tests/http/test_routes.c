/* Paths, methods and what every reply carries. */
#include "tests/http/client.h"
#include "tests/http/sample.h"
#include "tests/http/wire.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

Suite *routes_suite(void);

#define PATIENCE 30.0

static struct service service;

static void start(void)
{
    service = service_start(NULL);
}

static void stop(void)
{
    ck_assert_int_eq(service_stop(&service), 0);
}

static void check_header(const struct client_reply *reply, const char *name, const char *wanted)
{
    char value[256];
    ck_assert_msg(client_header(reply, name, value, sizeof value) != NULL, "%s is missing in: %s", name, reply->head);
    ck_assert_str_eq(value, wanted);
}

static struct client_reply send_method(const char *method, const char *path)
{
    return client_send(&service, &(struct client_request){.method = method, .path = path});
}

START_TEST(health_says_ok)
{
    static const char *const paths[] = {"/livez", "/readyz", "/health"};
    struct client_reply reply = client_get(&service, paths[_i]);
    ck_assert_int_eq(reply.status, 200);
    json_t *root = client_json(&reply);
    ck_assert_str_eq(json_string_value(json_object_get(root, "status")), "ok");
    json_decref(root);
    client_free(&reply);
}
END_TEST

START_TEST(root_lists_links_that_work)
{
    size_t index = 0;
    json_t *link = NULL;
    struct client_reply reply = client_get(&service, "/");
    ck_assert_int_eq(reply.status, 200);
    json_t *root = client_json(&reply);
    ck_assert_uint_gt(json_array_size(json_object_get(root, "links")), 4);
    json_array_foreach(json_object_get(root, "links"), index, link)
    {
        const char *path = json_string_value(json_object_get(link, "href"));
        if (strchr(path, '{'))
            continue;
        struct client_reply options = send_method("OPTIONS", path);
        ck_assert_int_eq(options.status, 204);
        check_header(&options, "Allow", json_string_value(json_object_get(link, "methods")));
        client_free(&options);
    }
    json_decref(root);
    client_free(&reply);
}
END_TEST

START_TEST(head_is_get_without_a_body)
{
    static const char *const paths[] = {"/", "/livez", "/readyz", "/health", "/v1/info"};
    char length[32];
    struct client_reply got = client_get(&service, paths[_i]);
    struct client_reply head = send_method("HEAD", paths[_i]);
    ck_assert_int_eq(head.status, got.status);
    ck_assert_uint_eq(head.length, 0);
    ck_assert_ptr_nonnull(client_header(&got, "Content-Length", length, sizeof length));
    check_header(&head, "Content-Length", length);
    client_free(&got);
    client_free(&head);
}
END_TEST

START_TEST(unknown_path_is_404)
{
    static const char *const paths[] = {"/nope", "/v1", "/v1/attention/", "/v1/attention/nope", "/livez%2f", "//livez"};
    struct client_reply reply = client_get(&service, paths[_i]);
    json_decref(client_problem(&reply, 404));
    client_free(&reply);
}
END_TEST

START_TEST(targets_with_an_address_are_their_paths)
{
    static const struct {
        const char *request;
        int status;
    } rows[] = {
        {"GET http://x/livez HTTP/1.1\r\nHost: x\r\n\r\n", 200},
        {"GET HTTPS://example.org:443/v1/info?pretty HTTP/1.1\r\nHost: x\r\n\r\n", 200},
        {"GET http://x/nope HTTP/1.1\r\nHost: x\r\n\r\n", 404},
        {"GET http://x HTTP/1.1\r\nHost: x\r\n\r\n", 200},
        {"GET http:///livez HTTP/1.1\r\nHost: x\r\n\r\n", 200},
        {"GET http:// HTTP/1.1\r\nHost: x\r\n\r\n", 404},
        {"GET ftp://x/livez HTTP/1.1\r\nHost: x\r\n\r\n", 404},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct wire wire = wire_open(&service);
        ck_assert(wire_send(&wire, rows[i].request));
        ck_assert_int_eq(wire_receive(&wire, NULL, PATIENCE), rows[i].status);
        wire_close(&wire);
    }
}
END_TEST

START_TEST(wrong_method_is_405_with_allow)
{
    static const struct {
        const char *method, *path, *allow;
    } rows[] = {
        {"GET", "/v1/attention", "POST, OPTIONS"}, {"HEAD", "/v1/attention", "POST, OPTIONS"},
        {"PUT", "/v1/attention", "POST, OPTIONS"}, {"DELETE", "/v1/attention", "POST, OPTIONS"},
        {"POST", "/livez", "GET, HEAD, OPTIONS"},  {"PATCH", "/v1/info", "GET, HEAD, OPTIONS"},
        {"TRACE", "/", "GET, HEAD, OPTIONS"},      {"BREW", "/", "GET, HEAD, OPTIONS"},
        {"get", "/livez", "GET, HEAD, OPTIONS"},
    };
    struct client_reply reply = send_method(rows[_i].method, rows[_i].path);
    check_header(&reply, "Allow", rows[_i].allow);
    if (strcmp(rows[_i].method, "HEAD") != 0)
        json_decref(client_problem(&reply, 405));
    ck_assert_int_eq(reply.status, 405);
    client_free(&reply);
}
END_TEST

START_TEST(options_answers_everywhere)
{
    static const char *const paths[] = {"/", "/v1/attention", "/nope"};
    struct client_reply reply = send_method("OPTIONS", paths[_i]);
    ck_assert_int_eq(reply.status, 204);
    ck_assert_uint_eq(reply.length, 0);
    ck_assert_ptr_nonnull(strstr(reply.head, "Allow: "));
    client_free(&reply);
}
END_TEST

START_TEST(every_reply_has_the_common_headers)
{
    static const char *const paths[] = {"/", "/livez", "/nope", "/v1/attention"};
    char value[256];
    struct client_reply reply = client_get(&service, paths[_i]);
    check_header(&reply, "X-Content-Type-Options", "nosniff");
    check_header(&reply, "Referrer-Policy", "no-referrer");
    ck_assert_ptr_nonnull(client_header(&reply, "X-Request-Id", value, sizeof value));
    ck_assert_ptr_nonnull(client_header(&reply, "Cache-Control", value, sizeof value));
    ck_assert_ptr_nonnull(client_header(&reply, "Date", value, sizeof value));
    ck_assert_ptr_null(client_header(&reply, "Server", value, sizeof value));
    client_free(&reply);
}
END_TEST

START_TEST(attention_computes)
{
    char value[256];
    struct client_reply reply = client_post(&service, "/v1/attention", SAMPLE_CAT);
    ck_assert_msg(reply.status == 200, "%s", reply.body);
    check_header(&reply, "Content-Type", "application/json");
    check_header(&reply, "Cache-Control", "no-store");
    ck_assert_ptr_nonnull(client_header(&reply, "Server-Timing", value, sizeof value));
    ck_assert_ptr_nonnull(strstr(value, "parse;dur="));
    ck_assert_ptr_nonnull(strstr(value, "queue;dur="));
    ck_assert_ptr_nonnull(strstr(value, "compute;dur="));
    ck_assert_ptr_nonnull(strstr(value, "serialize;dur="));
    json_t *root = client_json(&reply);
    const json_t *row = json_array_get(json_object_get(root, "weights"), 1);
    ck_assert_double_eq_tol(json_real_value(json_array_get(row, 0)), 0.2799, 5e-5);
    ck_assert_double_eq_tol(json_real_value(json_array_get(row, 1)), 0.7201, 5e-5);
    json_decref(root);
    client_free(&reply);
}
END_TEST

START_TEST(text_is_for_people_who_ask_for_it)
{
    static const struct {
        const char *accept, *type;
    } rows[] = {{"Accept: text/plain", "text/plain; charset=utf-8"},
                {"Accept: application/json;q=0.5, text/plain", "text/plain; charset=utf-8"},
                {"Accept: text/plain, application/json", "application/json"},
                {"Accept: */*", "application/json"},
                {"Accept: text/*;q=0.5, */*;q=0.1", "text/plain; charset=utf-8"},
                {"Accept: image/svg+xml", "image/svg+xml; charset=utf-8"},
                {"Accept: image/*, application/json;q=0.9, text/plain;q=0.8", "image/svg+xml; charset=utf-8"},
                {"Accept: image/svg+xml;q=0.5, text/plain", "text/plain; charset=utf-8"},
                {"Accept: image/svg+xml, application/json", "application/json"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct client_reply reply = client_send(
            &service,
            &(struct client_request){.path = "/v1/attention", .headers = {rows[i].accept}, .body = SAMPLE_CAT});
        ck_assert_int_eq(reply.status, 200);
        check_header(&reply, "Content-Type", rows[i].type);
        client_free(&reply);
    }
    struct client_reply metrics =
        client_send(&service, &(struct client_request){.path = "/metrics", .headers = {"Accept: text/plain"}});
    ck_assert_int_eq(metrics.status, 200);
    client_free(&metrics);
}
END_TEST

/* A picture is a form of the reply of attention alone; a refusal is a problem all the same. */
START_TEST(pictures_are_of_attention)
{
    static const char accept[] = "Accept: image/svg+xml";
    struct client_reply picture = client_send(
        &service, &(struct client_request){.path = "/v1/attention", .headers = {accept}, .body = SAMPLE_CAT});
    ck_assert_int_eq(picture.status, 200);
    ck_assert_ptr_eq(strstr(picture.body, "<svg "), picture.body);
    client_free(&picture);
    struct client_reply refused = client_send(
        &service, &(struct client_request){.path = "/v1/attention", .headers = {accept}, .body = "{\"q\":1}"});
    ck_assert_int_eq(refused.status, 422);
    check_header(&refused, "Content-Type", "application/problem+json");
    client_free(&refused);
    struct client_reply explained = client_send(
        &service, &(struct client_request){.path = "/v1/attention/explain", .headers = {accept}, .body = SAMPLE_CAT});
    ck_assert_int_eq(explained.status, 406);
    client_free(&explained);
}
END_TEST

/* Whoever asks for text or a picture gets another reply than the next one. */
START_TEST(replies_vary_where_there_are_forms)
{
    static const struct {
        const char *path, *body, *vary;
    } rows[] = {
        {"/v1/attention", SAMPLE_CAT, "Accept, Accept-Encoding"},
        {"/v1/attention", "{}", "Accept, Accept-Encoding"},
        {"/v1/attention/merge", "{}", "Accept-Encoding"},
        {"/v1/decode", "{}", "Accept-Encoding"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct client_reply reply = client_post(&service, rows[i].path, rows[i].body);
        check_header(&reply, "Vary", rows[i].vary);
        client_free(&reply);
    }
}
END_TEST

/* A list may come in several lines, as some clients send it. */
START_TEST(lines_of_a_list_are_one_list)
{
    char etag[64];
    char lines[128];
    struct client_reply reply = client_send(
        &service,
        &(struct client_request){.path = "/v1/attention",
                                 .headers = {"Accept: image/png", "Accept: application/json;q=0.5",
                                             "Accept: text/plain", "Accept-Encoding: br", "Accept-Encoding: gzip"},
                                 .body = SAMPLE_CAT});
    ck_assert_int_eq(reply.status, 200);
    check_header(&reply, "Content-Type", "text/plain; charset=utf-8");
    check_header(&reply, "Content-Encoding", "gzip");
    client_free(&reply);
    struct client_reply page = client_get(&service, "/v1/info");
    ck_assert_ptr_nonnull(client_header(&page, "ETag", etag, sizeof etag));
    client_free(&page);
    snprintf(lines, sizeof lines, "If-None-Match: %s", etag);
    struct client_reply same = client_send(
        &service, &(struct client_request){.path = "/v1/info", .headers = {"If-None-Match: \"other\"", lines}});
    ck_assert_int_eq(same.status, 304);
    client_free(&same);
}
END_TEST

START_TEST(merge_computes)
{
    struct client_reply reply = client_post(&service, "/v1/attention/merge",
                                            "{\"parts\":[{\"output\":[[1,2]],\"log_sum_exp\":[0]},"
                                            "{\"output\":[[3,4]],\"log_sum_exp\":[0]}]}");
    ck_assert_msg(reply.status == 200, "%s", reply.body);
    json_t *root = client_json(&reply);
    const json_t *row = json_array_get(json_object_get(root, "output"), 0);
    ck_assert_double_eq_tol(json_number_value(json_array_get(row, 0)), 2, 1e-12);
    ck_assert_double_eq_tol(json_number_value(json_array_get(row, 1)), 3, 1e-12);
    json_decref(root);
    client_free(&reply);
}
END_TEST

START_TEST(info_tells_versions_and_limits)
{
    static const char *const limits[] = {
        "port",     "workers",      "queue",          "max_connections", "max_body",       "max_header",
        "memory",   "max_elements", "request_memory", "header_timeout",  "body_timeout",   "max_reply_elements",
        "deadline", "idle_timeout", "write_timeout",  "drain_timeout",   "shutdown_delay", "max_flops"};
    struct client_reply reply = client_get(&service, "/v1/info");
    json_t *root = client_json(&reply);
    const json_t *libraries = json_object_get(root, "libraries");
    ck_assert_int_eq(reply.status, 200);
    ck_assert_ptr_nonnull(json_string_value(json_object_get(root, "version")));
    ck_assert_ptr_nonnull(json_string_value(json_object_get(root, "revision")));
    ck_assert_ptr_nonnull(json_string_value(json_object_get(root, "blas_kernel")));
    ck_assert_ptr_nonnull(json_string_value(json_object_get(root, "simd")));
    ck_assert_str_eq(json_string_value(json_object_get(libraries, "jansson")), jansson_version_str());
    ck_assert_ptr_nonnull(json_string_value(json_object_get(libraries, "libmicrohttpd")));
    ck_assert_ptr_nonnull(strstr(json_string_value(json_object_get(libraries, "openblas")), "OpenBLAS"));
    ck_assert_int_ge(json_integer_value(json_object_get(root, "workers")), 1);
    ck_assert_int_eq(json_integer_value(json_object_get(root, "small_head_terms")), 16384);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        ck_assert_msg(json_is_number(json_object_get(json_object_get(root, "limits"), limits[i])), "%s", limits[i]);
    json_decref(root);
    client_free(&reply);
}
END_TEST

static void check_id(const char *sent, bool kept)
{
    char header[400];
    char value[400];
    snprintf(header, sizeof header, "X-Request-Id: %s", sent);
    struct client_reply reply = client_send(&service, &(struct client_request){.path = "/nope", .headers = {header}});
    json_decref(client_problem(&reply, 404));
    ck_assert_ptr_nonnull(client_header(&reply, "X-Request-Id", value, sizeof value));
    ck_assert_int_eq(strcmp(value, sent) == 0, kept);
    ck_assert_uint_ge(strlen(value), 8);
    client_free(&reply);
}

static struct client_reply ask_if_changed(const char *path, const char *etag)
{
    char header[128];
    snprintf(header, sizeof header, "If-None-Match: %s", etag);
    return client_send(&service, &(struct client_request){.path = path, .headers = {header}});
}

START_TEST(lasting_pages_have_an_etag)
{
    static const char *const paths[] = {"/", "/v1/info", "/openapi.json", "/problems/timeout", "/v1/examples/the-cat"};
    char etag[64];
    char list[128];
    struct client_reply first = client_get(&service, paths[_i]);
    ck_assert_int_eq(first.status, 200);
    ck_assert_ptr_nonnull(client_header(&first, "ETag", etag, sizeof etag));
    ck_assert_uint_gt(strlen(etag), 8);
    ck_assert(etag[0] == '"' && etag[strlen(etag) - 1] == '"');
    check_header(&first, "Cache-Control", "no-cache");
    snprintf(list, sizeof list, "\"other\", W/%s", etag);
    const char *const same[] = {etag, list, "*"};
    for (size_t i = 0; i < 3; i++) {
        struct client_reply again = ask_if_changed(paths[_i], same[i]);
        ck_assert_int_eq(again.status, 304);
        ck_assert_uint_eq(again.length, 0);
        check_header(&again, "ETag", etag);
        client_free(&again);
    }
    struct client_reply other = ask_if_changed(paths[_i], "\"other\"");
    ck_assert_int_eq(other.status, 200);
    ck_assert_str_eq(other.body, first.body);
    client_free(&other);
    client_free(&first);
}
END_TEST

START_TEST(packed_pages_have_an_etag_of_their_own)
{
    char plain_etag[64];
    char etag[64];
    struct client_reply plain = client_get(&service, "/openapi.json");
    struct client_reply packed =
        client_send(&service, &(struct client_request){.path = "/openapi.json", .headers = {"Accept-Encoding: gzip"}});
    check_header(&packed, "Content-Encoding", "gzip");
    ck_assert_ptr_nonnull(client_header(&plain, "ETag", plain_etag, sizeof plain_etag));
    ck_assert_ptr_nonnull(client_header(&packed, "ETag", etag, sizeof etag));
    ck_assert_str_ne(plain_etag, etag);
    ck_assert_uint_lt(packed.length, plain.length);
    client_free(&plain);
    client_free(&packed);
}
END_TEST

START_TEST(what_changes_has_no_etag)
{
    static const char *const paths[] = {"/livez", "/readyz", "/metrics", "/nope"};
    char value[64];
    struct client_reply reply = ask_if_changed(paths[_i], "*");
    ck_assert_int_ne(reply.status, 304);
    ck_assert_ptr_null(client_header(&reply, "ETag", value, sizeof value));
    check_header(&reply, "Cache-Control", "no-store");
    client_free(&reply);
}
END_TEST

START_TEST(every_problem_is_explained_at_its_type)
{
    size_t index = 0;
    json_t *problem = NULL;
    struct client_reply reply = client_get(&service, "/problems");
    json_t *root = client_json(&reply);
    ck_assert_uint_gt(json_array_size(root), 20);
    json_array_foreach(root, index, problem)
    {
        const char *type = json_string_value(json_object_get(problem, "type"));
        struct client_reply one = client_get(&service, type);
        ck_assert_int_eq(one.status, 200);
        json_t *explained = client_json(&one);
        ck_assert_int_eq(json_equal(explained, problem), 1);
        ck_assert_uint_gt(strlen(json_string_value(json_object_get(explained, "advice"))), 10);
        json_decref(explained);
        client_free(&one);
    }
    json_decref(root);
    client_free(&reply);
    struct client_reply none = client_get(&service, "/problems/nope");
    json_decref(client_problem(&none, 404));
    client_free(&none);
}
END_TEST

/* Those that people meet say what usually brings them about, in each form. */
START_TEST(common_causes_say_what_to_send_instead)
{
    static const char *const codes[] = {"malformed-body",
                                        "unauthorized",
                                        "body-too-large",
                                        "too-large",
                                        "unsupported-type",
                                        "unsupported-coding",
                                        "invalid-request",
                                        "too-many-requests",
                                        "no-memory",
                                        "queue-full",
                                        "deadline",
                                        "draining",
                                        "too-many-connections",
                                        "too-many-client-connections"};
    char path[64];
    size_t index = 0;
    json_t *each = NULL;
    snprintf(path, sizeof path, "/problems/%s", codes[_i]);
    struct client_reply json = client_get(&service, path);
    struct client_reply text = client_send(
        &service, &(struct client_request){.method = "GET", .path = path, .headers = {"Accept: text/plain"}});
    check_header(&text, "Content-Type", "text/plain; charset=utf-8");
    json_t *root = client_json(&json);
    const json_t *causes = json_object_get(root, "causes");
    ck_assert_uint_eq(json_array_size(causes), 3);
    json_array_foreach(causes, index, each)
    {
        ck_assert_ptr_nonnull(strstr(text.body, json_string_value(json_object_get(each, "cause"))));
        ck_assert_ptr_nonnull(strstr(text.body, json_string_value(json_object_get(each, "instead"))));
    }
    json_decref(root);
    client_free(&json);
    client_free(&text);
}
END_TEST

START_TEST(openapi_is_there)
{
    struct client_reply reply = client_get(&service, "/openapi.json");
    json_t *root = client_json(&reply);
    const char *version = json_string_value(json_object_get(root, "openapi"));
    ck_assert_msg(version && strncmp(version, "3.1", 3) == 0, "%s", version);
    ck_assert_ptr_nonnull(json_object_get(json_object_get(root, "paths"), "/v1/attention"));
    json_decref(root);
    client_free(&reply);
}
END_TEST

START_TEST(request_id_is_kept_when_it_is_plain)
{
    char longest[130];
    memset(longest, 'x', sizeof longest);
    longest[128] = '\0';
    check_id("abc.DEF_0-9", true);
    check_id(longest, true);
    longest[128] = 'x';
    longest[129] = '\0';
    check_id(longest, false);
    check_id("with blank", false);
    check_id("quote\"", false);
    check_id("semi;colon", false);
    check_id("gr\xc3\xbc\xc3\x9f\x65", false);
}
END_TEST

START_TEST(refusals_keep_the_request_id)
{
    static const char large[] = "POST /v1/attention HTTP/1.1\r\nHost: x\r\nX-Request-Id: mine\r\n"
                                "Content-Length: 1000000000000\r\n\r\n";
    static const char unknown[] = "GET /nope HTTP/1.1\r\nHost: x\r\nX-Request-Id: mine\r\nConnection: close\r\n\r\n";
    char *body = NULL;
    struct wire wire = wire_open(&service);
    ck_assert(wire_send(&wire, _i ? large : unknown));
    ck_assert_int_eq(wire_receive(&wire, &body, PATIENCE), _i ? 413 : 404);
    wire_check_problem(&wire, body);
    ck_assert_ptr_nonnull(strstr(body, "\"request_id\":\"mine\""));
    free(body);
    wire_close(&wire);
}
END_TEST

START_TEST(request_ids_made_here_differ)
{
    char first[64];
    char second[64];
    struct client_reply one = client_get(&service, "/livez");
    struct client_reply two = client_get(&service, "/livez");
    ck_assert_ptr_nonnull(client_header(&one, "X-Request-Id", first, sizeof first));
    ck_assert_ptr_nonnull(client_header(&two, "X-Request-Id", second, sizeof second));
    ck_assert_str_ne(first, second);
    client_free(&one);
    client_free(&two);
}
END_TEST

Suite *routes_suite(void)
{
    Suite *suite = suite_create("routes");
    TCase *tests = tcase_create("one service");
    tcase_add_unchecked_fixture(tests, start, stop);
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, health_says_ok, 0, 3);
    tcase_add_test(tests, root_lists_links_that_work);
    tcase_add_loop_test(tests, head_is_get_without_a_body, 0, 5);
    tcase_add_loop_test(tests, unknown_path_is_404, 0, 6);
    tcase_add_test(tests, targets_with_an_address_are_their_paths);
    tcase_add_loop_test(tests, wrong_method_is_405_with_allow, 0, 9);
    tcase_add_loop_test(tests, options_answers_everywhere, 0, 3);
    tcase_add_loop_test(tests, every_reply_has_the_common_headers, 0, 4);
    tcase_add_test(tests, attention_computes);
    tcase_add_test(tests, text_is_for_people_who_ask_for_it);
    tcase_add_test(tests, pictures_are_of_attention);
    tcase_add_test(tests, replies_vary_where_there_are_forms);
    tcase_add_test(tests, lines_of_a_list_are_one_list);
    tcase_add_test(tests, merge_computes);
    tcase_add_loop_test(tests, lasting_pages_have_an_etag, 0, 5);
    tcase_add_test(tests, packed_pages_have_an_etag_of_their_own);
    tcase_add_loop_test(tests, what_changes_has_no_etag, 0, 4);
    tcase_add_test(tests, every_problem_is_explained_at_its_type);
    tcase_add_loop_test(tests, common_causes_say_what_to_send_instead, 0, 14);
    tcase_add_test(tests, openapi_is_there);
    tcase_add_test(tests, info_tells_versions_and_limits);
    tcase_add_test(tests, request_id_is_kept_when_it_is_plain);
    tcase_add_loop_test(tests, refusals_keep_the_request_id, 0, 2);
    tcase_add_test(tests, request_ids_made_here_differ);
    suite_add_tcase(suite, tests);
    return suite;
}
