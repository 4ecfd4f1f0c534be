/* The two worked examples and the table of numbers that the semantics promise, by value. */
#include "tests/api/exchange.h"

#include <check.h>
#include <stdio.h>

/* Published numbers have four decimals, or are exact. */
#define DIGITS 5.0e-5
#define DIGITS_8 5.0e-9
#define EXACT 1e-15

START_TEST(the_cat)
{
    json_t *r =
        exchange_reply("{\"tokens\":[\"the\",\"cat\"],\"q\":[[0.3,-0.2,0.5,0.1],[1.1,-0.8,0.2,0.3]],"
                       "\"k\":[[-0.4,-0.3,0.2,1.2],[1.6,-0.7,-0.4,-0.5]],"
                       "\"v\":[[-0.5,-0.4,0.1,1.1],[1.2,-0.3,-0.2,-0.6]],\"mask\":\"causal\","
                       "\"include\":[\"output\",\"weights\",\"steps\",\"steps.products\",\"steps.contributions\"]}");
    exchange_near(r, "steps.products.1", "[[-0.44,0.24,0.04,0.36],[1.76,0.56,-0.08,-0.15]]", EXACT);
    exchange_near(r, "steps.scores", "[[0.16,0.37],[0.2,2.09]]", EXACT);
    exchange_near(r, "scale", "0.5", 0);
    exchange_near(r, "steps.scaled", "[[0.08,0.185],[0.1,1.045]]", EXACT);
    exchange_near(r, "steps.masked", "[[0.08,null],[0.1,1.045]]", EXACT);
    exchange_near(r, "steps.row_max", "[0.08,1.045]", EXACT);
    exchange_near(r, "weights.1", "[0.2799,0.7201]", DIGITS);
    exchange_near(r, "weights.0", "[1,0]", 0);
    exchange_near(r, "steps.contributions.1", "[[-0.1399,-0.112,0.028,0.3079],[0.8641,-0.216,-0.144,-0.4321]]", DIGITS);
    exchange_near(r, "output.0", "[-0.5,-0.4,0.1,1.1]", 0);
    exchange_near(r, "output.1", "[0.7242,-0.328,-0.116,-0.1242]", DIGITS);
    exchange_near(r, "labels", "{\"query\":[\"the\",\"cat\"],\"key\":[\"the\",\"cat\"]}", 0);
    ck_assert(!json_object_get(json_object_get(r, "steps"), "capped"));
    /* exp(0.1) = 1.1052 and exp(1.045) = 2.8434 without the maximum taken off; their sum is 3.9486. */
    double shift = 2.8434;
    json_t *e = exchange_at(r, "steps.exp.1");
    ck_assert_double_eq_tol(json_number_value(json_array_get(e, 0)) * shift, 1.1052, 1e-4);
    ck_assert_double_eq_tol(json_number_value(exchange_at(r, "steps.row_sum.1")) * shift, 3.9486, 1e-4);
    json_decref(r);
}
END_TEST

START_TEST(one_query)
{
    json_t *r = exchange_reply("{\"q\":[[1,0]],\"k\":[[1,0],[0,1],[1,0]],\"v\":[[2,0],[0,2],[1,1]],"
                               "\"include\":[\"output\",\"weights\",\"steps\"]}");
    exchange_near(r, "steps.exp", "[[1,0.4931,1]]", DIGITS);
    exchange_near(r, "weights", "[[0.4011,0.1978,0.4011]]", DIGITS);
    json_decref(r);
    r = exchange_reply("{\"q\":[[1,0]],\"k\":[[1,0],[0,1],[1,0]],\"v\":[[2,0],[0,2],[1,1]],"
                       "\"mask\":{\"allow\":[[true,true,false]]}}");
    exchange_near(r, "weights", "[[0.6698,0.3302,0]]", DIGITS);
    exchange_near(r, "output", "[[1.3395,0.6605]]", DIGITS);
    json_decref(r);
}
END_TEST

/* Q = [[1,0],[0,2]], K = [[1,0],[0,1],[1,1]], V = [[1,2],[3,4],[5,6]] with these members: what stands at these paths.
 */
static const struct {
    const char *members;
    const char *paths[3];
    const char *values[3];
} table[] = {
    {"\"include\":[\"output\",\"weights\",\"steps.scaled\"]",
     {"steps.scaled", "weights", "output"},
     {"[[0.70710678,0,0.70710678],[0,1.41421356,1.41421356]]",
      "[[0.40111209,0.19777581,0.40111209],[0.10838345,0.44580827,0.44580827]]", "[[3,4],[3.67484964,4.67484964]]"}},
    {"\"mask\":\"causal\"",
     {"weights", "output"},
     {"[[1,0,0],[0.19557032,0.80442968,0]]", "[[1,2],[2.60885937,3.60885937]]"}},
    {"\"scale\":1", {"output"}, {"[[3,4],[3.80986319,4.80986319]]"}},
    {"\"softcap\":1,\"include\":[\"output\",\"steps.capped\"]",
     {"steps.capped", "output"},
     {"[[0.60885937,0,0.60885937],[0,0.88838556,0.88838556]]", "[[3,4],[3.48826445,4.48826445]]"}},
    {"\"softcap\":1,\"mask\":{\"allow\":[[true,true,false],[true,true,true]]}",
     {"weights.0", "output.0"},
     {"[0.64768056,0.35231944,0]", "[1.70463887,2.70463887]"}},
    {"\"mask\":{\"allow\":[[false,false,false],[true,false,true]],\"empty_rows\":\"zero\"}",
     {"weights.0", "output.0", "output.1"},
     {"[0,0,0]", "[0,0]", "[4.21771873,5.21771873]"}},
    {"\"mask\":{\"bias\":[[0,-1,\"-Infinity\"],[0,0,0]]}",
     {"weights.0", "output.0"},
     {"[0.84646064,0.15353936,0]", "[1.30707871,2.30707871]"}},
    {"\"mask\":{\"bias\":[[0,-1,null],[0,0,0]]}", {"output.0"}, {"[1.30707871,2.30707871]"}},
};

START_TEST(numbers_of_the_semantics)
{
    char body[600];
    snprintf(body, sizeof body, "{\"q\":[[1,0],[0,2]],\"k\":[[1,0],[0,1],[1,1]],\"v\":[[1,2],[3,4],[5,6]],%s}",
             table[_i].members);
    json_t *r = exchange_reply(body);
    for (size_t x = 0; x < 3 && table[_i].paths[x]; x++)
        exchange_near(r, table[_i].paths[x], table[_i].values[x], DIGITS_8);
    json_decref(r);
}
END_TEST

static const struct {
    const char *members, *rows;
} rotary[] = {
    {"{}", "[[1,2,3,4],[-3.18878536,5.91970134,7.98947107,8.05959900]]"},
    {"{\"interleaved\":true}", "[[1,2,3,4],[-2.34731438,7.44916876,6.91965134,8.06959884]]"},
    {"{\"dims\":2}", "[[1,2,3,4],[-2.34731438,7.44916876,7,8]]"},
};

START_TEST(rotary_embedding)
{
    char body[400];
    snprintf(body, sizeof body,
             "{\"q\":[[1,2,3,4],[5,6,7,8]],\"k\":[[1,2,3,4],[5,6,7,8]],\"v\":[[1],[2]],\"rope\":%s,\"include\":["
             "\"inputs\"]}",
             rotary[_i].members);
    json_t *r = exchange_reply(body);
    exchange_near(r, "inputs.q", rotary[_i].rows, DIGITS_8);
    exchange_near(r, "inputs.k", rotary[_i].rows, DIGITS_8);
    json_decref(r);
}
END_TEST

/* Small heads are summed in the order of the keys: the contributions, added in that order, are the output to the last
 * bit. */
START_TEST(contributions_add_up_to_the_last_bit)
{
    json_t *r = exchange_reply("{\"q\":[[0.3,-1.7],[1.1,0.9],[-0.4,2.3]],"
                               "\"k\":[[0.1,0.7],[-1.3,0.2],[0.9,-0.6],[2.1,1.4],[-0.8,-1.9],[0.35,0.05],[1.6,-2.2]],"
                               "\"v\":[[0.1,3.3],[0.7,-1.1],[1.9,0.01],[-2.3,0.6],[0.013,5.5],[4.4,-0.2],[0.3,0.9]],"
                               "\"include\":[\"output\",\"steps.contributions\"]}");
    for (size_t i = 0; i < 3; i++)
        for (size_t f = 0; f < 2; f++) {
            char path[60];
            double sum = 0;
            for (size_t j = 0; j < 7; j++) {
                snprintf(path, sizeof path, "steps.contributions.%zu.%zu.%zu", i, j, f);
                sum += json_number_value(exchange_at(r, path));
            }
            snprintf(path, sizeof path, "output.%zu.%zu", i, f);
            ck_assert(json_number_value(exchange_at(r, path)) == sum);
        }
    json_decref(r);
}
END_TEST

Suite *examples_suite(void);

Suite *examples_suite(void)
{
    Suite *suite = suite_create("worked examples");
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, the_cat);
    tcase_add_test(tests, one_query);
    tcase_add_test(tests, contributions_add_up_to_the_last_bit);
    tcase_add_loop_test(tests, numbers_of_the_semantics, 0, (int)(sizeof table / sizeof *table));
    tcase_add_loop_test(tests, rotary_embedding, 0, (int)(sizeof rotary / sizeof *rotary));
    suite_add_tcase(suite, tests);
    return suite;
}
