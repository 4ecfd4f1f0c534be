/* JSON with line ends: the same document, and as it should look. */
#include "api/openapi/openapi.h"
#include "api/writing/indent.h"

#include <check.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

Suite *indent_suite(void);

static char *indent(const char *text)
{
    struct buffer in = {.data = (char *)(size_t)text, .length = strlen(text)};
    struct buffer out = buffer_new(SIZE_MAX);
    indent_json(&in, &out);
    buffer_append(&out, "", 1);
    ck_assert(!out.failed);
    return out.data;
}

START_TEST(texts_are_indented)
{
    static const struct {
        const char *text, *indented;
    } rows[] = {
        {"[[1,2],[3,4]]", "[\n  [1, 2],\n  [3, 4]\n]\n"},
        {"{\"a\":1,\"b\":[1,null,true]}", "{\n  \"a\": 1,\n  \"b\": [1, null, true]\n}\n"},
        {"{\"a\":{\"b\":-1e-5}}\n", "{\n  \"a\": {\n    \"b\": -1e-5\n  }\n}\n"},
        {"[ ]", "[]\n"},
        {"{\"a\":[[]]}", "{\n  \"a\": [\n    []\n  ]\n}\n"},
        {"[\"[{,:\\\"\\\\\",\"]\"]", "[\"[{,:\\\"\\\\\", \"]\"]\n"},
        {"{\"a\":{ }}", "{\n  \"a\": {}\n}\n"},
        {"7", "7\n"},
        {"", "\n"},
        {" [ 1 ,\n{\"x\" : [ ] } ]", "[\n  1,\n  {\n    \"x\": []\n  }\n]\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *out = indent(rows[i].text);
        ck_assert_str_eq(out, rows[i].indented);
        free(out);
    }
}
END_TEST

START_TEST(document_stays_the_same_and_twice_is_once)
{
    struct buffer text = buffer_new(SIZE_MAX);
    ck_assert(openapi_text(&text));
    buffer_append(&text, "", 1);
    char *once = indent(text.data);
    char *twice = indent(once);
    json_t *before = json_loads(text.data, JSON_DECODE_ANY, NULL);
    json_t *after = json_loads(once, JSON_DECODE_ANY, NULL);
    ck_assert(json_equal(before, after));
    ck_assert_str_eq(once, twice);
    json_decref(before);
    json_decref(after);
    free(once);
    free(twice);
    buffer_free(&text);
}
END_TEST

START_TEST(what_is_no_json_ends_too)
{
    static const char *const texts[] = {"]]]", "[[[", "\"abc", "\"a\\", "{\"a\":", ",,:", "}{"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(indent(texts[i]));
    char deep[400];
    memset(deep, '[', sizeof deep - 1);
    deep[sizeof deep - 1] = '\0';
    free(indent(deep));
}
END_TEST

Suite *indent_suite(void)
{
    Suite *suite = suite_create("indent");
    TCase *tests = tcase_create("text");
    tcase_add_test(tests, texts_are_indented);
    tcase_add_test(tests, document_stays_the_same_and_twice_is_once);
    tcase_add_test(tests, what_is_no_json_ends_too);
    suite_add_tcase(suite, tests);
    return suite;
}
