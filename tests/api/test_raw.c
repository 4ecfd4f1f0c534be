/* Tensors as raw bytes: a request of them is what its text is, and a reply of them what its JSON says. */
#include "tests/api/exchange.h"

#include "api/decode/decode.h"
#include "api/raw/raw_reply.h"
#include "api/raw/raw_request.h"
#include "api/request/options.h"
#include "core/attention.h"

#include <check.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A request that is made of JSON and tensors. */
struct made {
    struct arena *arena;
    struct document document;
    struct options options;
    struct error err;
};

static void begin(struct made *made, const char *json)
{
    *made = (struct made){.arena = arena_new((size_t)1 << 26)};
    ck_assert_ptr_nonnull(made->arena);
    ck_assert(document_read(&made->document, json, strlen(json), (struct read_context){0}, made->arena, &made->err));
}

static bool decode(struct made *made)
{
    struct decoder d = {.document = &made->document,
                        .arena = made->arena,
                        .dtype = &made->options.attention.dtype,
                        .elements_max = 1000,
                        .err = &made->err};
    options_default(&made->options);
    decode_object(&d, options_table(), made->document.root, NULL, &made->options);
    return made->err.code == ERROR_NONE;
}

static void end(struct made *made)
{
    document_free(&made->document);
    arena_free(made->arena);
}

static bool put(struct made *made, const char *path, enum dtype dtype, size_t rows, size_t columns, void *data)
{
    return raw_request_put(&made->document, path, tensor_dense(dtype, 2, (size_t[]){rows, columns}, data), made->arena,
                           &made->err);
}

static double number(size_t x)
{
    return (double)((int)(x * 7 % 23) - 11) / 4; /* exact in every dtype */
}

START_TEST(aligned_bytes_are_used_where_they_lie)
{
    float q[6] = {1, 2, 3, 4, 5, 6};
    struct made made;
    begin(&made, "{\"dtype\":\"float32\",\"mask\":{\"causal\":true}}");
    ck_assert(put(&made, "q", DTYPE_FLOAT32, 2, 3, q));
    ck_assert(decode(&made));
    ck_assert(made.options.attention.mask.causal);
    ck_assert_ptr_eq(made.options.attention.q.data, q);
    ck_assert_uint_eq(made.options.attention.q.shape[1], 3);
    end(&made);
}
END_TEST

/* Each type to each dtype of the arithmetic, from any address. */
START_TEST(bytes_of_any_type_and_place_are_read)
{
    static const enum dtype types[] = {DTYPE_FLOAT64, DTYPE_FLOAT32, DTYPE_FLOAT16, DTYPE_BFLOAT16};
    _Alignas(double) char room[13 * sizeof(double)];
    enum dtype type = types[_i % 4];
    size_t shift = (size_t)_i / 4;
    for (int wide = 0; wide < 2; wide++) {
        struct made made;
        double numbers[12];
        for (size_t x = 0; x < 12; x++)
            dtype_set(type, numbers, x, number(x));
        memcpy(room + shift, numbers, 12 * dtype_size(type));
        begin(&made, wide ? "{}" : "{\"dtype\":\"float32\"}");
        ck_assert(put(&made, "past.k", type, 4, 3, room + shift));
        ck_assert_msg(decode(&made), "%s", made.err.faults[0].text);
        struct tensor t = made.options.attention.past_k;
        ck_assert(t.dtype == (wide ? DTYPE_FLOAT64 : DTYPE_FLOAT32));
        for (size_t x = 0; x < 12; x++)
            ck_assert(dtype_get(t.dtype, t.data, x) == number(x));
        end(&made);
    }
}
END_TEST

START_TEST(masks_and_lists_are_read)
{
    unsigned char allow[4] = {1, 0, 1, 1};
    int64_t lengths[2] = {3, 5};
    float sinks[2] = {0.5F, -1};
    struct made made;
    begin(&made, "{\"heads\":2}");
    ck_assert(put(&made, "mask.allow", DTYPE_BOOL, 2, 2, allow));
    ck_assert(raw_request_put(&made.document, "mask.key_lengths", tensor_dense(DTYPE_INT64, 1, (size_t[]){2}, lengths),
                              made.arena, &made.err));
    ck_assert(raw_request_put(&made.document, "sinks", tensor_dense(DTYPE_FLOAT32, 1, (size_t[]){2}, sinks), made.arena,
                              &made.err));
    ck_assert_msg(decode(&made), "%s", made.err.faults[0].text);
    ck_assert_ptr_eq(made.options.attention.mask.allow.data, allow);
    ck_assert_uint_eq(made.options.attention.mask.key_lengths.count, 2);
    ck_assert_int_eq(made.options.attention.mask.key_lengths.values[1], 5);
    ck_assert(made.options.attention.sinks.values[0] == 0.5);
    end(&made);
}
END_TEST

static const float not_finite[4] = {0, 1, INFINITY, 0};
static const float hiding[4] = {0, -INFINITY, NAN, 0};
static const double large[4] = {0, 1e300, 0, 0};
static const unsigned char two[4] = {0, 1, 2, 0};
static const int64_t whole[4] = {1, 2, 3, 4};

static const struct {
    const char *json, *path;
    enum dtype dtype;
    const void *data;
    size_t rank, rows;
    const char *name, *part;
} refused[] = {
    {"{\"dtype\":\"float32\"}", "q", DTYPE_FLOAT32, not_finite, 2, 2, "q.1.0", "not finite"},
    {"{\"dtype\":\"float32\"}", "mask.bias", DTYPE_FLOAT32, hiding, 2, 2, "mask.bias.1.0", "NaN"},
    {"{\"dtype\":\"float32\"}", "q", DTYPE_FLOAT64, large, 2, 2, "q.0.1", "too large for float32"},
    {"{}", "mask.allow", DTYPE_BOOL, two, 2, 2, "mask.allow.1.0", "neither 0 nor 1"},
    {"{}", "mask.allow", DTYPE_FLOAT32, not_finite, 2, 2, "mask.allow", "is of float32; it must be of booleans"},
    {"{}", "q", DTYPE_BOOL, two, 2, 2, "q", "is of bool; it must be of floats"},
    {"{}", "q", DTYPE_INT64, whole, 2, 2, "q", "is of int64"},
    {"{}", "q", DTYPE_FLOAT64, large, 0, 0, "q", "empty shape"},
    {"{}", "q", DTYPE_FLOAT64, large, 2, 0, "q", "[0][2]; every size must be at least 1"},
    {"{}", "q", DTYPE_FLOAT64, large, 2, 600, "", "at least 1200 numbers"},
    {"{}", "scale", DTYPE_FLOAT64, large, 2, 2, "scale", "is a tensor; it must be"},
    {"{}", "include", DTYPE_FLOAT64, large, 2, 2, "include", "is a tensor; it must be"},
    {"{}", "sinks", DTYPE_BOOL, two, 2, 2, "sinks", "is of booleans"},
    {"{}", "sinks", DTYPE_FLOAT64, large, 2, 2, "sinks", "it must be a list"},
    {"{}", "queries", DTYPE_FLOAT64, large, 2, 2, "/queries", "here it is"},
    {"{\"q\":[[1]]}", "q", DTYPE_FLOAT64, large, 2, 2, "", "\"q\" is given twice"},
    {"{\"mask\":\"causal\"}", "mask.bias", DTYPE_FLOAT64, large, 2, 2, "", "\"bias\" must be an object"},
};

START_TEST(what_no_member_takes_is_refused)
{
    struct made made;
    _Alignas(double) char data[32];
    size_t bytes = 4 * dtype_size(refused[_i].dtype);
    memcpy(data, refused[_i].data, bytes);
    begin(&made, refused[_i].json);
    struct tensor t = tensor_dense(refused[_i].dtype, refused[_i].rank, (size_t[]){refused[_i].rows, 2}, data);
    ck_assert(!raw_request_put(&made.document, refused[_i].path, t, made.arena, &made.err) || !decode(&made));
    ck_assert_str_eq(made.err.faults[0].name, refused[_i].name);
    ck_assert_msg(strstr(made.err.faults[0].text, refused[_i].part), "%s", made.err.faults[0].text);
    end(&made);
}
END_TEST

START_TEST(sizes_that_cannot_be_counted_are_none)
{
    size_t bytes;
    ck_assert(raw_request_bytes(DTYPE_FLOAT32, 2, (size_t[]){3, 5}, &bytes));
    ck_assert_uint_eq(bytes, 60);
    ck_assert(!raw_request_bytes(DTYPE_FLOAT64, 2, (size_t[]){(size_t)1 << 62, 2}, &bytes));
}
END_TEST

/* --- replies --- */

static const char *const bodies[] = {
    "{\"q\":[[1,0],[0,2]],\"k\":[[1,0],[0,1],[1,1]],\"v\":[[1,2],[3,4],[5,6]],\"mask\":\"causal\","
    "\"include\":[\"output\",\"weights\",\"log_sum_exp\",\"steps\",\"present\",\"mask\",\"stats\","
    "\"steps.products\",\"steps.contributions\"]}",
    "{\"dtype\":\"float32\",\"heads\":2,\"q\":[[1,0],[0,2],[0.5,0.25]],\"k\":[[1,0],[0,1],[1,1]],"
    "\"v\":[[1,2],[3,4],[5,6]],\"past\":{\"k\":[[[3]],[[4]]],\"v\":[[[5]],[[6]]]},"
    "\"include\":[\"output\",\"weights\",\"present\",\"present_new\",\"inputs\",\"steps\"]}",
    "{\"q\":[[1,0],[0,2]],\"k\":[[1,0],[0,1]],\"v\":[[1,2],[3,4]],\"backward\":{\"cell\":{\"query\":0,\"feature\":1}}}",
};

/* A computed reply in an arena of its own. */
struct computed {
    struct made made;
    struct attention attention;
    struct reply reply;
};

static void compute(struct computed *c, const char *body, size_t whole_elements)
{
    static const atomic_bool never;
    const struct request_limits limits = {
        .elements = 1000000, .reply_elements = 1000000, .memory = 1 << 26, .whole_elements = whole_elements};
    struct made *m = &c->made;
    begin(m, body);
    c->attention = (struct attention){0};
    c->reply = (struct reply){0};
    bool good = decode(m);
    options_complete(&m->options);
    good = good && attention_check(&c->attention, &m->options.attention, &m->err) &&
           options_check(&m->options, &c->attention, &m->err) &&
           reply_plan(&c->reply, &m->options, &c->attention, &limits, m->arena, &m->err) &&
           attention_prepare(&c->attention, m->arena, NULL, &m->err) &&
           reply_compute(&c->reply, NULL, &never, m->arena, &m->err);
    ck_assert_msg(good, "%s", m->err.faults[0].text);
}

static struct buffer write_tensor(const struct computed *c, const struct section *s, enum dtype dtype)
{
    struct buffer bytes = buffer_new(SIZE_MAX);
    for (size_t local = 0; local < raw_reply_blocks(s, dtype); local++) {
        size_t before = bytes.length;
        ck_assert(raw_reply_block(&c->reply, s, dtype, local, &bytes));
        ck_assert_uint_le(bytes.length - before, raw_reply_room(&c->reply, s, dtype));
    }
    ck_assert_uint_eq(bytes.length, raw_reply_bytes(s, dtype));
    size_t lying;
    const void *view = raw_reply_view(s, dtype, 0, &lying);
    ck_assert(!view || memcmp(view, bytes.data, lying) == 0);
    return bytes;
}

static double json_double(const json_t *value)
{
    return json_is_number(value) ? json_number_value(value) : json_is_null(value) ? -HUGE_VAL : json_is_true(value);
}

/* Walks nested arrays in step with the numbers; returns how many there were. */
static size_t compare(const json_t *json, const char *numbers, enum dtype dtype, enum dtype own, size_t at)
{
    size_t index;
    json_t *entry;
    if (!json_is_array(json)) {
        _Alignas(double) char expected[sizeof(double)];
        dtype_set(own, expected, 0, json_double(json));
        dtype_set(dtype, expected, 0, dtype_get(own, expected, 0));
        ck_assert(memcmp(expected, numbers + at * dtype_size(dtype), dtype_size(dtype)) == 0);
        return at + 1;
    }
    json_array_foreach((json_t *)json, index, entry) at = compare(entry, numbers, dtype, own, at);
    return at;
}

static void compare_section(const struct computed *c, const struct section *s, const json_t *reply, enum dtype dtype)
{
    char name[RESULT_NAME_MAX];
    struct buffer bytes = write_tensor(c, s, dtype);
    size_t count = compare(exchange_at(reply, result_name(s->id, name)), bytes.data, dtype, s->t.dtype, 0);
    ck_assert_uint_eq(count, tensor_count(s->t));
    buffer_free(&bytes);
}

/* In one piece and in blocks, as they are and rounded. */
START_TEST(a_reply_has_the_numbers_of_its_text)
{
    for (size_t whole_elements = 0; whole_elements < 2; whole_elements++) {
        struct computed c;
        json_t *reply = exchange_reply(bodies[_i]);
        size_t tensors = 0;
        compute(&c, bodies[_i], whole_elements);
        for (size_t x = 0; x < c.reply.sections.count; x++) {
            const struct section *s = &c.reply.sections.at[x];
            if (!raw_reply_is_tensor(s))
                continue;
            compare_section(&c, s, reply, s->t.dtype);
            compare_section(&c, s, reply, DTYPE_BFLOAT16);
            tensors++;
        }
        ck_assert_uint_gt(tensors, 3);
        json_decref(reply);
        end(&c.made);
    }
}
END_TEST

Suite *raw_suite(void);

Suite *raw_suite(void)
{
    Suite *s = suite_create("raw");
    TCase *t = tcase_create("request");
    tcase_add_test(t, aligned_bytes_are_used_where_they_lie);
    tcase_add_loop_test(t, bytes_of_any_type_and_place_are_read, 0, 4 * 8);
    tcase_add_test(t, masks_and_lists_are_read);
    tcase_add_loop_test(t, what_no_member_takes_is_refused, 0, sizeof refused / sizeof *refused);
    tcase_add_test(t, sizes_that_cannot_be_counted_are_none);
    suite_add_tcase(s, t);
    t = tcase_create("reply");
    tcase_add_loop_test(t, a_reply_has_the_numbers_of_its_text, 0, sizeof bodies / sizeof *bodies);
    suite_add_tcase(s, t);
    return s;
}
