/* Quantised caches as requests: replies against the published vectors, text. */
#include "tests/api/cache_bodies.h"
#include "tests/api/exchange.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

START_TEST(a_quantised_cache_as_published)
{
    json_t *r = exchange_reply("{" CAUSAL ",\"quantize\":{\"k\":{\"method\":\"affine\",\"bits\":2},\"v\":{\"method\":"
                               "\"affine\",\"bits\":2}},\"include\":[\"weights\",\"output\",\"exact.weights\","
                               "\"exact.output\",\"present\",\"inputs\"]}");
    exchange_near(r, "quantization.k.codes", "[[2,3,0],[3,0,2],[2,3,3],[0,2,0]]", 0);
    exchange_near(r, "quantization.k.scale", "[[0.6666666666666666,0.5,0.3333333333333333]]", 1e-15);
    exchange_near(r, "quantization.k.zero", "[[-1,-0.5,0]]", 0);
    exchange_near(r, "quantization.v.scale", "[[0.3333333333333333],[0.3333333333333333],[0],[1]]", 1e-15);
    exchange_near(r, "weights.3", "[0.1261903,0.53441183,0.22478432,0.11461355]", 5e-9);
    exchange_near(r, "output.3", "[0.23636107,0.98842325]", 5e-9);
    exchange_near(r, "exact.weights.3", "[0.14137752,0.51825732,0.21798941,0.12237575]", 5e-9);
    exchange_near(r, "exact.output.3", "[0.23699118,0.98099823]", 5e-9);
    exchange_near(r, "present.k", "[[0.5,1,0],[1,-0.5,0.5],[0,1,1],[-1,0.5,0]]", 0);
    exchange_near(r, "inputs.k.1", "[1,-0.5,0.6666666666666666]", 1e-15);
    exchange_near(r, "axes.quantization.k.scale", "[\"group\",\"feature\"]", 0);
    ck_assert_double_eq(json_number_value(exchange_at(r, "quantization.k.bits_per_number")), 10);
    ck_assert_double_eq(json_number_value(exchange_at(r, "quantization.k.bytes")), 15);
    ck_assert_double_eq(json_number_value(exchange_at(r, "quantization.k.ratio")), 1.6);
    json_decref(r);
}
END_TEST

/* scores.max = max |s^ - s|, and so on, from the two requests that the one stands for */
START_TEST(the_error_is_the_difference_from_the_exact_result)
{
    json_t *r = exchange_reply("{" CAUSAL ",\"quantize\":{\"k\":{\"method\":\"affine\",\"bits\":2}},\"include\":["
                               "\"steps.scores\",\"weights\",\"output\",\"exact.weights\",\"exact.output\"],"
                               "\"sinks\":[0.5]}");
    json_t *exact = exchange_reply("{" CAUSAL ",\"include\":[\"steps.scores\",\"weights\"],\"sinks\":[0.5]}");
    double scores = 0, weights = 0;
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j <= i; j++) {
            char path[2][40];
            snprintf(path[0], sizeof path[0], "steps.scores.%zu.%zu", i, j);
            snprintf(path[1], sizeof path[1], "weights.%zu.%zu", i, j);
            double score = json_number_value(exchange_at(r, path[0])) - json_number_value(exchange_at(exact, path[0]));
            double weight = json_number_value(exchange_at(r, path[1])) - json_number_value(exchange_at(exact, path[1]));
            scores = score > scores ? score : -score > scores ? -score : scores;
            weights = weight > weights ? weight : -weight > weights ? -weight : weights;
        }
    ck_assert_double_eq_tol(json_number_value(exchange_at(r, "error.scores.max")), scores, 1e-15);
    ck_assert_double_eq_tol(json_number_value(exchange_at(r, "error.weights.max")), weights, 1e-15);
    ck_assert(json_equal(exchange_at(r, "exact.weights"), exchange_at(exact, "weights")));
    ck_assert_uint_eq(json_array_size(exchange_at(r, "error.weights.kl_bits")), 4);
    ck_assert_int_eq(json_integer_value(exchange_at(r, "error.weights.argmax_changed")), 0);
    json_decref(r);
    json_decref(exact);
}
END_TEST

/* the-cat's keys under H_4 / 2: the row of cat */
START_TEST(turboquant_under_a_given_rotation_as_published)
{
    static const char *const weights[] = {"[0.340995,0.659005]", "[0.218643,0.781357]", "[0.263208,0.736792]",
                                          "[0.266327,0.733673]"};
    static const char *const scaled[] = {"[0.157418,0.816283]", "[0.124108,1.397698]", "[0.168487,1.197846]",
                                         "[0.076669,1.090006]"};
    for (int bits = 1; bits <= 4; bits++) {
        char body[1200];
        snprintf(body, sizeof body,
                 "{" CAT ",\"quantize\":{\"k\":{\"method\":\"turboquant\",\"bits\":%d,\"rotation\":" HALF
                 "}},\"include\":"
                 "[\"weights\",\"steps.scaled\"]}",
                 bits);
        json_t *r = exchange_reply(body);
        exchange_near(r, "steps.scaled.1", scaled[bits - 1], 6e-7);
        exchange_near(r, "weights.1", weights[bits - 1], 6e-7);
        exchange_near(r, "quantization.k.rotation", HALF, 0);
        json_decref(r);
    }
}
END_TEST

/* codes and sign stay integers, scales and what the codes stand for do not; a scale of all is a plain number */
START_TEST(codes_stay_integers_whatever_the_spelling)
{
    json_t *r = exchange_reply("{" CAT ",\"encoding\":\"base64\",\"quantize\":{\"k\":{\"method\":\"turboquant\","
                               "\"bits\":2,\"residual\":\"qjl\"},\"v\":{\"method\":\"symmetric\",\"bits\":4,\"axis\":"
                               "\"tensor\"}}}");
    ck_assert(json_is_integer(exchange_at(r, "quantization.k.codes.0.0")));
    ck_assert(json_is_integer(exchange_at(r, "quantization.k.sign.0.0")));
    ck_assert(json_is_object(exchange_at(r, "quantization.k.norm")));
    ck_assert(json_is_object(exchange_at(r, "quantization.v.dequantized")));
    ck_assert(json_is_number(exchange_at(r, "quantization.v.scale")));
    ck_assert_double_eq_tol(json_number_value(exchange_at(r, "quantization.v.scale")), 1.2 / 7, 1e-15);
    json_decref(r);
    r = exchange_reply("{" CAT ",\"decimals\":0,\"quantize\":{\"v\":{\"method\":\"float8_e4m3\"}}}");
    ck_assert_int_eq(json_integer_value(exchange_at(r, "quantization.v.codes.0.3")), 126);
    ck_assert_double_eq(json_number_value(exchange_at(r, "quantization.v.bits_per_number")), 12);
    json_decref(r);
}
END_TEST

/* The output has the same bits however the reply is made: in one piece or streamed, with a pool or without. */
START_TEST(quantised_replies_stream)
{
    struct buffer body = buffer_new(SIZE_MAX);
    struct pool *pool = pool_start(2, 2);
    buffer_string(&body,
                  "{\"mask\":\"causal\",\"quantize\":{\"k\":{\"method\":\"affine\",\"bits\":4,\"group\":8},\"v\":{"
                  "\"method\":\"affine\",\"bits\":4}},\"include\":[\"output\",\"weights\",\"exact.weights\"]");
    for (const char *name = "qkv"; *name; name++) {
        buffer_format(&body, ",\"%c\":[", *name);
        for (int row = 0; row < 64; row++) {
            buffer_format(&body, "%s[", row ? "," : "");
            for (int t = 0; t < 16; t++)
                buffer_format(&body, "%s%.3f", t ? "," : "", ((row * 37 + t * 11 + *name) % 41 - 20) / 13.0);
            buffer_string(&body, "]");
        }
        buffer_string(&body, "]");
    }
    buffer_append(&body, "}", 2);
    struct exchange whole = exchange_run(body.data, (struct exchange_how){0});
    struct exchange streamed =
        exchange_run(body.data, (struct exchange_how){.limits = {.whole_elements = 1}, .pool = pool});
    ck_assert_msg(whole.good && streamed.good, "%s", whole.err.faults[0].text);
    ck_assert_uint_gt(streamed.blocks, whole.blocks);
    ck_assert_uint_eq(whole.text.length, streamed.text.length);
    ck_assert_int_eq(memcmp(whole.text.data, streamed.text.data, whole.text.length), 0);
    exchange_end(&whole);
    exchange_end(&streamed);
    buffer_free(&body);
    pool_stop(pool);
}
END_TEST

START_TEST(text_tells_codes_bill_and_loss)
{
    struct exchange x = exchange_run("{" CAUSAL ",\"quantize\":{\"k\":{\"method\":\"affine\",\"bits\":2}}}",
                                     (struct exchange_how){.format = JOB_TEXT});
    static const char *const lines[] = {
        "codes of k\n  k0  2  3  0\n  k1  3  0  2\n",
        "scale of the codes of k\n  group 0  0.667  0.500  0.333\n",
        "k  affine: 10.00 bits a number, 15 bytes in all; 16 / 10.00 = 1.60\n",
        "in so small a cache the scales cost more than the codes",
        "weights  largest 0.058\n",
        "the first key of the largest weight is another in 0 rows\n",
    };
    ck_assert_msg(x.good, "%s", x.err.faults[0].text);
    for (size_t l = 0; l < sizeof lines / sizeof *lines; l++)
        ck_assert_msg(strstr(x.text.data, lines[l]) != NULL, "no \"%s\" in\n%s", lines[l], x.text.data);
    exchange_end(&x);
}
END_TEST

Suite *cache_suite(void);

Suite *cache_suite(void)
{
    Suite *suite = suite_create("cache");
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, a_quantised_cache_as_published);
    tcase_add_test(tests, the_error_is_the_difference_from_the_exact_result);
    tcase_add_test(tests, turboquant_under_a_given_rotation_as_published);
    tcase_add_test(tests, codes_stay_integers_whatever_the_spelling);
    tcase_add_test(tests, quantised_replies_stream);
    tcase_add_test(tests, text_tells_codes_bill_and_loss);
    suite_add_tcase(suite, tests);
    return suite;
}
