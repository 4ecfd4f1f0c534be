/* What a browser gets: the explorer and its files. */
#include "tests/http/client.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

Suite *pages_suite(void);

#define BROWSER "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

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
    char value[512];
    ck_assert_msg(client_header(reply, name, value, sizeof value) != NULL, "%s is missing in: %s", name, reply->head);
    ck_assert_str_eq(value, wanted);
}

static struct client_reply ask(const char *method, const char *path, const char *first, const char *second)
{
    return client_send(&service, &(struct client_request){.method = method, .path = path, .headers = {first, second}});
}

START_TEST(a_browser_gets_the_explorer)
{
    char policy[512];
    struct client_reply reply = ask("GET", "/", BROWSER, NULL);
    ck_assert_int_eq(reply.status, 200);
    check_header(&reply, "Content-Type", "text/html; charset=utf-8");
    check_header(&reply, "Vary", "Accept, Accept-Encoding");
    check_header(&reply, "Cache-Control", "no-cache");
    ck_assert_ptr_nonnull(strstr(reply.body, "<html lang=\"en\">"));
    ck_assert_ptr_nonnull(client_header(&reply, "Content-Security-Policy", policy, sizeof policy));
    ck_assert_ptr_nonnull(strstr(policy, "default-src 'none'"));
    ck_assert_ptr_nonnull(strstr(policy, "script-src 'self';"));
    ck_assert_ptr_null(strstr(policy, "unsafe"));
    client_free(&reply);
}
END_TEST

START_TEST(other_pages_have_their_dress)
{
    static const struct {
        const char *path, *base;
    } pages[] = {{"/docs", "<head>\n<meta"},
                 {"/problems", "<head>\n<meta"},
                 {"/problems/timeout", "<base href=\"../\">"},
                 {"/v1/examples", "<base href=\"../\">"},
                 {"/v1/examples/the-cat", "<base href=\"../../\">"}};
    char policy[512];
    struct client_reply reply = ask("GET", pages[_i].path, BROWSER, NULL);
    ck_assert_int_eq(reply.status, 200);
    check_header(&reply, "Content-Type", "text/html; charset=utf-8");
    ck_assert_ptr_nonnull(client_header(&reply, "Content-Security-Policy", policy, sizeof policy));
    ck_assert_ptr_nonnull(strstr(reply.body, pages[_i].base));
    ck_assert_ptr_nonnull(strstr(reply.body, "/reference.js\""));
    client_free(&reply);
}
END_TEST

START_TEST(names_that_are_not_there_have_no_page)
{
    static const struct {
        const char *path, *list;
    } rows[] = {{"/problems/nope", "GET /problems lists"},
                {"/v1/examples/nope", "GET /v1/examples lists"},
                {"/web/nope", "GET / lists"}};
    struct client_reply reply = ask("GET", rows[_i].path, BROWSER, NULL);
    json_t *problem = client_problem(&reply, 404);
    ck_assert_str_eq(json_string_value(json_object_get(problem, "instance")), rows[_i].path);
    ck_assert_ptr_nonnull(strstr(json_string_value(json_object_get(problem, "detail")), rows[_i].list));
    json_decref(problem);
    client_free(&reply);
}
END_TEST

START_TEST(others_get_json)
{
    static const char *const accepts[] = {"Accept: */*", "Accept: application/json",
                                          "Accept:", "Accept: application/json, text/html;q=0.9",
                                          "Accept: text/html, */*"};
    char policy[64];
    struct client_reply reply = ask("GET", "/", accepts[_i], NULL);
    ck_assert_int_eq(reply.status, 200);
    check_header(&reply, "Content-Type", "application/json");
    ck_assert_ptr_null(client_header(&reply, "Content-Security-Policy", policy, sizeof policy));
    client_free(&reply);
}
END_TEST

START_TEST(pages_read_their_own_parameters)
{
    struct client_reply html = ask("GET", "/?embed=1&example=the-cat", BROWSER, NULL);
    struct client_reply json = ask("GET", "/?embed=1", "Accept: application/json", NULL);
    ck_assert_int_eq(html.status, 200);
    check_header(&html, "Content-Type", "text/html; charset=utf-8");
    json_decref(client_problem(&json, 400));
    client_free(&html);
    client_free(&json);
}
END_TEST

START_TEST(the_two_forms_have_different_etags)
{
    char json_etag[64];
    char html_etag[64];
    char header[128];
    struct client_reply json = ask("GET", "/", "Accept: application/json", NULL);
    struct client_reply html = ask("GET", "/", BROWSER, NULL);
    ck_assert_ptr_nonnull(client_header(&json, "ETag", json_etag, sizeof json_etag));
    ck_assert_ptr_nonnull(client_header(&html, "ETag", html_etag, sizeof html_etag));
    ck_assert_str_ne(json_etag, html_etag);
    snprintf(header, sizeof header, "If-None-Match: %s", html_etag);
    struct client_reply same = ask("GET", "/", BROWSER, header);
    ck_assert_int_eq(same.status, 304);
    struct client_reply other = ask("GET", "/", "Accept: application/json", header);
    ck_assert_int_eq(other.status, 200);
    client_free(&json);
    client_free(&html);
    client_free(&same);
    client_free(&other);
}
END_TEST

START_TEST(files_have_their_types)
{
    static const char *const files[][2] = {{"/web/main.js", "text/javascript; charset=utf-8"},
                                           {"/web/base.css", "text/css; charset=utf-8"},
                                           {"/web/icon.svg", "image/svg+xml"}};
    static const char *const accepts[] = {"Accept: */*", "Accept: text/css,*/*;q=0.1", "Accept: image/png"};
    for (size_t i = 0; i < 3; i++) {
        char etag[64];
        struct client_reply reply = ask("GET", files[_i][0], accepts[i], NULL);
        ck_assert_int_eq(reply.status, 200);
        check_header(&reply, "Content-Type", files[_i][1]);
        check_header(&reply, "Cache-Control", "no-cache");
        check_header(&reply, "X-Content-Type-Options", "nosniff");
        ck_assert_ptr_nonnull(client_header(&reply, "ETag", etag, sizeof etag));
        ck_assert_uint_gt(reply.length, 100);
        client_free(&reply);
    }
}
END_TEST

/* The path of a file as the explorer's own page names it. */
static void find_release(const char *name, char *out, size_t size)
{
    char mark[64];
    struct client_reply page = ask("GET", "/", BROWSER, NULL);
    snprintf(mark, sizeof mark, "/%s\"", name);
    const char *end = strstr(page.body, mark);
    ck_assert_ptr_nonnull(end);
    const char *start = end;
    while (start[-1] != '"')
        start--;
    snprintf(out, size, "/%.*s", (int)(end + strlen(mark) - 1 - start), start);
    client_free(&page);
}

START_TEST(files_of_a_release_are_kept_for_good)
{
    char path[128];
    find_release("main.js", path, sizeof path);
    ck_assert_uint_eq(strlen(path), strlen("/web/0123456789ab/main.js"));
    struct client_reply kept = ask("GET", path, NULL, NULL);
    struct client_reply plain = ask("GET", "/web/main.js", NULL, NULL);
    check_header(&kept, "Cache-Control", "public, max-age=31536000, immutable");
    check_header(&kept, "Content-Type", "text/javascript; charset=utf-8");
    ck_assert_str_eq(kept.body, plain.body);
    client_free(&kept);
    client_free(&plain);
}
END_TEST

START_TEST(another_release_has_no_files)
{
    char path[128];
    find_release("main.js", path, sizeof path);
    path[strlen("/web/")] ^= 1;
    struct client_reply reply = client_get(&service, path);
    check_header(&reply, "Cache-Control", "no-store");
    json_decref(client_problem(&reply, 404));
    client_free(&reply);
}
END_TEST

START_TEST(frames_are_for_whom_the_operator_names)
{
    static const struct {
        const char *flags[5], *directive;
    } cases[] = {
        {{NULL}, NULL},
        {{"--frame-ancestor", "none"}, "; frame-ancestors 'none'"},
        {{"--frame-ancestor", "self,https://a.example:8443", "--frame-ancestor", "http://b.example"},
         "; frame-ancestors 'self' https://a.example:8443 http://b.example"},
        {{"--frame-ancestor", "self", "--frame-ancestor", "*"}, NULL},
    };
    char policy[512];
    struct service own = service_start(cases[_i].flags);
    struct client_reply reply =
        client_send(&own, &(struct client_request){.method = "GET", .path = "/docs", .headers = {BROWSER}});
    ck_assert_ptr_nonnull(client_header(&reply, "Content-Security-Policy", policy, sizeof policy));
    const char *found = strstr(policy, "; frame-ancestors");
    ck_assert_int_eq(found != NULL, cases[_i].directive != NULL);
    if (found)
        ck_assert_str_eq(found, cases[_i].directive);
    client_free(&reply);
    ck_assert_int_eq(service_stop(&own), 0);
}
END_TEST

START_TEST(files_are_packed_for_who_takes_it)
{
    struct client_reply plain = ask("GET", "/web/main.js", NULL, NULL);
    struct client_reply packed = ask("GET", "/web/main.js", "Accept-Encoding: gzip", NULL);
    check_header(&packed, "Content-Encoding", "gzip");
    ck_assert_uint_lt(2 * packed.length, plain.length);
    client_free(&plain);
    client_free(&packed);
}
END_TEST

START_TEST(head_tells_what_get_sends)
{
    static const char *const paths[] = {"/", "/web/main.js"};
    char length[32];
    char wanted[32];
    struct client_reply get = ask("GET", paths[_i], BROWSER, NULL);
    struct client_reply head = ask("HEAD", paths[_i], BROWSER, NULL);
    ck_assert_int_eq(head.status, 200);
    ck_assert_uint_eq(head.length, 0);
    ck_assert_ptr_nonnull(client_header(&head, "Content-Length", length, sizeof length));
    snprintf(wanted, sizeof wanted, "%zu", get.length);
    ck_assert_str_eq(length, wanted);
    client_free(&get);
    client_free(&head);
}
END_TEST

START_TEST(there_are_no_other_files)
{
    static const char *const paths[] = {"/web/nope.js",   "/web/",   "/web/../main.js", "/web/README.md",
                                        "/web/x/main.js", "/web/x/", "/web//main.js",   "/web/x/y/main.js"};
    struct client_reply reply = client_get(&service, paths[_i]);
    json_decref(client_problem(&reply, 404));
    client_free(&reply);
}
END_TEST

Suite *pages_suite(void)
{
    Suite *suite = suite_create("pages");
    TCase *files = tcase_create("files");
    tcase_add_unchecked_fixture(files, start, stop);
    tcase_add_test(files, a_browser_gets_the_explorer);
    tcase_add_loop_test(files, other_pages_have_their_dress, 0, 5);
    tcase_add_loop_test(files, names_that_are_not_there_have_no_page, 0, 3);
    tcase_add_loop_test(files, others_get_json, 0, 5);
    tcase_add_test(files, pages_read_their_own_parameters);
    tcase_add_test(files, the_two_forms_have_different_etags);
    tcase_add_loop_test(files, files_have_their_types, 0, 3);
    tcase_add_test(files, files_of_a_release_are_kept_for_good);
    tcase_add_test(files, another_release_has_no_files);
    tcase_add_test(files, files_are_packed_for_who_takes_it);
    tcase_add_loop_test(files, head_tells_what_get_sends, 0, 2);
    tcase_add_loop_test(files, there_are_no_other_files, 0, 8);
    TCase *framed = tcase_create("framed");
    tcase_add_loop_test(framed, frames_are_for_whom_the_operator_names, 0, 4);
    suite_add_tcase(suite, framed);
    suite_add_tcase(suite, files);
    return suite;
}
