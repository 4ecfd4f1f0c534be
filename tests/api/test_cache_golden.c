/* Quantised caches, latent attention and emulated precision against NumPy and ml_dtypes (tests/golden/cache.py). */
#include "tests/api/exchange.h"

#include <check.h>
#include <stdlib.h>

#define FILE_OF_CASES "tests/golden/cache/cache.json"
#define TOLERANCE 1e-12

static void check_case(const json_t *row)
{
    const char *path;
    json_t *expected;
    char *body = json_dumps(json_object_get(row, "request"), JSON_REAL_PRECISION(17));
    struct exchange x = exchange_run(body, (struct exchange_how){0});
    ck_assert_msg(x.good, "%s: %s", json_string_value(json_object_get(row, "name")), x.err.faults[0].text);
    json_object_foreach(json_object_get(row, "expected"), path, expected)
    {
        char *text = json_dumps(expected, JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
        exchange_near(x.reply, path, text, TOLERANCE);
        free(text);
    }
    exchange_end(&x);
    free(body);
}

START_TEST(replies_are_those_of_numpy)
{
    json_error_t error;
    size_t index;
    json_t *row;
    json_t *rows = json_load_file(FILE_OF_CASES, 0, &error);
    ck_assert_msg(rows != NULL, "%s: %s", FILE_OF_CASES, error.text);
    ck_assert_uint_ge(json_array_size(rows), 20);
    json_array_foreach(rows, index, row) check_case(row);
    json_decref(rows);
}
END_TEST

Suite *cache_golden_suite(void);

Suite *cache_golden_suite(void)
{
    Suite *suite = suite_create("cache golden");
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, replies_are_those_of_numpy);
    suite_add_tcase(suite, tests);
    return suite;
}
