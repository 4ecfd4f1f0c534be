/* Heads without a connection: Host, and the decoding of targets. */
#include "server/http/host.h"
#include "server/http/request_head.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

Suite *request_head_suite(void);

START_TEST(hosts_are_read)
{
    static const char *const good[] = {
        "",         "x",           "example.org", "example.org:80", "a_b-c~d.e", "%41b:1",     "[::1]",
        "[::1]:80", "192.0.2.1:8", "x:",          "x:065535",       "x:0",       "[v1.a:b]:1", "!$&'()*+,;="};
    static const char *const bad[] = {
        "a b",  "user@host", "[::1", "host:port",   "host:99999999", "http://host/", "host:65536",
        ":80",  "[::1]x",    "[]",   "[:::1]",      "[v1]",          "[v.a]",        "%4",
        "%zz",  "a/b",       "a\\b", "a\"b",        "\xc3\xa9.org",  "::1",          "x:80:1",
        "x:-1", "x?",        "x#",   "[127.0.0.1]", "[::1%eth0]"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        ck_assert_msg(host_is_valid(good[i]), "%s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(!host_is_valid(bad[i]), "%s", bad[i]);
}
END_TEST

START_TEST(targets_are_decoded_but_for_slashes)
{
    static const struct {
        const char *text, *decoded;
    } rows[] = {{"/v1/info", "/v1/info"},
                {"/v1%2finfo%2F", "/v1%2finfo%2F"},
                {"/%76%31", "/v1"},
                {"%", "%"},
                {"%4", "%4"},
                {"%4g%g4%%41", "%4g%g4%A"},
                {"%00", "%00"},
                {"%c3%A9", "\xc3\xa9"},
                {"", ""}};
    char text[64];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(text, sizeof text, "%s", rows[i].text);
        ck_assert_uint_eq(request_head_unescape(NULL, NULL, text), strlen(rows[i].decoded));
        ck_assert_str_eq(text, rows[i].decoded);
    }
}
END_TEST

Suite *request_head_suite(void)
{
    Suite *suite = suite_create("request_head");
    TCase *tests = tcase_create("reading");
    tcase_add_test(tests, hosts_are_read);
    tcase_add_test(tests, targets_are_decoded_but_for_slashes);
    suite_add_tcase(suite, tests);
    return suite;
}
