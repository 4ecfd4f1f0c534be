/* Quantised caches of large heads: nothing is dequantised as a whole, and the numbers are those of a request whose keys
 * and values are what the codes stand for. */
#include "tests/api/exchange.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 18  /* past what own products take at a time */
#define KEYS 530 /* past one tile of keys */
#define WIDTH 16

static json_t *draw_rows(size_t rows, unsigned seed, double size)
{
    json_t *t = json_array();
    for (size_t row = 0; row < rows; row++) {
        json_t *numbers = json_array();
        for (size_t c = 0; c < (size_t)2 * WIDTH; c++) {
            seed = seed * 1103515245U + 12345U;
            json_array_append_new(numbers, json_real((double)((int)(seed >> 16 & 1023) - 512) / 400.0 * size));
        }
        json_array_append_new(t, numbers);
    }
    return t;
}

/* Two heads of WIDTH features; `members` is the rest of an object. */
static json_t *make_request(const char *members, double size)
{
    json_t *request = json_loads(members, 0, NULL);
    ck_assert_ptr_nonnull(request);
    json_object_set_new(request, "q", draw_rows(ROWS, 1, 1));
    json_object_set_new(request, "k", draw_rows(KEYS, 2, 1));
    json_object_set_new(request, "v", draw_rows(KEYS, 3, size));
    json_object_set_new(request, "heads", json_integer(2));
    return request;
}

static struct exchange run(const json_t *request, struct exchange_how how)
{
    char *body = json_dumps(request, JSON_REAL_PRECISION(17));
    struct exchange x = exchange_run(body, how);
    free(body);
    return x;
}

static void assert_near(const json_t *found, const json_t *wanted, double tolerance, const char *what)
{
    ck_assert_uint_eq(json_array_size(found), json_array_size(wanted));
    for (size_t x = 0; x < json_array_size(found); x++)
        if (json_is_array(json_array_get(found, x)))
            assert_near(json_array_get(found, x), json_array_get(wanted, x), tolerance, what);
        else
            ck_assert_msg(fabs(json_number_value(json_array_get(found, x)) -
                               json_number_value(json_array_get(wanted, x))) <= tolerance,
                          "%s: %.17g, not %.17g", what, json_number_value(json_array_get(found, x)),
                          json_number_value(json_array_get(wanted, x)));
}

#define INCLUDE "\"include\":[\"output\",\"weights\",\"log_sum_exp\",\"inputs\",\"steps.scores\"]"
#define SIDES \
    "\"quantize\":{\"k\":{\"method\":\"turboquant\",\"bits\":3},\"v\":{\"method\":\"affine\",\"bits\":4}," \
    "\"keep_first\":2}"

static const char *const requests[] = {
    "{" INCLUDE "," SIDES ",\"mask\":{\"causal\":true,\"align\":\"end\"},\"sinks\":[0.5,-1]}",
    "{" INCLUDE ",\"quantize\":{\"k\":{\"method\":\"affine\",\"bits\":2}},\"softcap\":3,\"dropout\":{\"p\":0.2}}",
    "{" INCLUDE ",\"quantize\":{\"v\":{\"method\":\"float8_e4m3\"}}}",
    "{" INCLUDE "," SIDES ",\"variant\":\"mask_after_softmax\",\"mask\":\"causal\"}",
    "{" INCLUDE "," SIDES ",\"scale\":0}",
    "{" INCLUDE "," SIDES ",\"dtype\":\"float32\",\"mask\":\"causal\"}",
};

/* keys and values of the heads apart, as `inputs` has them; queries and outputs split alike */
static json_t *make_plain(const json_t *quantised, const json_t *reply)
{
    static const char *const names[] = {"q", "k", "v"};
    json_t *plain = json_deep_copy(quantised);
    json_object_del(plain, "quantize");
    json_object_del(plain, "heads");
    for (size_t x = 0; x < 3; x++)
        json_object_set(plain, names[x], json_object_get(exchange_at(reply, "inputs"), names[x]));
    return plain;
}

START_TEST(large_heads_take_what_codes_stand_for)
{
    json_t *request = make_request(requests[_i], 1);
    double tolerance = json_object_get(request, "dtype") ? 1e-5 : 1e-13;
    struct exchange quantised = run(request, (struct exchange_how){0});
    ck_assert_msg(quantised.good, "%s", quantised.err.faults[0].text);
    json_t *plain_request = make_plain(request, quantised.reply);
    struct exchange plain = run(plain_request, (struct exchange_how){0});
    ck_assert_msg(plain.good, "%s", plain.err.faults[0].text);
    assert_near(exchange_at(quantised.reply, "weights"), exchange_at(plain.reply, "weights"), tolerance, "weights");
    assert_near(exchange_at(quantised.reply, "steps.scores"), exchange_at(plain.reply, "steps.scores"), tolerance,
                "scores");
    assert_near(exchange_at(quantised.reply, "log_sum_exp"), exchange_at(plain.reply, "log_sum_exp"), tolerance,
                "log_sum_exp");
    for (size_t h = 0; h < 2; h++)
        for (size_t i = 0; i < ROWS; i++)
            for (size_t t = 0; t < WIDTH; t++) {
                const json_t *row = json_array_get(exchange_at(quantised.reply, "output"), i);
                const json_t *other = json_array_get(json_array_get(exchange_at(plain.reply, "output"), h), i);
                ck_assert_double_eq_tol(json_number_value(json_array_get(row, h * WIDTH + t)),
                                        json_number_value(json_array_get(other, t)), tolerance);
            }
    exchange_end(&quantised);
    exchange_end(&plain);
    json_decref(plain_request);
    json_decref(request);
}
END_TEST

/* `inputs` are what the codes stand for, row by row, and kept tokens are as they came. */
START_TEST(inputs_are_the_dequantised)
{
    json_t *request = make_request(requests[0], 1);
    struct exchange x = run(request, (struct exchange_how){0});
    ck_assert(json_equal(exchange_at(x.reply, "inputs.k"), exchange_at(x.reply, "quantization.k.dequantized")));
    ck_assert(json_equal(exchange_at(x.reply, "inputs.v"), exchange_at(x.reply, "quantization.v.dequantized")));
    assert_near(exchange_at(x.reply, "inputs.v.0.1"), exchange_at(x.reply, "quantization.v.dequantized.0.1"), 0,
                "kept");
    for (size_t t = 0; t < WIDTH; t++)
        ck_assert_double_eq(json_number_value(json_array_get(exchange_at(x.reply, "inputs.k.0.1"), t)),
                            json_number_value(json_array_get(exchange_at(request, "k.1"), t)));
    exchange_end(&x);
    json_decref(request);
}
END_TEST

/* Workers and what is included change no bit of the output. */
START_TEST(the_output_has_the_same_bits)
{
    struct pool *pool = pool_start(2, 2);
    json_t *request = make_request(requests[0], 1);
    struct exchange all = run(request, (struct exchange_how){0});
    json_object_set_new(request, "include", json_loads("[\"output\"]", 0, NULL));
    struct exchange some = run(request, (struct exchange_how){.pool = pool, .limits = {.whole_elements = 1}});
    ck_assert(json_equal(exchange_at(all.reply, "output"), exchange_at(some.reply, "output")));
    ck_assert(json_equal(exchange_at(all.reply, "error"), exchange_at(some.reply, "error")));
    exchange_end(&all);
    exchange_end(&some);
    json_decref(request);
    pool_stop(pool);
}
END_TEST

/* Values near the largest number: the mean of them is one too, and a sum of more is refused. */
START_TEST(large_values_are_looked_at)
{
    json_t *request = make_request("{\"quantize\":{\"v\":{\"method\":\"symmetric\",\"bits\":4}}}", 1e308);
    struct exchange x = run(request, (struct exchange_how){0});
    ck_assert_msg(x.good, "%s", x.err.faults[0].text);
    exchange_end(&x);
    json_object_set_new(request, "dropout", json_loads("{\"p\":0.9999}", 0, NULL));
    x = run(request, (struct exchange_how){0});
    ck_assert_int_eq(x.err.code, ERROR_INVALID);
    ck_assert_ptr_nonnull(strstr(x.err.faults[0].text, "The output, or a term of it, overflows float64 in head"));
    exchange_end(&x);
    json_decref(request);
}
END_TEST

/* A cell of a large head is told from a decoded key and value; tables label kept tokens too. */
START_TEST(words_tell_decoded_rows)
{
    json_t *request = make_request(requests[0], 1);
    json_object_del(request, "include");
    struct exchange json = run(request, (struct exchange_how){0});
    struct exchange text = run(request, (struct exchange_how){.format = JOB_TEXT});
    ck_assert_msg(text.good, "%s", text.err.faults[0].text);
    ck_assert_ptr_nonnull(strstr(text.text.data, "codes of k\n  k2 "));
    ck_assert_ptr_nonnull(strstr(text.text.data, "dequantized: what the codes of k stand for\n  k0 "));
    json_object_set_new(request, "cell", json_loads("{\"query\":17,\"key\":529,\"head\":1}", 0, NULL));
    struct exchange cell = run(request, (struct exchange_how){.kind = JOB_EXPLAIN});
    ck_assert_msg(cell.good, "%s", cell.err.faults[0].text);
    ck_assert(
        json_equal(exchange_at(cell.reply, "value"), exchange_at(json.reply, "quantization.v.dequantized.1.529")));
    ck_assert(json_equal(exchange_at(cell.reply, "products.3.k"),
                         exchange_at(json.reply, "quantization.k.dequantized.1.529.3")));
    exchange_end(&json);
    exchange_end(&text);
    exchange_end(&cell);
    json_decref(request);
}
END_TEST

Suite *cache_tiles_suite(void);

Suite *cache_tiles_suite(void)
{
    Suite *suite = suite_create("cache tiles");
    TCase *tests = tcase_create("all");
    tcase_add_loop_test(tests, large_heads_take_what_codes_stand_for, 0, sizeof requests / sizeof *requests);
    tcase_add_test(tests, inputs_are_the_dequantised);
    tcase_add_test(tests, the_output_has_the_same_bits);
    tcase_add_test(tests, large_values_are_looked_at);
    tcase_add_test(tests, words_tell_decoded_rows);
    suite_add_tcase(suite, tests);
    return suite;
}
