/* Float32 requests: every number of the text is rounded to a float once, wherever it stands. */
#include "tests/api/exchange.h"

#include <check.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>

static void assert_float(const json_t *reply, const char *path, float expected)
{
    double found = json_number_value(exchange_at(reply, path));
    ck_assert_msg((float)found == expected, "%s is %.9g, not %.9g", path, found, (double)expected);
}

/* The dtype may come last. */
START_TEST(numbers_a_little_past_a_middle)
{
    json_t *r = exchange_reply("{\"q\":[[1]],\"k\":[[0],[16777217.0000000001]],"
                               "\"v\":[[16777217.0000000001,16777217],[-16777219.0,-16777218.9999999999]],"
                               "\"include\":[\"inputs\"],\"dtype\":\"float32\"}");
    assert_float(r, "inputs.k.1.0", 16777218);
    assert_float(r, "inputs.v.0.0", 16777218);
    assert_float(r, "inputs.v.0.1", 16777216);
    assert_float(r, "inputs.v.1.0", -16777220);
    assert_float(r, "inputs.v.1.1", -16777218);
    json_decref(r);
}
END_TEST

/* Words count as elements. */
START_TEST(numbers_among_nulls)
{
    json_t *r = exchange_reply("{\"dtype\":\"float32\",\"q\":[[0],[0]],\"k\":[[0],[0],[0]],\"v\":[[0],[0],[0]],"
                               "\"mask\":{\"bias\":[[null, \"-Infinity\" ,16777217.0000000001],"
                               "[16777217.0000000001,null,1]]},\"include\":[\"mask\"]}");
    assert_float(r, "mask.bias.0.2", 16777218);
    assert_float(r, "mask.bias.1.0", 16777218);
    assert_float(r, "mask.bias.1.2", 1);
    json_decref(r);
}
END_TEST

START_TEST(the_largest_float_and_what_is_beyond)
{
    json_t *r = exchange_reply("{\"dtype\":\"float32\",\"q\":[[0]],\"k\":[[0]],\"v\":[[3.4028235677973366e38]],"
                               "\"include\":[\"inputs\"]}");
    assert_float(r, "inputs.v.0.0", FLT_MAX);
    json_decref(r);
    exchange_refused("{\"dtype\":\"float32\",\"q\":[[0]],\"k\":[[0]],\"v\":[[3.402823567797337e38]]}", ERROR_INVALID,
                     "v.0.0", "too large for float32");
}
END_TEST

/* Read by a pool, in pieces. */
START_TEST(long_matrices)
{
    struct buffer body = buffer_new(SIZE_MAX);
    struct pool *pool = pool_start(2, 4);
    buffer_string(&body, "{\"dtype\":\"float32\",\"q\":[[0,0]],\"k\":[[0,0]");
    for (int j = 1; j < 6000; j++)
        buffer_string(&body, ",[0,0]");
    buffer_string(&body, "],\"v\":[[0,0]");
    for (int j = 1; j < 6000; j++)
        buffer_string(&body, j % 997 ? ",[0.5,0.25]" : ",[1,16777217.0000000001]");
    buffer_append(&body, "],\"include\":[\"inputs\"]}", 24);
    struct exchange x = exchange_run(body.data, (struct exchange_how){.pool = pool});
    ck_assert_msg(x.good && x.reply, "%s", x.err.faults[0].text);
    const json_t *v = exchange_at(x.reply, "inputs.v");
    for (size_t j = 1; j < 6000; j++)
        ck_assert((float)json_number_value(json_array_get(json_array_get(v, j), 1)) == (j % 997 ? 0.25F : 16777218));
    json_decref(x.reply);
    buffer_free(&x.text);
    buffer_free(&body);
    pool_stop(pool);
}
END_TEST

Suite *floats_suite(void);

Suite *floats_suite(void)
{
    Suite *suite = suite_create("floats");
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, numbers_a_little_past_a_middle);
    tcase_add_test(tests, numbers_among_nulls);
    tcase_add_test(tests, the_largest_float_and_what_is_beyond);
    tcase_add_test(tests, long_matrices);
    suite_add_tcase(suite, tests);
    return suite;
}
