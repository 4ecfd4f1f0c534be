/* Replies packed with zstd and gzip. */
#include "tests/http/client.h"
#include "tests/http/packed.h"
#include "tests/http/sample.h"
#include "tests/http/wire.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *packing_suite(void);

static struct service service;

static void start(void)
{
    service = service_start((const char *const[]){"--max-body", "1M", NULL});
}

static void stop(void)
{
    ck_assert_int_eq(service_stop(&service), 0);
}

static const char *const codings[] = {"gzip", "zstd"};

static struct client_reply ask(const char *accept_encoding, const char *body)
{
    char header[128];
    snprintf(header, sizeof header, "Accept-Encoding: %s", accept_encoding);
    return client_send(&service, &(struct client_request){.path = "/v1/attention", .headers = {header}, .body = body});
}

START_TEST(coding_is_chosen_by_weight)
{
    static const struct {
        const char *accept;
        const char *coding; /* NULL: plain */
    } rows[] = {{"gzip", "gzip"},
                {"GZIP", "gzip"},
                {"gzip;q=0.001", "gzip"},
                {"br, gzip;q=0.5, *;q=0", "gzip"},
                {"*", "gzip"},
                {"identity;q=0.5, gzip;q=1.0", "gzip"},
                {"gzip;q=0", NULL},
                {"identity", NULL},
                {"br", NULL},
                {"gzip;q=0.5, identity;q=0.8", NULL},
                {"*;q=0", NULL},
                {"gzipx", NULL},
                {"identity;q=0.2,*", "gzip"},
                {"gzip, deflate, br, zstd", "zstd"},
                {"zstd", "zstd"},
                {"Zstd;q=0.2", "zstd"},
                {"zstd;q=0.4, gzip;q=0.5", "gzip"},
                {"zstd;q=0.5, gzip;q=0.4", "zstd"},
                {"zstd;q=0, gzip", "gzip"},
                {"zstd;q=0, *", "gzip"},
                {"zstd;q=0.5, *;q=0.1", "zstd"},
                {"zstd;q=0", NULL},
                {"zstd;q=0.5, identity", NULL},
                {"zstdx, x-zstd", NULL}};
    char value[64];
    char *body = sample_square(40, 4, "\"include\":[\"weights\"]");
    struct client_reply plain = client_post(&service, "/v1/attention", body);
    ck_assert_ptr_null(client_header(&plain, "Content-Encoding", value, sizeof value));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct client_reply reply = ask(rows[i].accept, body);
        ck_assert_int_eq(reply.status, 200);
        const char *coding = client_header(&reply, "Content-Encoding", value, sizeof value);
        ck_assert_msg(coding ? rows[i].coding && strcmp(coding, rows[i].coding) == 0 : !rows[i].coding, "%s: %s",
                      rows[i].accept, coding ? coding : "plain");
        if (coding) {
            size_t length = 0;
            char *text = packed_read(coding, &reply, &length);
            ck_assert_str_eq(text, plain.body);
            ck_assert_uint_lt(reply.length, length);
            free(text);
        }
        ck_assert_ptr_nonnull(client_header(&reply, "Vary", value, sizeof value));
        ck_assert_ptr_nonnull(strstr(value, "Accept-Encoding"));
        client_free(&reply);
    }
    client_free(&plain);
    free(body);
}
END_TEST

START_TEST(small_replies_stay_plain)
{
    char value[64];
    struct client_reply reply = ask("gzip, zstd", "{\"q\":[[1]],\"k\":[[1]],\"v\":[[1]]}");
    ck_assert_int_eq(reply.status, 200);
    ck_assert_ptr_null(client_header(&reply, "Content-Encoding", value, sizeof value));
    client_free(&reply);
}
END_TEST

START_TEST(streams_are_packed_block_by_block)
{
    char value[64];
    size_t length = 0;
    char *body = sample_square(700, 2, "\"include\":[\"weights\"]");
    struct client_reply plain = client_post(&service, "/v1/attention", body);
    struct client_reply reply = ask(codings[_i], body);
    ck_assert_int_eq(reply.status, 200);
    ck_assert_ptr_nonnull(client_header(&reply, "Transfer-Encoding", value, sizeof value));
    ck_assert_ptr_nonnull(client_header(&reply, "Content-Encoding", value, sizeof value));
    ck_assert_str_eq(value, codings[_i]);
    char *text = packed_read(value, &reply, &length);
    ck_assert_uint_eq(length, plain.length);
    ck_assert_int_eq(strcmp(text, plain.body), 0);
    ck_assert_uint_lt(reply.length, plain.length * 2 / 3);
    free(text);
    free(body);
    client_free(&plain);
    client_free(&reply);
}
END_TEST

START_TEST(pages_are_packed)
{
    char value[64];
    size_t length = 0;
    struct client_reply reply = client_send(
        &service, &(struct client_request){.path = "/metrics", .headers = {"Accept-Encoding: deflate, gzip"}});
    ck_assert_ptr_nonnull(client_header(&reply, "Content-Encoding", value, sizeof value));
    char *text = packed_read(value, &reply, &length);
    ck_assert_int_eq(strncmp(text, "# HELP ", 7), 0);
    free(text);
    client_free(&reply);
}
END_TEST

/* A page that is kept has a form in each coding, each with its own ETag, and HEAD tells what GET would send. */
START_TEST(pages_have_a_form_for_each_coding)
{
    static const char *const accepts[] = {"Accept-Encoding: identity", "Accept-Encoding: gzip",
                                          "Accept-Encoding: gzip, zstd"};
    char tags[3][64];
    char lengths[3][64];
    char value[64];
    for (size_t i = 0; i < 3; i++) {
        struct client_reply got =
            client_send(&service, &(struct client_request){.path = "/openapi.json", .headers = {accepts[i]}});
        struct client_reply head = client_send(
            &service, &(struct client_request){.method = "HEAD", .path = "/openapi.json", .headers = {accepts[i]}});
        const char *coding = client_header(&head, "Content-Encoding", value, sizeof value);
        ck_assert_int_eq(coding != NULL, i > 0);
        size_t length = got.length;
        char *text = coding ? packed_read(coding, &got, &length) : NULL;
        ck_assert_int_eq((text ? text : got.body)[length - 1], '\n');
        client_header(&head, "ETag", tags[i], sizeof tags[i]);
        client_header(&head, "Content-Length", lengths[i], sizeof lengths[i]);
        ck_assert_uint_eq(strtoul(lengths[i], NULL, 10), got.length);
        ck_assert_str_eq(client_header(&got, "ETag", value, sizeof value), tags[i]);
        free(text);
        client_free(&got);
        client_free(&head);
    }
    ck_assert_str_ne(tags[0], tags[1]);
    ck_assert_str_ne(tags[1], tags[2]);
    ck_assert_uint_lt(strtoul(lengths[2], NULL, 10), strtoul(lengths[0], NULL, 10) / 4);
}
END_TEST

START_TEST(compression_can_be_limited)
{
    static const struct {
        const char *setting;
        const char *coding;
    } rows[] = {{"all", "zstd"}, {"gzip", "gzip"}, {"none", NULL}};
    static const char *const paths[] = {"/openapi.json", "/metrics", "/v1/attention"};
    char value[64];
    char *body = sample_square(40, 4, "\"include\":[\"weights\"]");
    struct service limited = service_start((const char *const[]){"--compression", rows[_i].setting, NULL});
    for (size_t i = 0; i < 3; i++) {
        struct client_reply reply = client_send(
            &limited, &(struct client_request){
                          .path = paths[i], .headers = {"Accept-Encoding: gzip, zstd"}, .body = i == 2 ? body : NULL});
        const char *coding = client_header(&reply, "Content-Encoding", value, sizeof value);
        ck_assert_int_eq(reply.status, 200);
        ck_assert(coding ? rows[_i].coding && strcmp(coding, rows[_i].coding) == 0 : !rows[_i].coding);
        client_free(&reply);
    }
    struct client_reply info = client_send(&limited, &(struct client_request){.path = "/v1/info"});
    snprintf(value, sizeof value, "\"compression\":\"%s\"", rows[_i].setting);
    ck_assert_ptr_nonnull(strstr(info.body, value));
    client_free(&info);
    ck_assert_int_eq(service_stop(&limited), 0);
    free(body);
}
END_TEST

Suite *packing_suite(void)
{
    Suite *suite = suite_create("packing");
    TCase *tests = tcase_create("one service");
    tcase_add_unchecked_fixture(tests, start, stop);
    tcase_set_timeout(tests, 90);
    tcase_add_test(tests, coding_is_chosen_by_weight);
    tcase_add_test(tests, small_replies_stay_plain);
    tcase_add_loop_test(tests, streams_are_packed_block_by_block, 0, 2);
    tcase_add_test(tests, pages_are_packed);
    tcase_add_test(tests, pages_have_a_form_for_each_coding);
    tcase_add_loop_test(tests, compression_can_be_limited, 0, 3);
    suite_add_tcase(suite, tests);
    return suite;
}
