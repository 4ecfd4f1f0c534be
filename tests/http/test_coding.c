/* gzip and deflate, in both directions. */
#include "tests/http/client.h"
#include "tests/http/sample.h"
#include "tests/http/wire.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

Suite *coding_suite(void);

#define GZIP (15 + 16)
#define ZLIB 15
#define RAW (-15)

struct bytes {
    unsigned char *data;
    size_t length;
};

static struct service service;

static void start(void)
{
    service = service_start((const char *const[]){"--max-body", "1M", NULL});
}

static void stop(void)
{
    ck_assert_int_eq(service_stop(&service), 0);
}

static struct bytes pack(const char *text, size_t length, int window)
{
    z_stream z = {0};
    ck_assert_int_eq(deflateInit2(&z, 9, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY), Z_OK);
    size_t room = deflateBound(&z, length) + 64;
    struct bytes packed = {.data = malloc(room)};
    ck_assert_ptr_nonnull(packed.data);
    z.next_in = (Bytef *)(size_t)text;
    z.avail_in = (uInt)length;
    z.next_out = packed.data;
    z.avail_out = (uInt)room;
    ck_assert_int_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
    packed.length = room - z.avail_out;
    deflateEnd(&z);
    return packed;
}

/* One gzip member and nothing after it; check sum and length are zlib's to check. */
static char *unpack(const char *data, size_t length, size_t *plain_length)
{
    z_stream z = {0};
    size_t room = 256u << 20;
    char *text = malloc(room);
    ck_assert_ptr_nonnull(text);
    ck_assert_int_eq(inflateInit2(&z, GZIP), Z_OK);
    z.next_in = (Bytef *)(size_t)data;
    z.avail_in = (uInt)length;
    z.next_out = (Bytef *)text;
    z.avail_out = (uInt)room - 1;
    ck_assert_int_eq(inflate(&z, Z_FINISH), Z_STREAM_END);
    ck_assert_uint_eq(z.avail_in, 0);
    *plain_length = z.total_out;
    text[z.total_out] = '\0';
    inflateEnd(&z);
    return text;
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
    } rows[] = {{"gzip", GZIP}, {"GZip", GZIP}, {"x-gzip", GZIP}, {"deflate", ZLIB}, {"deflate", RAW}};
    struct bytes packed = pack(SAMPLE_CAT, strlen(SAMPLE_CAT), rows[_i].window);
    struct client_reply reply = send_packed(&packed, rows[_i].coding);
    ck_assert_msg(reply.status == 200, "%s", reply.body);
    ck_assert_ptr_nonnull(strstr(reply.body, "\"weights\":[[1,0],[0.27"));
    client_free(&reply);
    free(packed.data);
}
END_TEST

START_TEST(members_are_joined)
{
    const char *body = SAMPLE_CAT;
    size_t half = strlen(body) / 2;
    struct bytes first = pack(body, half, GZIP);
    struct bytes second = pack(body + half, strlen(body) - half, GZIP);
    first.data = realloc(first.data, first.length + second.length);
    ck_assert_ptr_nonnull(first.data);
    memcpy(first.data + first.length, second.data, second.length);
    first.length += second.length;
    struct client_reply reply = send_packed(&first, "gzip");
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
    struct bytes empty = pack("", 0, GZIP);
    struct bytes good = pack(SAMPLE_CAT, strlen(SAMPLE_CAT), GZIP);
    struct bytes all = {.data = malloc(COUNT * empty.length + good.length)};
    ck_assert_ptr_nonnull(all.data);
    for (; all.length < COUNT * empty.length; all.length += empty.length)
        memcpy(all.data + all.length, empty.data, empty.length);
    memcpy(all.data + all.length, good.data, good.length);
    all.length += good.length;
    struct client_reply reply = send_packed(&all, "gzip");
    ck_assert_msg(reply.status == 200, "%s", reply.body);
    client_free(&reply);
    free(all.data);
    free(good.data);
    free(empty.data);
}
END_TEST

START_TEST(what_is_not_packed_is_400)
{
    struct bytes packed = pack(SAMPLE_CAT, strlen(SAMPLE_CAT), GZIP);
    struct bytes plain = {(unsigned char *)strdup(SAMPLE_CAT), strlen(SAMPLE_CAT)};
    struct bytes cut = {packed.data, packed.length / 2};
    const struct {
        const struct bytes *bytes;
        const char *coding;
    } rows[] = {{&plain, "gzip"}, {&plain, "deflate"}, {&cut, "gzip"}, {&packed, "deflate"}};
    for (size_t i = 0; i < 4; i++) {
        struct client_reply reply = send_packed(rows[i].bytes, rows[i].coding);
        json_decref(client_problem(&reply, 400));
        client_free(&reply);
    }
    packed.data[packed.length - 6] ^= 1;
    struct client_reply reply = send_packed(&packed, "gzip");
    json_decref(client_problem(&reply, 400));
    client_free(&reply);
    free(packed.data);
    free(plain.data);
}
END_TEST

START_TEST(bomb_is_413_with_the_limit)
{
    size_t size = 200u << 20;
    char *zeros = calloc(1, size);
    ck_assert_ptr_nonnull(zeros);
    memset(zeros, ' ', size);
    struct bytes packed = pack(zeros, size, GZIP);
    ck_assert_uint_lt(packed.length, 1u << 20);
    struct client_reply reply = send_packed(&packed, "gzip");
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
    static const char *const codings[] = {"br", "zstd", "gzip, gzip", "compress"};
    char value[64];
    struct bytes packed = pack(SAMPLE_CAT, strlen(SAMPLE_CAT), GZIP);
    struct client_reply reply = send_packed(&packed, codings[_i]);
    json_decref(client_problem(&reply, 415));
    ck_assert_ptr_nonnull(client_header(&reply, "Accept-Encoding", value, sizeof value));
    ck_assert_str_eq(value, "gzip, deflate");
    client_free(&reply);
    free(packed.data);
}
END_TEST

static struct client_reply ask(const char *accept_encoding, const char *body)
{
    char header[128];
    snprintf(header, sizeof header, "Accept-Encoding: %s", accept_encoding);
    return client_send(&service, &(struct client_request){.path = "/v1/attention", .headers = {header}, .body = body});
}

START_TEST(gzip_is_chosen_by_weight)
{
    static const struct {
        const char *accept;
        bool packed;
    } rows[] = {{"gzip", true},
                {"GZIP", true},
                {"gzip;q=0.001", true},
                {"br, gzip;q=0.5, *;q=0", true},
                {"*", true},
                {"identity;q=0.5, gzip;q=1.0", true},
                {"gzip;q=0", false},
                {"identity", false},
                {"br", false},
                {"gzip;q=0.5, identity;q=0.8", false},
                {"*;q=0", false},
                {"gzipx", false},
                {"identity;q=0.2,*", true}};
    char value[64];
    char *body = sample_square(40, 4, "\"include\":[\"weights\"]");
    struct client_reply plain = client_post(&service, "/v1/attention", body);
    ck_assert_ptr_null(client_header(&plain, "Content-Encoding", value, sizeof value));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct client_reply reply = ask(rows[i].accept, body);
        ck_assert_int_eq(reply.status, 200);
        bool packed = client_header(&reply, "Content-Encoding", value, sizeof value) != NULL;
        ck_assert_msg(packed == rows[i].packed, "%s: %d", rows[i].accept, packed);
        ck_assert_ptr_nonnull(client_header(&reply, "Vary", value, sizeof value));
        ck_assert_ptr_nonnull(strstr(value, "Accept-Encoding"));
        if (packed) {
            size_t length = 0;
            char *text = unpack(reply.body, reply.length, &length);
            ck_assert_str_eq(text, plain.body);
            ck_assert_uint_lt(reply.length, length);
            free(text);
        }
        client_free(&reply);
    }
    client_free(&plain);
    free(body);
}
END_TEST

START_TEST(small_replies_stay_plain)
{
    char value[64];
    struct client_reply reply = ask("gzip", "{\"q\":[[1]],\"k\":[[1]],\"v\":[[1]]}");
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
    struct client_reply reply = ask("gzip", body);
    ck_assert_int_eq(reply.status, 200);
    ck_assert_ptr_nonnull(client_header(&reply, "Transfer-Encoding", value, sizeof value));
    ck_assert_ptr_nonnull(client_header(&reply, "Content-Encoding", value, sizeof value));
    char *text = unpack(reply.body, reply.length, &length);
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
    char *text = unpack(reply.body, reply.length, &length);
    ck_assert_int_eq(strncmp(text, "# HELP ", 7), 0);
    free(text);
    client_free(&reply);
}
END_TEST

Suite *coding_suite(void)
{
    Suite *suite = suite_create("coding");
    TCase *tests = tcase_create("one service");
    tcase_add_unchecked_fixture(tests, start, stop);
    tcase_set_timeout(tests, 90);
    tcase_add_loop_test(tests, packed_bodies_are_unpacked, 0, 5);
    tcase_add_test(tests, members_are_joined);
    tcase_add_test(tests, empty_members_cost_nothing);
    tcase_add_test(tests, what_is_not_packed_is_400);
    tcase_add_test(tests, bomb_is_413_with_the_limit);
    tcase_add_loop_test(tests, unknown_codings_are_415_and_the_known_are_named, 0, 4);
    tcase_add_test(tests, gzip_is_chosen_by_weight);
    tcase_add_test(tests, small_replies_stay_plain);
    tcase_add_test(tests, streams_are_packed_block_by_block);
    tcase_add_test(tests, pages_are_packed);
    suite_add_tcase(suite, tests);
    return suite;
}
