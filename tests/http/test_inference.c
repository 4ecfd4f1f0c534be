/* The Open Inference Protocol over HTTP: fields of heads, codings, keys, replies in blocks, bodies that go wrong. */
#include "tests/http/client.h"
#include "tests/http/packed.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INFER "/v2/models/attention/infer"
#define LENGTH "Inference-Header-Content-Length"

Suite *inference_suite(void);

static struct service service;

static void start(void)
{
    service = service_start((const char *const[]){"--max-body", "1M", NULL});
}

static void stop(void)
{
    ck_assert_int_eq(service_stop(&service), 0);
}

#define KEYS ((size_t)8)

/* Queries and keys of zeros, and values that count: every output is their mean. */
struct body {
    char *bytes;
    size_t json, length;
    char field[64];
};

static struct body make_body(size_t n, const char *outputs)
{
    struct body b = {.bytes = calloc(1, 1000 + 4 * (n + 2 * KEYS))};
    ck_assert_ptr_nonnull(b.bytes);
    size_t used = (size_t)sprintf(b.bytes, "{\"parameters\":{\"binary_data_output\":true},\"inputs\":[");
    for (const char *name = "qkv"; *name; name++) {
        size_t rows = *name == 'q' ? n : KEYS;
        used += (size_t)sprintf(b.bytes + used,
                                "%s{\"name\":\"%c\",\"datatype\":\"FP32\",\"shape\":[%zu,1],"
                                "\"parameters\":{\"binary_data_size\":%zu}}",
                                *name == 'q' ? "" : ",", *name, rows, 4 * rows);
    }
    used += (size_t)sprintf(b.bytes + used, "],\"outputs\":[%s]}", outputs);
    b.json = used;
    for (size_t x = 0; x < KEYS; x++) {
        float value = (float)x;
        memcpy(b.bytes + used + 4 * (n + KEYS + x), &value, 4);
    }
    b.length = used + 4 * (n + 2 * KEYS);
    snprintf(b.field, sizeof b.field, LENGTH ": %zu", b.json);
    return b;
}

static struct client_reply send_body(const struct body *b, const char *bytes, size_t length, const char *coding)
{
    return client_send(&service, &(struct client_request){.path = INFER,
                                                          .headers = {b->field, "Accept-Encoding: gzip", coding},
                                                          .body = bytes,
                                                          .length = length});
}

/* The mean of 0 .. KEYS-1 in each of the n floats behind the JSON, whose length the head tells. */
static void check_means(const char *bytes, size_t length, size_t json, size_t n)
{
    ck_assert_uint_eq(length, json + 4 * n);
    for (size_t x = 0; x < n; x++) {
        float value;
        memcpy(&value, bytes + json + 4 * x, sizeof value);
        ck_assert_float_eq_tol(value, (float)(KEYS - 1) / 2, 1e-5F);
    }
}

static size_t read_length(const struct client_reply *reply)
{
    char value[64];
    ck_assert_ptr_nonnull(client_header(reply, LENGTH, value, sizeof value));
    return strtoul(value, NULL, 10);
}

/* Small and large, plain and packed, both ways. */
START_TEST(bytes_follow_the_json)
{
    size_t n = _i % 2 ? 20000 : 4;
    struct body b = make_body(n, "{\"name\":\"output\"}");
    struct bytes packed = packed_make(b.bytes, b.length, _i % 4 < 2 ? PACKED_GZIP : PACKED_ZLIB);
    const char *coding = _i < 4 ? NULL : _i % 4 < 2 ? "Content-Encoding: gzip" : "Content-Encoding: deflate";
    struct client_reply reply =
        send_body(&b, _i < 4 ? b.bytes : (char *)packed.data, _i < 4 ? b.length : packed.length, coding);
    char value[128];
    ck_assert_msg(reply.status == 200, "%ld %s", reply.status, reply.body);
    ck_assert_str_eq(client_header(&reply, "Content-Type", value, sizeof value), "application/octet-stream");
    ck_assert_ptr_nonnull(
        strstr(client_header(&reply, "Access-Control-Expose-Headers", value, sizeof value), "Inference-Header"));
    size_t json = read_length(&reply);
    if (client_header(&reply, "Content-Encoding", value, sizeof value)) {
        size_t length;
        char *plain = packed_read(value, &reply, &length);
        check_means(plain, length, json, n);
        free(plain);
    } else {
        check_means(reply.body, reply.length, json, n);
    }
    client_free(&reply);
    free(packed.data);
    free(b.bytes);
}
END_TEST

/* A reply in blocks tells its length, since that is known. */
START_TEST(a_large_reply_has_a_length)
{
    char value[64];
    struct body b = make_body(20000, "{\"name\":\"output\"}");
    struct client_reply reply = client_send(
        &service, &(struct client_request){.path = INFER, .headers = {b.field}, .body = b.bytes, .length = b.length});
    ck_assert_int_eq(reply.status, 200);
    ck_assert_ptr_nonnull(client_header(&reply, "Content-Length", value, sizeof value));
    ck_assert_uint_eq(strtoul(value, NULL, 10), reply.length);
    check_means(reply.body, reply.length, read_length(&reply), 20000);
    client_free(&reply);
    free(b.bytes);
}
END_TEST

static const struct {
    const char *field, *part;
} wrong[] = {
    {LENGTH ": 9999999", "is 9999999; the body has"},
    {LENGTH ": -1", "must be a number of bytes"},
    {LENGTH ": ten", "must be a number of bytes"},
    {LENGTH ": 99999999999999999999999", "must be a number of bytes"},
    {LENGTH ": 5", "before the document is complete (line 1, column 6)"},
    {"X-Other: 5", "the document is complete, yet more follows"},
};

START_TEST(a_wrong_length_is_a_sentence)
{
    struct body b = make_body(4, "{\"name\":\"output\"}");
    snprintf(b.field, sizeof b.field, "%s", wrong[_i].field);
    struct client_reply reply = send_body(&b, b.bytes, b.length, NULL);
    json_t *json = client_json(&reply);
    ck_assert_int_eq(reply.status, 400);
    ck_assert_uint_eq(json_object_size(json), 1);
    const char *error = json_string_value(json_object_get(json, "error"));
    ck_assert_msg(error && (strstr(error, wrong[_i].part) || strncmp(wrong[_i].field, "X-", 2) == 0), "%s", error);
    json_decref(json);
    client_free(&reply);
    free(b.bytes);
}
END_TEST

START_TEST(refusals_are_those_of_the_protocol)
{
    static const struct {
        const char *path, *body;
        long status;
    } rows[] = {{"/v2/nothing", NULL, 404},
                {"/v2/models/attention", "{}", 405},
                {INFER, NULL, 405},
                {"/v2?colour=red", NULL, 400},
                {INFER, "{", 400},
                {INFER, "{\"inputs\":[]}", 400},
                {"/v2/repository/index", NULL, 405}};
    struct client_reply reply =
        client_send(&service, &(struct client_request){.path = rows[_i].path, .body = rows[_i].body});
    json_t *json = client_json(&reply);
    ck_assert_int_eq(reply.status, rows[_i].status);
    ck_assert_uint_eq(json_object_size(json), 1);
    ck_assert(json_is_string(json_object_get(json, "error")));
    json_decref(json);
    client_free(&reply);
}
END_TEST

/* As clients send it: no body, and no length. */
START_TEST(the_index_needs_no_body)
{
    struct client_reply reply =
        client_send(&service, &(struct client_request){.method = "POST", .path = "/v2/repository/index"});
    json_t *json = client_json(&reply);
    ck_assert_int_eq(reply.status, 200);
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(json, 0), "state")), "READY");
    json_decref(json);
    client_free(&reply);
}
END_TEST

Suite *inference_suite(void)
{
    Suite *suite = suite_create("inference");
    TCase *tests = tcase_create("one service");
    tcase_add_unchecked_fixture(tests, start, stop);
    tcase_add_loop_test(tests, bytes_follow_the_json, 0, 8);
    tcase_add_test(tests, a_large_reply_has_a_length);
    tcase_add_loop_test(tests, a_wrong_length_is_a_sentence, 0, sizeof wrong / sizeof *wrong);
    tcase_add_loop_test(tests, refusals_are_those_of_the_protocol, 0, 7);
    tcase_add_test(tests, the_index_needs_no_body);
    suite_add_tcase(suite, tests);
    return suite;
}
