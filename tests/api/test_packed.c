/* Packed tensors in requests: every dtype, short and long strings, what is refused. */
#include "tests/api/exchange.h"

#include "api/numbers/base64.h"
#include "core/tensor/tensor.h"

#include <check.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_packed(struct buffer *out, const char *dtype, size_t rows, size_t columns, const void *bytes,
                       size_t count)
{
    struct base64 state = {{0}, 0};
    buffer_format(out, "{\"dtype\":\"%s\",\"shape\":[%zu,%zu],\"base64\":\"", dtype, rows, columns);
    base64_append(&state, out, bytes, count);
    base64_end(&state, out);
    buffer_string(out, "\"}");
}

static double number(size_t x)
{
    return (double)((int)(x * 7 % 23) - 11) / 4; /* exact in every dtype */
}

static const struct {
    const char *name;
    enum dtype dtype;
} dtypes[] = {
    {"float64", DTYPE_FLOAT64}, {"float32", DTYPE_FLOAT32}, {"float16", DTYPE_FLOAT16}, {"bfloat16", DTYPE_BFLOAT16}};

static void put_numbers(struct buffer *out, size_t rows, size_t columns)
{
    for (size_t x = 0; x < rows * columns; x++)
        buffer_format(out, "%s%s%g%s", x % columns == 0 ? (x == 0 ? "[" : ",") : ",", x % columns == 0 ? "[" : "",
                      number(x), x % columns == columns - 1 ? "]" : "");
    buffer_string(out, "]");
}

static void put_tensor(struct buffer *out, size_t type, size_t rows, size_t columns)
{
    double *room = calloc(rows * columns, sizeof *room);
    ck_assert_ptr_nonnull(room);
    for (size_t x = 0; x < rows * columns; x++)
        dtype_set(dtypes[type].dtype, room, x, number(x));
    put_packed(out, dtypes[type].name, rows, columns, room, rows * columns * dtype_size(dtypes[type].dtype));
    free(room);
}

/* The same q, k, v packed and as text give the same bytes: `columns` wide, short strings that stay strings and long
 * ones that are cut out. */
static void compare(size_t type, size_t columns, const char *dtype)
{
    struct buffer packed = buffer_new(SIZE_MAX);
    struct buffer plain = buffer_new(SIZE_MAX);
    for (const char *name = "qkv"; *name; name++) {
        buffer_format(&packed, "%c\"%c\":", *name == 'q' ? '{' : ',', *name);
        buffer_format(&plain, "%c\"%c\":", *name == 'q' ? '{' : ',', *name);
        put_tensor(&packed, type, 3, columns);
        put_numbers(&plain, 3, columns);
    }
    buffer_format(&packed, ",\"dtype\":\"%s\"}", dtype);
    buffer_format(&plain, ",\"dtype\":\"%s\"}", dtype);
    buffer_append(&packed, "", 1);
    buffer_append(&plain, "", 1);
    struct exchange one = exchange_run(packed.data, (struct exchange_how){0});
    struct exchange other = exchange_run(plain.data, (struct exchange_how){0});
    ck_assert_msg(one.good && other.good, "%s", one.err.faults[0].text);
    ck_assert_uint_eq(one.text.length, other.text.length);
    ck_assert(memcmp(one.text.data, other.text.data, one.text.length) == 0);
    exchange_end(&one);
    exchange_end(&other);
    buffer_free(&packed);
    buffer_free(&plain);
}

START_TEST(packed_is_what_text_is)
{
    for (size_t columns = 1; columns < 40; columns += 3) {
        compare((size_t)_i, columns, "float64");
        compare((size_t)_i, columns, "float32");
    }
}
END_TEST

/* All 65536 codes of float16 and bfloat16 that are finite, there and back. */
START_TEST(two_bytes_hold_what_they_say)
{
    for (uint32_t code = 0; code < 65536; code++) {
        uint16_t here = (uint16_t)code;
        uint16_t back = 0;
        double half = dtype_get(DTYPE_FLOAT16, &here, 0);
        int exponent = (int)(code >> 10 & 31);
        double wanted = exponent == 0 ? ldexp(code & 1023, -24) : ldexp(1024 + (code & 1023), exponent - 25);
        if (exponent < 31) {
            ck_assert(half == (code & 0x8000 ? -wanted : wanted));
            dtype_set(DTYPE_FLOAT16, &back, 0, half);
            ck_assert_uint_eq(back, here);
        }
        double brain = dtype_get(DTYPE_BFLOAT16, &here, 0);
        if (isfinite(brain)) {
            dtype_set(DTYPE_BFLOAT16, &back, 0, brain);
            ck_assert_uint_eq(back, here);
        }
    }
    uint16_t code = 0x3c01;
    ck_assert(dtype_get(DTYPE_FLOAT16, &code, 0) == 1 + 0x1p-10);
    code = 0x4049;
    ck_assert(dtype_get(DTYPE_BFLOAT16, &code, 0) == 3.140625);
}
END_TEST

START_TEST(allow_is_packed_in_bytes)
{
    static const unsigned char bytes[100] = {[3] = 1, [50] = 1};
    struct buffer body = buffer_new(SIZE_MAX);
    buffer_string(&body, "{\"q\":[[1]],\"k\":[");
    for (size_t j = 0; j < 100; j++)
        buffer_string(&body, j == 0 ? "[1]" : ",[1]");
    buffer_string(&body, "],\"v\":[");
    for (size_t j = 0; j < 100; j++)
        buffer_format(&body, "%s[%zu]", j == 0 ? "" : ",", j);
    buffer_string(&body, "],\"mask\":{\"allow\":");
    put_packed(&body, "uint8", 1, 100, bytes, sizeof bytes);
    buffer_string(&body, "}}");
    buffer_append(&body, "", 1);
    json_t *reply = exchange_reply(body.data);
    exchange_near(reply, "output", "[[26.5]]", 0);
    json_decref(reply);
    buffer_free(&body);
}
END_TEST

#define QKV "{\"k\":[[1]],\"v\":[[1]],\"q\":"

static const struct {
    const char *body, *name, *part;
} wrong[] = {
    {QKV "{\"dtype\":\"uint8\",\"shape\":[1,1],\"base64\":\"AQ==\"}}", "q.dtype", "for mask.allow alone"},
    {QKV "[[1]],\"mask\":{\"allow\":{\"dtype\":\"float32\",\"shape\":[1,1],\"base64\":\"AACAPw==\"}}}",
     "mask.allow.dtype", "must be \"uint8\""},
    {QKV "[[1]],\"mask\":{\"allow\":{\"dtype\":\"uint8\",\"shape\":[1,1],\"base64\":\"Ag==\"}}}", "mask.allow.0.0",
     "neither 0 nor 1"},
    {QKV "{\"dtype\":\"float16\",\"shape\":[1,1],\"base64\":\"AHw=\"}}", "q.0.0", "is not finite"},
    {QKV "{\"dtype\":\"float16\",\"shape\":[1,2],\"base64\":\"AHw=\"}}", "q.base64", "[1][2] of float16 takes 4"},
    {QKV
     "{\"dtype\":\"float32\",\"shape\":[1,1],\"base64\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
     "AAAAAAAAAAAAAA*AAAAAAAAAAAAAAAAAAAAAAAAA\"}}",
     "q.base64", "is not base64 at position 72 of 98"},
    {QKV
     "{\"dtype\":\"float32\",\"shape\":[1,1],\"base64\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
     "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\"}}",
     "q.base64", "groups of four"},
    {QKV "{\"dtype\":\"float32\",\"shape\":[1,1],\"base64\":[1]}}", "q.base64", "is an array of numbers"},
    {"{\"tokens\":{\"base64\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"},"
     "\"q\":[[1]],\"k\":[[1]],\"v\":[[1]]}",
     "/tokens/base64", "has no member"},
};

START_TEST(what_does_not_fit_is_refused)
{
    exchange_refused(wrong[_i].body, ERROR_INVALID, wrong[_i].name, wrong[_i].part);
}
END_TEST

Suite *packed_suite(void);

Suite *packed_suite(void)
{
    Suite *suite = suite_create("packed");
    TCase *tests = tcase_create("all");
    tcase_add_loop_test(tests, packed_is_what_text_is, 0, (int)(sizeof dtypes / sizeof *dtypes));
    tcase_add_test(tests, two_bytes_hold_what_they_say);
    tcase_add_test(tests, allow_is_packed_in_bytes);
    tcase_add_loop_test(tests, what_does_not_fit_is_refused, 0, (int)(sizeof wrong / sizeof *wrong));
    suite_add_tcase(suite, tests);
    return suite;
}
