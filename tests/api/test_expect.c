/* expect: results held against what a request says they are. */
#include "tests/api/exchange.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define CAT "\"q\":[[1,0],[0,2]],\"k\":[[1,0],[0,1],[1,1]],\"v\":[[1,2],[3,4],[5,6]],\"mask\":\"causal\",\"scale\":1"

/* What a reply prints, sent back, is as expected with tolerance 0: also where `include` does not ask for it again. */
static void check_round_trip(const char *request, const char *include, const char *const *paths)
{
    char body[16384];
    snprintf(body, sizeof body, "{%s,\"include\":[%s]}", request, include);
    json_t *reply = exchange_reply(body);
    json_t *expect = json_object();
    json_object_set_new(expect, "tolerance", json_integer(0));
    size_t count = 0;
    for (; paths[count]; count++)
        json_object_set(expect, paths[count], exchange_at(reply, paths[count]));
    char *text = json_dumps(expect, JSON_REAL_PRECISION(17));
    ck_assert_int_lt(snprintf(body, sizeof body, "{%s,\"include\":[],\"expect\":%s}", request, text), (int)sizeof body);
    json_t *checked = exchange_reply(body);
    ck_assert_uint_eq(json_array_size(exchange_at(checked, "checks")), count);
    for (size_t x = 0; x < count; x++) {
        const json_t *check = json_array_get(exchange_at(checked, "checks"), x);
        ck_assert_str_eq(json_string_value(json_object_get(check, "name")), paths[x]);
        ck_assert_msg(json_is_true(json_object_get(check, "ok")), "%s", paths[x]);
        ck_assert_double_eq(json_number_value(json_object_get(check, "max_abs_difference")), 0);
    }
    ck_assert_ptr_null(json_object_get(checked, "output"));
    json_decref(checked);
    json_decref(reply);
    json_decref(expect);
    free(text);
}

START_TEST(a_reply_is_as_it_says)
{
    static const char *const paths[] = {"weights",
                                        "output",
                                        "log_sum_exp",
                                        "steps.masked",
                                        "steps.row_max",
                                        "steps.products",
                                        "steps.contributions",
                                        "steps.contribution_norms",
                                        "present.k",
                                        "present_new.v",
                                        "inputs.q",
                                        "stats.jacobian_norm",
                                        "gradients.q",
                                        "gradients.inputs.v",
                                        "gradients.masked",
                                        "gradients.row_dot",
                                        "gradients.jacobian",
                                        "gradients.scale",
                                        "updated.k",
                                        NULL};
    static const char include[] =
        "\"output\",\"weights\",\"log_sum_exp\",\"steps\",\"steps.products\",\"steps.contributions\","
        "\"steps.contribution_norms\",\"present\",\"present_new\",\"inputs\",\"stats\",\"gradients\","
        "\"gradients.jacobian\"";
    static const char back[] = ",\"backward\":{\"cell\":{\"query\":1,\"feature\":0}},\"step\":{\"rate\":0.5}";
    char request[1024];
    snprintf(request, sizeof request, CAT "%s%s", back, _i ? ",\"dtype\":\"float32\"" : "");
    check_round_trip(request, include, paths);
}
END_TEST

static void check_one(const char *expect, bool ok, const char *difference, const char *at)
{
    char body[1024];
    snprintf(body, sizeof body, "{" CAT ",\"decimals\":1,\"include\":[],\"expect\":{%s}}", expect);
    json_t *reply = exchange_reply(body);
    ck_assert_int_eq(json_is_true(exchange_at(reply, "checks.0.ok")), ok);
    json_t *wanted = json_loads(difference, JSON_DECODE_ANY, NULL);
    const json_t *found = exchange_at(reply, "checks.0.max_abs_difference");
    ck_assert_int_eq(json_is_null(found), json_is_null(wanted));
    ck_assert_double_eq_tol(json_number_value(found), json_number_value(wanted), 1e-15);
    json_decref(wanted);
    wanted = json_loads(at, JSON_DECODE_ANY, NULL);
    ck_assert(json_equal(exchange_at(reply, "checks.0.at"), wanted));
    json_decref(wanted);
    json_decref(reply);
}

/* The scores are 1 0 1 and 0 2 2, the second and third key of the first query hidden. */
START_TEST(the_largest_difference_is_told)
{
    check_one("\"steps.scores\":[[1,0,1],[0,2,2]]", true, "0", "[0,0]");
    check_one("\"steps.scores\":[[1,0,1],[0,2.00004,2]]", true, "4.0000000000040004e-05", "[1,1]");
    check_one("\"steps.scores\":[[1,0,1],[0,2.25,1.5]]", false, "0.5", "[1,2]");
    check_one("\"steps.scores\":[[1,0,1],[0,2.25,1.5]],\"tolerance\":0.5", true, "0.5", "[1,2]");
    check_one("\"steps.masked\":[[1,null,null],[0,2,null]]", true, "0", "[0,0]");
    check_one("\"steps.masked\":[[1,0,null],[0,2,null]]", false, "null", "[0,1]");
    check_one("\"steps.scores\":[[1,null,1],[0,2,2]]", false, "null", "[0,1]");
    check_one("\"steps.scores\":[[1,0,1]]", false, "null", "null");
    check_one("\"output\":3", false, "null", "null");
}
END_TEST

/* A large reply is made of blocks, and so is what is compared. */
START_TEST(blocks_are_compared_too)
{
    static const char body[] = "{" CAT ",\"include\":[\"steps\"],\"expect\":{\"steps.exp\":[[1,0,0],[1,1,0]],"
                               "\"weights\":[[1,0,0],[0.1,0.5,0]]}}";
    struct exchange e = exchange_run(body, (struct exchange_how){.limits = {.whole_elements = 1}});
    ck_assert(e.good && e.blocks > 1);
    ck_assert(json_is_false(exchange_at(e.reply, "checks.0.ok")));
    exchange_near(e.reply, "checks.0.at", "[1,0]", 0);
    exchange_near(e.reply, "checks.0.max_abs_difference", "0.8646647167633873", 1e-15);
    exchange_near(e.reply, "checks.1.at", "[1,1]", 0);
    exchange_near(e.reply, "checks.1.max_abs_difference", "0.38079707797788245", 1e-15);
    exchange_end(&e);
}
END_TEST

START_TEST(what_cannot_be_expected_is_refused)
{
    static const struct {
        const char *expect, *name, *part;
    } refusals[] = {
        {"{\"steps.scored\":[[1]]}", "/expect/steps.scored", "did you mean \"steps.scores\""},
        {"{\"mask.allowed\":[[1]]}", "/expect/mask.allowed", "no member"},
        {"{\"gradients.q\":[[1]]}", "/expect/gradients.q", "backward would bring it"},
        {"{\"steps.capped\":[[1]]}", "/expect/steps.capped", "softcap"},
        {"{\"updated.q\":[[1]]}", "/expect/updated.q", "step would bring it"},
        {"{\"steps.scores\":[[1],[true]]}", "/expect/steps.scores/1/0", "expect.steps.scores[1][0] is a boolean"},
        {"{\"steps.scores\":\"no\"}", "/expect/steps.scores", "is a string"},
        {"{\"steps.scores\":{\"shap\":[1]}}", "/expect/steps.scores/shap", "shape"},
        {"{\"output\":[[1,2],[3]]}", "expect.output.1", ""},
        {"{\"tolerance\":-1}", "expect.tolerance", "at least 0"},
        {"[]", "expect", "an object of names"},
    };
    char body[512];
    snprintf(body, sizeof body, "{" CAT ",\"expect\":%s}", refusals[_i].expect);
    exchange_refused(body, ERROR_INVALID, refusals[_i].name, refusals[_i].part);
}
END_TEST

START_TEST(text_has_a_line_for_each)
{
    struct exchange e =
        exchange_run("{" CAT ",\"include\":[],\"expect\":{\"steps.scores\":[[1,0,1],[0,2.25,2]],\"output\":[[1]],"
                     "\"steps.masked\":[[1,0,null],[0,2,null]],\"log_sum_exp\":[1,2.1269280110429727]}}",
                     (struct exchange_how){.format = JOB_TEXT});
    ck_assert(e.good);
    ck_assert_ptr_nonnull(strstr(e.text.data, "steps.scores             no   off by at most 0.25 at [1][1]\n"));
    ck_assert_ptr_nonnull(strstr(e.text.data, "output                   no   it has another shape\n"));
    ck_assert_ptr_nonnull(
        strstr(e.text.data, "steps.masked             no   a hidden cell meets a number at [0][1]\n"));
    ck_assert_ptr_nonnull(strstr(e.text.data, "log_sum_exp              ok   off by at most 0 at [0]\n"));
    exchange_end(&e);
}
END_TEST

Suite *expect_suite(void);

Suite *expect_suite(void)
{
    Suite *suite = suite_create("expect");
    TCase *tests = tcase_create("all");
    tcase_add_loop_test(tests, a_reply_is_as_it_says, 0, 2);
    tcase_add_test(tests, the_largest_difference_is_told);
    tcase_add_test(tests, blocks_are_compared_too);
    tcase_add_loop_test(tests, what_cannot_be_expected_is_refused, 0, 11);
    tcase_add_test(tests, text_has_a_line_for_each);
    suite_add_tcase(suite, tests);
    return suite;
}
