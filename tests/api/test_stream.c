/* Big replies: the same bytes as small ones, whatever the blocks, the encoding and the number of threads. */
#include "tests/api/exchange.h"

#include "api/numbers/base64.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A deterministic number in (-1, 1) with few digits. */
static double draw(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return ((double)(*state >> 8) / 8388608.0 - 1) * 0.875;
}

static void append_rows(struct buffer *out, size_t rows, size_t width, unsigned *state)
{
    for (size_t i = 0; i < rows; i++) {
        buffer_string(out, i == 0 ? "[[" : ",[");
        for (size_t j = 0; j < width; j++)
            buffer_format(out, "%s%.6g", j == 0 ? "" : ",", draw(state));
        buffer_string(out, "]");
    }
    buffer_string(out, "]");
}

static void append_tensor(struct buffer *out, const char *name, size_t heads, size_t rows, size_t width,
                          unsigned *state)
{
    buffer_format(out, "\"%s\":", name);
    for (size_t h = 0; h < heads; h++) {
        buffer_string(out, h == 0 ? "[" : ",");
        append_rows(out, rows, width, state);
    }
    buffer_string(out, "],");
}

/* Heads, queries, keys, widths, and further members. */
struct shape {
    size_t heads, kv_heads, n, m, d, e;
    const char *members;
};

#define EVERYTHING \
    "\"include\":[\"output\",\"weights\",\"log_sum_exp\",\"present\",\"inputs\",\"mask\",\"stats\",\"steps\"," \
    "\"steps.products\",\"steps.contributions\"]"

static const struct shape shapes[] = {
    {1, 1, 1, 1, 1, 1, EVERYTHING},
    {2, 1, 7, 5, 3, 2, EVERYTHING},
    {3, 3, 130, 11, 2, 5, EVERYTHING ",\"mask\":{\"causal\":true,\"alibi\":true},\"softcap\":3"},
    {1, 1, 65, 129, 4, 3, EVERYTHING ",\"dropout\":{\"p\":0.25,\"seed\":5},\"sinks\":[0.5]"},
    {2, 2, 67, 13, 5, 7,
     EVERYTHING ",\"dtype\":\"float32\",\"mask\":{\"window\":{\"left\":3,\"right\":2},\"empty_rows\":\"zero\"}"},
    {2, 2, 33, 9, 4, 1, EVERYTHING ",\"dtype\":\"float32\",\"rope\":{}"},
    {1, 1, 40, 40, 3, 3,
     "\"variant\":\"linear\",\"include\":[\"output\",\"weights\",\"steps\",\"steps.contributions\"]"},
    {1, 1, 40, 40, 3, 3, EVERYTHING ",\"variant\":\"mask_after_softmax\",\"mask\":\"causal\",\"decimals\":3"},
};

#define SHAPES ((int)(sizeof shapes / sizeof *shapes))

static struct buffer write_body(const struct shape *s, const char *more)
{
    struct buffer body = buffer_new(SIZE_MAX);
    unsigned state = 7;
    buffer_string(&body, "{");
    append_tensor(&body, "q", s->heads, s->n, s->d, &state);
    append_tensor(&body, "k", s->kv_heads, s->m, s->d, &state);
    append_tensor(&body, "v", s->kv_heads, s->m, s->e, &state);
    buffer_format(&body, "%s%s}", s->members, more);
    buffer_append(&body, "", 1);
    ck_assert(!body.failed);
    return body;
}

static struct exchange run(const char *body, size_t whole, struct pool *pool)
{
    struct exchange x = exchange_run(body, (struct exchange_how){.limits = {.whole_elements = whole}, .pool = pool});
    ck_assert_msg(x.good && x.reply, "%s", x.err.faults[0].text);
    return x;
}

static void check_same(const struct exchange *a, const struct exchange *b)
{
    ck_assert_uint_eq(a->text.length, b->text.length);
    size_t i = 0;
    while (i < a->text.length && a->text.data[i] == b->text.data[i])
        i++;
    ck_assert_msg(i == a->text.length, "byte %zu differs: %.40s", i, b->text.data + i);
}

static void check_streamed(const char *body)
{
    struct pool *pool = pool_start(3, 4);
    struct exchange whole = run(body, (size_t)1 << 30, NULL);
    struct exchange streamed = run(body, 1, NULL);
    struct exchange shared = run(body, 1, pool);
    ck_assert_uint_eq(whole.blocks, 1);
    ck_assert_uint_gt(streamed.blocks, 1);
    check_same(&whole, &streamed);
    check_same(&whole, &shared);
    exchange_end(&whole);
    exchange_end(&streamed);
    exchange_end(&shared);
    pool_stop(pool);
}

START_TEST(blocks_make_the_same_text)
{
    struct buffer body = write_body(&shapes[_i], "");
    check_streamed(body.data);
    buffer_free(&body);
}
END_TEST

START_TEST(blocks_make_the_same_base64)
{
    if (strstr(shapes[_i].members, "decimals"))
        return;
    struct buffer body = write_body(&shapes[_i], ",\"encoding\":\"base64\"");
    check_streamed(body.data);
    buffer_free(&body);
}
END_TEST

/* --- base64 says what JSON says --- */

/* The packed tensor as doubles. */
static double *unpack(const json_t *packed, size_t *count, size_t *size)
{
    const char *text = json_string_value(json_object_get(packed, "base64"));
    ck_assert_ptr_nonnull(text);
    size_t bytes = base64_bytes(text, strlen(text));
    *size = strcmp(json_string_value(json_object_get(packed, "dtype")), "float32") == 0 ? 4 : 8;
    *count = bytes / *size;
    unsigned char *raw = malloc(bytes);
    double *values = malloc(*count * sizeof *values);
    ck_assert(base64_decode(text, strlen(text), raw));
    for (size_t i = 0; i < *count; i++) {
        float narrow;
        memcpy(*size == 4 ? (void *)&narrow : &values[i], raw + i * *size, *size);
        values[i] = *size == 4 ? (double)narrow : values[i];
    }
    free(raw);
    return values;
}

/* Numbers of nested arrays in order against `values`; returns how many. */
static size_t compare_leaves(const json_t *value, const double *values, size_t size)
{
    size_t seen = 0;
    size_t index;
    json_t *entry;
    if (json_is_array(value)) {
        json_array_foreach((json_t *)value, index, entry) seen += compare_leaves(entry, values + seen, size);
        return seen;
    }
    double expected = json_is_null(value) ? -HUGE_VAL : json_number_value(value);
    ck_assert(size == 4 ? (float)expected == (float)*values : expected == *values);
    return 1;
}

static void compare_packed(const json_t *plain, const json_t *packed)
{
    const char *name;
    json_t *entry;
    size_t count;
    size_t size;
    if (json_is_object(plain)) {
        json_object_foreach((json_t *)plain, name, entry) compare_packed(entry, json_object_get(packed, name));
        return;
    }
    double *values = unpack(packed, &count, &size);
    ck_assert_uint_eq(compare_leaves(plain, values, size), count);
    const json_t *shape = json_object_get(packed, "shape");
    for (size_t a = 0; a < json_array_size(shape); a++, plain = json_array_get(plain, 0))
        ck_assert_int_eq(json_integer_value(json_array_get(shape, a)), (json_int_t)json_array_size(plain));
    free(values);
}

START_TEST(base64_and_json_agree)
{
    static const char *const tensors[] = {"output", "weights", "log_sum_exp", "present", "inputs", "steps"};
    static const char *const plain[] = {"mask", "stats"};
    if (strstr(shapes[_i].members, "decimals"))
        return;
    struct buffer json_body = write_body(&shapes[_i], "");
    struct buffer packed_body = write_body(&shapes[_i], ",\"encoding\":\"base64\"");
    struct exchange a = run(json_body.data, 0, NULL);
    struct exchange b = run(packed_body.data, 100, NULL);
    for (size_t t = 0; t < 6; t++)
        if (json_object_get(a.reply, tensors[t]))
            compare_packed(json_object_get(a.reply, tensors[t]), json_object_get(b.reply, tensors[t]));
    for (size_t t = 0; t < 2; t++)
        if (json_object_get(a.reply, plain[t]))
            ck_assert(json_equal(json_object_get(a.reply, plain[t]), json_object_get(b.reply, plain[t])));
    exchange_end(&a);
    exchange_end(&b);
    buffer_free(&json_body);
    buffer_free(&packed_body);
}
END_TEST

/* q, k, v as returned in base64 are taken back and mean the same. */
START_TEST(packed_tensors_round_trip)
{
    struct buffer body = write_body(&shapes[4], ",\"encoding\":\"base64\"");
    struct exchange first = run(body.data, 0, NULL);
    json_t *again = json_pack("{s:s,s:O,s:O,s:O,s:{s:{s:i,s:i},s:s},s:s,s:[s]}", "dtype", "float32", "q",
                              exchange_at(first.reply, "inputs.q"), "k", exchange_at(first.reply, "inputs.k"), "v",
                              exchange_at(first.reply, "inputs.v"), "mask", "window", "left", 3, "right", 2,
                              "empty_rows", "zero", "encoding", "base64", "include", "output");
    char *text = json_dumps(again, 0);
    struct exchange second = run(text, 0, NULL);
    ck_assert(json_equal(exchange_at(first.reply, "output"), exchange_at(second.reply, "output")));
    free(text);
    json_decref(again);
    exchange_end(&first);
    exchange_end(&second);
    buffer_free(&body);
}
END_TEST

/* --- output does not depend on what else is asked --- */

START_TEST(output_is_the_same_bits_whatever_is_included)
{
    struct shape s = {3, 1, 50, 37, 5, 4, "\"mask\":\"causal\",\"include\":[\"output\"]"};
    struct buffer alone = write_body(&s, "");
    s.members = "\"mask\":\"causal\"," EVERYTHING;
    struct buffer all = write_body(&s, "");
    struct exchange a = run(alone.data, 0, NULL);
    struct exchange b = run(all.data, 0, NULL);
    struct exchange c = run(all.data, 1, NULL);
    ck_assert(json_equal(exchange_at(a.reply, "output"), exchange_at(b.reply, "output")));
    ck_assert(json_equal(exchange_at(a.reply, "output"), exchange_at(c.reply, "output")));
    exchange_end(&a);
    exchange_end(&b);
    exchange_end(&c);
    buffer_free(&alone);
    buffer_free(&all);
}
END_TEST

START_TEST(a_cancelled_job_stops)
{
    struct buffer body = write_body(&shapes[2], "");
    struct request_limits limits = {.elements = 1 << 20, .reply_elements = 1 << 20, .memory = 1 << 26};
    struct error err = {0};
    atomic_bool cancel = true;
    body.length--;
    struct job *job =
        job_new(&limits, &(struct job_order){.kind = JOB_ATTENTION}, &body, (struct read_context){0}, &err);
    ck_assert_ptr_nonnull(job);
    ck_assert(job_work(job) > 3 * 130 * 11 * 7);
    ck_assert(!job_run(job, NULL, &cancel, &err));
    ck_assert_int_eq(err.code, ERROR_CANCELLED);
    ck_assert(job_parse_seconds(job) > 0);
    job_free(job);
}
END_TEST

Suite *stream_suite(void);

Suite *stream_suite(void)
{
    Suite *suite = suite_create("streaming");
    TCase *tests = tcase_create("all");
    tcase_add_loop_test(tests, blocks_make_the_same_text, 0, SHAPES);
    tcase_add_loop_test(tests, blocks_make_the_same_base64, 0, SHAPES);
    tcase_add_loop_test(tests, base64_and_json_agree, 0, SHAPES);
    tcase_add_test(tests, packed_tensors_round_trip);
    tcase_add_test(tests, output_is_the_same_bits_whatever_is_included);
    tcase_add_test(tests, a_cancelled_job_stops);
    suite_add_tcase(suite, tests);
    return suite;
}
