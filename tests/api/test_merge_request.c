/* Merge: split keys joined equal the whole; layouts; empty parts; refusals. */
#include "tests/api/exchange.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct exchange join(const char *body)
{
    return exchange_run(body, (struct exchange_how){.kind = JOB_MERGE});
}

static json_t *joined(const char *body)
{
    struct exchange x = join(body);
    ck_assert_msg(x.good && x.reply, "%s: %s", x.err.faults[0].name, x.err.faults[0].text);
    buffer_free(&x.text);
    return x.reply;
}

/* The request with keys first .. first + count - 1 alone. */
static json_t *part_of(const json_t *request, size_t first, size_t count)
{
    json_t *part = json_deep_copy(request);
    const char *names[] = {"k", "v"};
    for (size_t x = 0; x < 2; x++) {
        json_t *heads = json_object_get(part, names[x]);
        for (size_t h = 0; h < json_array_size(heads); h++) {
            json_t *rows = json_array_get(heads, h);
            while (json_array_size(rows) > first + count)
                json_array_remove(rows, json_array_size(rows) - 1);
            for (size_t x0 = 0; x0 < first; x0++)
                json_array_remove(rows, 0);
        }
    }
    return part;
}

static json_t *run_part(const json_t *request, size_t first, size_t count)
{
    json_t *part = part_of(request, first, count);
    char *text = json_dumps(part, 0);
    json_t *reply = exchange_reply(text);
    json_t *kept = json_pack("{s:O,s:O}", "output", exchange_at(reply, "output"), "log_sum_exp",
                             exchange_at(reply, "log_sum_exp"));
    json_decref(reply);
    json_decref(part);
    free(text);
    return kept;
}

/* For disjoint keys K = A + B: softmax over K is the mix of the softmaxes over A and B by their sums of exponentials.
 */
START_TEST(split_keys_joined_equal_the_whole)
{
    json_t *request = json_loads("{\"q\":[[[1,2],[0.5,-1],[3,1]],[[2,1],[-1,0.5],[0,0]]],"
                                 "\"k\":[[[1,0],[0,1],[1,1],[2,-1],[0.25,4]],[[1,1],[0,2],[3,1],[1,-1],[0.5,0]]],"
                                 "\"v\":[[[1],[2],[3],[4],[5]],[[5],[-4],[3],[-2],[1]]],"
                                 "\"include\":[\"output\",\"log_sum_exp\"]}",
                                 0, NULL);
    json_t *whole = run_part(request, 0, 5);
    json_t *body =
        json_pack("{s:[o,o,o]}", "parts", run_part(request, 0, 2), run_part(request, 2, 1), run_part(request, 3, 2));
    char *text = json_dumps(body, 0);
    json_t *r = joined(text);
    char *output = json_dumps(exchange_at(whole, "output"), 0);
    char *lse = json_dumps(exchange_at(whole, "log_sum_exp"), 0);
    exchange_near(r, "output", output, 4e-15);
    exchange_near(r, "log_sum_exp", lse, 4e-15);
    free(output);
    free(lse);
    free(text);
    json_decref(r);
    json_decref(body);
    json_decref(whole);
    json_decref(request);
}
END_TEST

/* Two parts of equal weight: the mean; l = ln 2. */
static const struct {
    const char *parts, *output, *log_sum_exp;
} layouts[] = {
    {"{\"output\":[[1,2]],\"log_sum_exp\":[0]},{\"output\":[[3,6]],\"log_sum_exp\":[0]}", "[[2,4]]",
     "[0.69314718055994531]"},
    {"{\"output\":[[1],[2]],\"log_sum_exp\":[0,0]},{\"output\":[[3],[6]],\"log_sum_exp\":[0,-1e9]}", "[[2],[2]]",
     "[0.69314718055994531,0]"},
    {"{\"output\":[[[1],[2]]],\"log_sum_exp\":[[0,0]]},{\"output\":[[[3],[6]]],\"log_sum_exp\":[[0,0]]}", "[[[2],[4]]]",
     "[[0.69314718055994531,0.69314718055994531]]"},
    {"{\"output\":[[[[1]]]],\"log_sum_exp\":[[[0]]]},{\"output\":[[[[3]]]],\"log_sum_exp\":[[[0]]]}", "[[[[2]]]]",
     "[[[0.69314718055994531]]]"},
    /* packed: two heads side by side, the second weighs the first part alone */
    {"{\"output\":[[1,2],[5,6]],\"log_sum_exp\":[[0,0],[0,0]]},"
     "{\"output\":[[3,4],[7,8]],\"log_sum_exp\":[[0,0],[null,null]]}",
     "[[2,2],[6,6]]", "[[0.69314718055994531,0.69314718055994531],[0,0]]"},
    {"{\"output\":[[[1,2],[5,6]]],\"log_sum_exp\":[[[0,0],[0,0]]]},"
     "{\"output\":[[[3,4],[7,8]]],\"log_sum_exp\":[[[0,0],[null,\"-Infinity\"]]]}",
     "[[[2,2],[6,6]]]", "[[[0.69314718055994531,0.69314718055994531],[0,0]]]"},
    /* no key anywhere, whatever stands in the output */
    {"{\"output\":[[1e308]],\"log_sum_exp\":[null]},{\"output\":[[1e308]],\"log_sum_exp\":[null]}", "[[0]]", "[null]"},
    {"{\"output\":[[7]],\"log_sum_exp\":[1000]}", "[[7]]", "[1000]"},
    {"{\"output\":[[7]],\"log_sum_exp\":[1e308]},{\"output\":[[5]],\"log_sum_exp\":[-1e308]}", "[[7]]", "[1e308]"},
    {"{\"output\":[[1.7e308]],\"log_sum_exp\":[0]},{\"output\":[[1.7e308]],\"log_sum_exp\":[0]}", "[[1.7e308]]",
     "[0.69314718055994531]"},
};

START_TEST(every_layout)
{
    char body[400];
    snprintf(body, sizeof body, "{\"parts\":[%s]}", layouts[_i].parts);
    json_t *r = joined(body);
    exchange_near(r, "output", layouts[_i].output, 1e-15);
    exchange_near(r, "log_sum_exp", layouts[_i].log_sum_exp, 2e-16);
    json_decref(r);
}
END_TEST

START_TEST(styles_are_those_of_attention)
{
    struct exchange x = join("{\"id\":\"a\",\"nonfinite\":\"string\",\"decimals\":2,\"dtype\":\"float32\","
                             "\"parts\":[{\"output\":[[0.125],[0.1]],\"log_sum_exp\":[\"-Infinity\",0.1]}]}");
    ck_assert_msg(x.good, "%s %s", x.err.faults[0].name, x.err.faults[0].text);
    ck_assert_str_eq(x.media_type, "application/json");
    ck_assert_uint_eq(x.blocks, 1);
    buffer_append(&x.text, "", 1);
    ck_assert_str_eq(x.text.data, "{\"id\":\"a\",\"output\":[[0],[0.1]],\"log_sum_exp\":[\"-Infinity\",0.1]}\n");
    exchange_end(&x);
    x = join("{\"encoding\":\"base64\",\"dtype\":\"float32\",\"parts\":[{\"output\":[[1,0]],\"log_sum_exp\":[null]}]}");
    buffer_append(&x.text, "", 1);
    ck_assert_str_eq(x.text.data, "{\"output\":{\"dtype\":\"float32\",\"shape\":[1,2],\"base64\":\"AAAAAAAAAAA=\"},"
                                  "\"log_sum_exp\":{\"dtype\":\"float32\",\"shape\":[1],\"base64\":\"AACA/w==\"}}\n");
    exchange_end(&x);
}
END_TEST

static const struct {
    const char *body, *name, *part;
} wrong[] = {
    {"{}", "", "lacks its member \"parts\""},
    {"{\"parts\":[]}", "parts", "must be a list of objects"},
    {"{\"parts\":[1,2]}", "parts", "must be a list of objects"},
    {"{\"parts\":{}}", "parts", "must be a list of objects"},
    {"{\"parts\":[{}]}", "parts.0", "lacks its member \"output\""},
    {"{\"parts\":[{\"output\":[[1]],\"log_sum_exp\":[0]},\"x\"]}", "parts.1", "is a string"},
    {"{\"parts\":[{\"output\":[[1]],\"log_sum_exp\":[0],\"weights\":[[1]]}]}", "/parts/0/weights",
     "parts[0] has no member"},
    {"{\"parts\":[{\"output\":[[1,null]],\"log_sum_exp\":[0]}]}", "parts.0.output.0.1", "not a finite number"},
    {"{\"parts\":[{\"output\":[[1],[1]],\"log_sum_exp\":[\"-Infinity\",\"0\"]}]}", "parts.0.log_sum_exp.1",
     "is a string"},
    {"{\"parts\":[{\"output\":[[1],[1]],\"log_sum_exp\":[\"-Infinity\",[0]]}]}", "parts.0.log_sum_exp.1",
     "is an array"},
    {"{\"parts\":[{\"output\":[[1],[1]],\"log_sum_exp\":[\"-infinity\",0]}]}", "parts.0.log_sum_exp.0", "is a string"},
    {"{\"parts\":[{\"output\":[1],\"log_sum_exp\":[0]}]}", "parts.0.output", "rank 2 to 4"},
    {"{\"parts\":[{\"output\":[[1]],\"log_sum_exp\":[0,1]}]}", "parts.0.log_sum_exp", "[2]"},
    {"{\"parts\":[{\"output\":[[1,2,3]],\"log_sum_exp\":[[0],[0]]}]}", "parts.0.log_sum_exp", "[1][3]"},
    {"{\"parts\":[{\"output\":[[[1]]],\"log_sum_exp\":[0]}]}", "parts.0.log_sum_exp", "[1]"},
    {"{\"parts\":[{\"output\":[[1]],\"log_sum_exp\":[0]},{\"output\":[[1,2]],\"log_sum_exp\":[0]}]}", "parts.1.output",
     "[1][2]; the first part has [1][1]"},
    {"{\"parts\":[{\"output\":[[1]],\"log_sum_exp\":[0]},{\"output\":[[1]],\"log_sum_exp\":[[0]]}]}",
     "parts.1.log_sum_exp", "[1][1]; the first part has [1]"},
    {"{\"q\":[[1]],\"parts\":[{\"output\":[[1]],\"log_sum_exp\":[0]}]}", "/q", "no member \"q\""},
    {"{\"decimals\":1,\"encoding\":\"base64\",\"parts\":[{\"output\":[[1]],\"log_sum_exp\":[0]}]}", "decimals",
     "nothing"},
};

START_TEST(what_cannot_be_joined)
{
    struct exchange x = join(wrong[_i].body);
    ck_assert(!x.good);
    ck_assert_int_eq(x.err.code, ERROR_INVALID);
    ck_assert_str_eq(x.err.faults[0].name, wrong[_i].name);
    ck_assert_msg(strstr(x.err.faults[0].text, wrong[_i].part), "%s", x.err.faults[0].text);
    exchange_end(&x);
}
END_TEST

/* The mean of n times the largest number, or the lowest, is that number, for every n and dtype. */
START_TEST(the_mean_of_largest_numbers_is_one)
{
    static const char *const values[] = {"1.7976931348623157e+308", "-1.7976931348623157e+308", "3.4028235e+38",
                                         "-3.4028235e+38"};
    for (size_t value = 0; value < 4; value++)
        for (size_t n = 1; n < 40; n++) {
            char body[40 * 80],
                *end = body + sprintf(body, "{\"dtype\":\"%s\",\"parts\":[", value < 2 ? "float64" : "float32");
            for (size_t p = 0; p < n; p++)
                end += sprintf(end, "%s{\"output\":[[%s]],\"log_sum_exp\":[%g]}", p ? "," : "", values[value],
                               (double)(p % 3));
            strcpy(end, "]}");
            json_t *reply = joined(body);
            ck_assert_double_eq(json_real_value(exchange_at(reply, "output.0.0")), strtod(values[value], NULL));
            json_decref(reply);
        }
}
END_TEST

Suite *merge_request_suite(void);

Suite *merge_request_suite(void)
{
    Suite *suite = suite_create("merge");
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, split_keys_joined_equal_the_whole);
    tcase_add_test(tests, the_mean_of_largest_numbers_is_one);
    tcase_add_loop_test(tests, every_layout, 0, (int)(sizeof layouts / sizeof *layouts));
    tcase_add_test(tests, styles_are_those_of_attention);
    tcase_add_loop_test(tests, what_cannot_be_joined, 0, (int)(sizeof wrong / sizeof *wrong));
    suite_add_tcase(suite, tests);
    return suite;
}
