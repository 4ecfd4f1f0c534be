/* Emulated precision as requests. */
#include "core/tensor/format.h"
#include "tests/api/cache_bodies.h"
#include "tests/api/exchange.h"

#include <check.h>
#include <stdio.h>

/* the-cat with rounded inputs: the row of cat */
START_TEST(rounded_inputs_as_published)
{
    static const struct {
        const char *format, *scores, *weights, *output;
        double ulp;
    } cases[] = {{"float16", "[0.20034176,2.0889796]", "[0.28002877,0.71997123]",
                  "[0.72409172,-0.32801068,-0.11596305,-0.12413079]", 0x1p-10},
                 {"bfloat16", "[0.20176029,2.0935955]", "[0.27970656,0.72029344]",
                  "[0.72674976,-0.32864265,-0.1162014,-0.12518726]", 0x1p-7},
                 {"float8_e4m3", "[0.22875977,2.14794922]", "[0.27695934,0.72304066]",
                  "[0.76532115,-0.33846494,-0.11873895,-0.14032115]", 0x1p-3},
                 {"float8_e5m2", "[0.28515625,1.8359375]", "[0.31531416,0.68468584]",
                  "[0.69820022,-0.33220714,-0.09881789,-0.11261449]", 0x1p-2}};
    for (size_t x = 0; x < sizeof cases / sizeof *cases; x++) {
        char body[800];
        snprintf(body, sizeof body,
                 "{" CAT ",\"precision\":{\"inputs\":\"%s\"},\"include\":[\"output\",\"weights\","
                 "\"steps.scores\"]}",
                 cases[x].format);
        json_t *r = exchange_reply(body);
        exchange_near(r, "steps.scores.1", cases[x].scores, 6e-9);
        exchange_near(r, "weights.1", cases[x].weights, 6e-9);
        exchange_near(r, "output.1", cases[x].output, 6e-9);
        ck_assert_double_eq(json_number_value(exchange_at(r, "ulp.inputs")), cases[x].ulp);
        ck_assert_double_eq(json_number_value(exchange_at(r, "ulp.softmax")), 0x1p-52);
        json_decref(r);
    }
}
END_TEST

/* 256 + 1 is 256 in bfloat16; 1 + 1 first makes 258 */
START_TEST(the_order_of_a_sum_matters)
{
    json_t *one = exchange_reply("{\"q\":[[256,1,1,1]],\"k\":[[1,1,1,1]],\"v\":[[1]],\"include\":[\"steps.scores\"],"
                                 "\"precision\":{\"accumulate\":\"bfloat16\"}}");
    json_t *pairs = exchange_reply("{\"q\":[[256,1,1,1]],\"k\":[[1,1,1,1]],\"v\":[[1]],\"include\":[\"steps.scores\"],"
                                   "\"precision\":{\"accumulate\":\"bfloat16\",\"order\":\"pairwise\"}}");
    exchange_near(one, "steps.scores", "[[256]]", 0);
    exchange_near(pairs, "steps.scores", "[[258]]", 0);
    exchange_near(one, "error.scores.max", "3", 0);
    json_decref(one);
    json_decref(pairs);
}
END_TEST

/* Nothing rounded is nothing changed, to the bit, whatever the options. */
START_TEST(emulated_float64_is_the_ordinary_result)
{
    static const char *const options[] = {
        "\"scale\":0.7",
        "\"softcap\":1.5,\"sinks\":[0.25]",
        "\"dropout\":{\"p\":0.3,\"seed\":4},\"mask\":{\"causal\":true,\"alibi\":true,\"bias\":[[0,-1,0.5,null]]}",
        "\"variant\":\"mask_after_softmax\",\"mask\":\"causal\"",
        "\"variant\":\"mask_with_zero\",\"mask\":\"causal\"",
    };
    static const char base[] = "\"q\":[[1,0,0.5],[0,1,-0.5],[1,1,0],[0.5,-1,1]],\"k\":[[0.5,1,0],[1,-0.5,0.5],[0,1,1],"
                               "[-1,0.5,0]],\"v\":[[1,0],[0,1],[1,1],[-1,2]],\"include\":[\"output\",\"weights\","
                               "\"steps\",\"log_sum_exp\"]";
    char body[900];
    snprintf(body, sizeof body, "{%s,%s}", base, options[_i]);
    json_t *plain = exchange_reply(body);
    snprintf(body, sizeof body, "{%s,%s,\"precision\":{\"inputs\":\"float64\"}}", base, options[_i]);
    json_t *emulated = exchange_reply(body);
    ck_assert(json_equal(exchange_at(plain, "steps"), exchange_at(emulated, "steps")));
    ck_assert(json_equal(exchange_at(plain, "output"), exchange_at(emulated, "output")));
    ck_assert(json_equal(exchange_at(plain, "log_sum_exp"), exchange_at(emulated, "log_sum_exp")));
    exchange_near(emulated, "error.output.max", "0", 0);
    json_decref(plain);
    json_decref(emulated);
}
END_TEST

/* Every number of a stage is one of its format: rounding it again changes nothing. */
START_TEST(profiles_round_every_stage)
{
    json_t *r = exchange_reply("{" CAT ",\"precision\":\"bf16-all\",\"include\":[\"steps\",\"output\",\"weights\"]}");
    static const char *const numbers[] = {"steps.scores.1.1", "steps.scaled.1.1", "steps.exp.1.0",
                                          "weights.1.0",      "output.1.0",       "output.1.3"};
    for (size_t x = 0; x < sizeof numbers / sizeof *numbers; x++) {
        double value = json_number_value(exchange_at(r, numbers[x]));
        ck_assert_msg(format_round(FORMAT_BFLOAT16, value) == value, "%s is %.17g", numbers[x], value);
    }
    ck_assert_double_gt(json_number_value(exchange_at(r, "error.weights.max")), 0);
    json_decref(r);
}
END_TEST

START_TEST(float8_saturates_and_is_counted)
{
    json_t *r =
        exchange_reply("{\"q\":[[500,1]],\"k\":[[1,0.0001],[9999,1]],\"v\":[[1],[2]],\"mask\":{\"allow\":[[true,"
                       "false]]},\"precision\":{\"inputs\":\"float8_e4m3\"},\"include\":[\"inputs\",\"stats\"]}");
    exchange_near(r, "inputs.q", "[[448,1]]", 0);
    exchange_near(r, "inputs.k", "[[1,0],[448,1]]", 0);
    ck_assert_int_eq(json_integer_value(exchange_at(r, "stats.precision.saturated")), 1);
    ck_assert_int_eq(json_integer_value(exchange_at(r, "stats.precision.zeroed")), 1);
    json_decref(r);
}
END_TEST

/* 100 * 100 * (1 + 1) terms are no small head */
START_TEST(large_heads_are_not_emulated)
{
    struct buffer body = buffer_new(SIZE_MAX);
    buffer_string(&body, "{\"precision\":\"fp16\"");
    for (const char *name = "qkv"; *name; name++) {
        buffer_format(&body, ",\"%c\":[[0]", *name);
        for (int row = 1; row < 100; row++)
            buffer_string(&body, ",[1]");
        buffer_string(&body, "]");
    }
    buffer_append(&body, "}", 2);
    exchange_refused(body.data, ERROR_INVALID, "precision", "is at most 16384; here it is 20000");
    buffer_free(&body);
}
END_TEST

Suite *cache_precision_suite(void);

Suite *cache_precision_suite(void)
{
    Suite *suite = suite_create("precision requests");
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, rounded_inputs_as_published);
    tcase_add_test(tests, the_order_of_a_sum_matters);
    tcase_add_loop_test(tests, emulated_float64_is_the_ordinary_result, 0, 5);
    tcase_add_test(tests, profiles_round_every_stage);
    tcase_add_test(tests, large_heads_are_not_emulated);
    tcase_add_test(tests, float8_saturates_and_is_counted);
    suite_add_tcase(suite, tests);
    return suite;
}
