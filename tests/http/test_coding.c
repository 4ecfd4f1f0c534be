/* Bodies packed with zstd, gzip and deflate. */
#include "tests/http/client.h"
#include "tests/http/packed.h"
#include "tests/http/sample.h"
#include "tests/http/wire.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *coding_suite(void);

static struct service service;

static void start(void)
{
    service = service_start((const char *const[]){"--max-body", "1M", NULL});
}

static void stop(void)
{
    ck_assert_int_eq(service_stop(&service), 0);
}

static struct client_reply send_packed(const struct bytes *packed, const char *coding)
{
    char header[64];
    snprintf(header, sizeof header, "Content-Encoding: %s", coding);
    return client_send(&service, &(struct client_request){.path = "/v1/attention",
                                                          .headers = {header},
                                                          .body = (const char *)packed->data,
                                                          .length = packed->length});
}

START_TEST(packed_bodies_are_unpacked)
{
    static const struct {
        const char *coding;
        int window;
    } rows[] = {{"gzip", PACKED_GZIP},   {"GZip", PACKED_GZIP}, {"x-gzip", PACKED_GZIP}, {"deflate", PACKED_ZLIB},
                {"deflate", PACKED_RAW}, {"zstd", PACKED_ZSTD}, {"ZSTD", PACKED_ZSTD}};
    struct bytes packed = packed_make(SAMPLE_CAT, strlen(SAMPLE_CAT), rows[_i].window);
    struct client_reply reply = send_packed(&packed, rows[_i].coding);
    ck_assert_msg(reply.status == 200, "%s", reply.body);
    ck_assert_ptr_nonnull(strstr(reply.body, "\"weights\":[[1,0],[0.27"));
    client_free(&reply);
    free(packed.data);
}
END_TEST

static const struct {
    const char *coding;
    int window;
} joined[] = {{"gzip", PACKED_GZIP}, {"zstd", PACKED_ZSTD}};

START_TEST(members_are_joined)
{
    int window = joined[_i].window;
    const char *body = SAMPLE_CAT;
    size_t half = strlen(body) / 2;
    struct bytes first = packed_make(body, half, window);
    struct bytes second = packed_make(body + half, strlen(body) - half, window);
    first.data = realloc(first.data, first.length + second.length);
    ck_assert_ptr_nonnull(first.data);
    memcpy(first.data + first.length, second.data, second.length);
    first.length += second.length;
    struct client_reply reply = send_packed(&first, joined[_i].coding);
    ck_assert_msg(reply.status == 200, "%s", reply.body);
    client_free(&reply);
    free(first.data);
    free(second.data);
}
END_TEST

/* What they hold counts, not how many there are. */
START_TEST(empty_members_cost_nothing)
{
    enum { COUNT = 40000 };
    struct bytes empty = packed_make("", 0, joined[_i].window);
    struct bytes good = packed_make(SAMPLE_CAT, strlen(SAMPLE_CAT), joined[_i].window);
    struct bytes all = {.data = malloc(COUNT * empty.length + good.length)};
    ck_assert_ptr_nonnull(all.data);
    for (; all.length < COUNT * empty.length; all.length += empty.length)
        memcpy(all.data + all.length, empty.data, empty.length);
    memcpy(all.data + all.length, good.data, good.length);
    all.length += good.length;
    struct client_reply reply = send_packed(&all, joined[_i].coding);
    ck_assert_msg(reply.status == 200, "%s", reply.body);
    client_free(&reply);
    free(all.data);
    free(good.data);
    free(empty.data);
}
END_TEST

START_TEST(what_is_not_packed_is_400)
{
    struct bytes packed = packed_make(SAMPLE_CAT, strlen(SAMPLE_CAT), PACKED_GZIP);
    struct bytes plain = {(unsigned char *)strdup(SAMPLE_CAT), strlen(SAMPLE_CAT)};
    struct bytes cut = {packed.data, packed.length / 2};
    struct bytes zstd = packed_make(SAMPLE_CAT, strlen(SAMPLE_CAT), PACKED_ZSTD);
    struct bytes cut_zstd = {zstd.data, zstd.length / 2};
    struct bytes late_zstd = {zstd.data, zstd.length - 1};
    struct bytes only_head = {zstd.data, 4};
    const struct {
        const struct bytes *bytes;
        const char *coding;
    } rows[] = {{&plain, "gzip"},     {&plain, "deflate"}, {&cut, "gzip"},  {&packed, "deflate"},
                {&plain, "zstd"},     {&packed, "zstd"},   {&zstd, "gzip"}, {&cut_zstd, "zstd"},
                {&late_zstd, "zstd"}, {&only_head, "zstd"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct client_reply reply = send_packed(rows[i].bytes, rows[i].coding);
        json_decref(client_problem(&reply, 400));
        client_free(&reply);
    }
    packed.data[packed.length - 6] ^= 1;
    struct client_reply reply = send_packed(&packed, "gzip");
    json_decref(client_problem(&reply, 400));
    client_free(&reply);
    zstd.data[zstd.length - 1] ^= 1;
    reply = send_packed(&zstd, "zstd");
    json_decref(client_problem(&reply, 400));
    client_free(&reply);
    free(zstd.data);
    free(packed.data);
    free(plain.data);
}
END_TEST

/* RFC 9659: nobody has to keep more than 8 MB for a sender. */
START_TEST(zstd_windows_are_8_MB_at_most)
{
    for (int window = 23; window <= 24; window++) {
        struct bytes packed = packed_make(SAMPLE_CAT, strlen(SAMPLE_CAT), PACKED_ZSTD_WINDOW(window));
        struct client_reply reply = send_packed(&packed, "zstd");
        ck_assert_msg(reply.status == (window == 23 ? 200 : 400), "%d: %ld", window, reply.status);
        client_free(&reply);
        free(packed.data);
    }
}
END_TEST

/* What a decoder keeps for its window is charged to the memory of all requests. */
START_TEST(zstd_windows_are_charged)
{
    struct service small = service_start((const char *const[]){"--memory", "4M", "--max-body", "1M", NULL});
    for (int window = 20; window <= 23; window += 3) {
        struct bytes packed = packed_make(SAMPLE_CAT, strlen(SAMPLE_CAT), PACKED_ZSTD_WINDOW(window));
        struct client_reply reply = client_send(&small, &(struct client_request){.path = "/v1/attention",
                                                                                 .headers = {"Content-Encoding: zstd"},
                                                                                 .body = (const char *)packed.data,
                                                                                 .length = packed.length});
        ck_assert_msg(reply.status == (window == 20 ? 200 : 503), "%d: %ld", window, reply.status);
        client_free(&reply);
        free(packed.data);
    }
    struct client_reply after = client_post(&small, "/v1/attention", SAMPLE_CAT);
    ck_assert_int_eq(after.status, 200);
    client_free(&after);
    ck_assert_int_eq(service_stop(&small), 0);
}
END_TEST

START_TEST(bomb_is_413_with_the_limit)
{
    size_t size = 200u << 20;
    char *zeros = calloc(1, size);
    ck_assert_ptr_nonnull(zeros);
    memset(zeros, ' ', size);
    struct bytes packed = packed_make(zeros, size, joined[_i].window);
    ck_assert_uint_lt(packed.length, 1u << 20);
    struct client_reply reply = send_packed(&packed, joined[_i].coding);
    json_t *problem = client_problem(&reply, 413);
    ck_assert_ptr_nonnull(strstr(json_string_value(json_object_get(problem, "detail")), "1048576"));
    ck_assert_str_eq(json_string_value(json_object_get(problem, "code")), "body-too-large");
    ck_assert_int_eq(json_integer_value(json_object_get(problem, "limit_bytes")), 1048576);
    json_decref(problem);
    client_free(&reply);
    free(zeros);
    free(packed.data);
}
END_TEST

START_TEST(unknown_codings_are_415_and_the_known_are_named)
{
    static const char *const codings[] = {"br", "zstd, zstd", "gzip, gzip", "compress"};
    char value[64];
    struct bytes packed = packed_make(SAMPLE_CAT, strlen(SAMPLE_CAT), PACKED_GZIP);
    struct client_reply reply = send_packed(&packed, codings[_i]);
    json_decref(client_problem(&reply, 415));
    ck_assert_ptr_nonnull(client_header(&reply, "Accept-Encoding", value, sizeof value));
    ck_assert_str_eq(value, "zstd, gzip, deflate");
    client_free(&reply);
    free(packed.data);
}
END_TEST

Suite *coding_suite(void)
{
    Suite *suite = suite_create("coding");
    TCase *tests = tcase_create("one service");
    tcase_add_unchecked_fixture(tests, start, stop);
    tcase_set_timeout(tests, 90);
    tcase_add_loop_test(tests, packed_bodies_are_unpacked, 0, 7);
    tcase_add_loop_test(tests, members_are_joined, 0, 2);
    tcase_add_loop_test(tests, empty_members_cost_nothing, 0, 2);
    tcase_add_test(tests, what_is_not_packed_is_400);
    tcase_add_loop_test(tests, bomb_is_413_with_the_limit, 0, 2);
    tcase_add_test(tests, zstd_windows_are_8_MB_at_most);
    tcase_add_test(tests, zstd_windows_are_charged);
    tcase_add_loop_test(tests, unknown_codings_are_415_and_the_known_are_named, 0, 4);
    suite_add_tcase(suite, tests);
    return suite;
}
