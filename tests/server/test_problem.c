/* Refusals as problem+json. */
#include "server/http/problem.h"

#include <check.h>
#include <jansson.h>
#include <string.h>

Suite *problem_suite(void);

static json_t *write(const struct problem *problem)
{
    json_error_t error;
    struct buffer text = buffer_new(SIZE_MAX);
    problem_write(&text, problem, "id-1", "/v1/attention");
    ck_assert(!text.failed);
    json_t *root = json_loadb(text.data, text.length, JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(root != NULL, "%s: %.*s", error.text, (int)text.length, text.data);
    buffer_free(&text);
    return root;
}

static const char *find(const json_t *root, const char *name)
{
    const char *value = json_string_value(json_object_get(root, name));
    ck_assert_msg(value != NULL, "%s", name);
    return value;
}

START_TEST(first_problem_stays)
{
    struct problem problem = {.code = PROBLEM_NONE};
    ck_assert(!problem_set(&problem, PROBLEM_NOT_FOUND, "first %d", 1));
    ck_assert(!problem_set(&problem, PROBLEM_INVALID, "second"));
    json_t *root = write(&problem);
    ck_assert_str_eq(find(root, "type"), "/problems/not-found");
    ck_assert_str_eq(find(root, "detail"), "first 1");
    ck_assert_str_eq(find(root, "instance"), "/v1/attention");
    ck_assert_str_eq(find(root, "request_id"), "id-1");
    ck_assert_int_eq(json_integer_value(json_object_get(root, "status")), 404);
    ck_assert_ptr_null(json_object_get(root, "errors"));
    ck_assert_ptr_null(json_object_get(root, "pointer"));
    json_decref(root);
}
END_TEST

START_TEST(names_become_pointers)
{
    static const struct {
        const char *name, *pointer;
    } rows[] = {{"mask.window.left", "/mask/window/left"},
                {"q.0.2", "/q/0/2"},
                {"/a.b", "/a.b"},
                {"/a~1b", "/a~1b"},
                {"a~b/c", "/a~0b~1c"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct error err = {0};
        error_set(&err, ERROR_INVALID, rows[i].name, "wrong");
        json_t *root = write(&(struct problem){.code = problem_of_error(&err), .err = &err});
        ck_assert_str_eq(find(root, "pointer"), rows[i].pointer);
        json_decref(root);
    }
}
END_TEST

START_TEST(several_faults_are_listed)
{
    struct error err = {0};
    error_set(&err, ERROR_INVALID, "q", "q is wrong");
    error_set(&err, ERROR_INVALID, "", "all is wrong");
    json_t *root = write(&(struct problem){.code = PROBLEM_INVALID, .err = &err});
    const json_t *errors = json_object_get(root, "errors");
    ck_assert_uint_eq(json_array_size(errors), 2);
    ck_assert_str_eq(find(root, "detail"), "q is wrong");
    ck_assert_str_eq(find(json_array_get(errors, 0), "pointer"), "/q");
    ck_assert_ptr_null(json_object_get(json_array_get(errors, 1), "pointer"));
    json_decref(root);
}
END_TEST

START_TEST(place_is_told)
{
    struct error err = {.placed = true, .line = 3, .column = 4, .byte = 20};
    error_set(&err, ERROR_SYNTAX, "", "no");
    json_t *root = write(&(struct problem){.code = problem_of_error(&err), .err = &err});
    ck_assert_int_eq(json_integer_value(json_object_get(root, "status")), 400);
    ck_assert_int_eq(json_integer_value(json_object_get(root, "line")), 3);
    ck_assert_int_eq(json_integer_value(json_object_get(root, "column")), 4);
    ck_assert_int_eq(json_integer_value(json_object_get(root, "byte")), 20);
    json_decref(root);
}
END_TEST

START_TEST(cut_characters_are_dropped)
{
    struct error err = {0};
    error_set(&err, ERROR_INVALID, "gr\xc3\xbc\xc3", "\xe2\x82\xac and \xe2\x82 and \xff and \" \\ \x01");
    json_t *root = write(&(struct problem){.code = PROBLEM_INVALID, .err = &err});
    ck_assert_str_eq(find(root, "pointer"), "/gr\xc3\xbc");
    ck_assert_str_eq(find(root, "detail"), "\xe2\x82\xac and  and  and \" \\ \x01");
    json_decref(root);
}
END_TEST

START_TEST(every_core_error_has_a_status)
{
    static const struct {
        enum error_code code;
        unsigned status;
    } rows[] = {{ERROR_SYNTAX, 400}, {ERROR_INVALID, 422},   {ERROR_TOO_LARGE, 413},
                {ERROR_MEMORY, 503}, {ERROR_CANCELLED, 503}, {ERROR_NONE, 500}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct error err = {.code = rows[i].code};
        ck_assert_uint_eq(problem_status(problem_of_error(&err)), rows[i].status);
    }
}
END_TEST

Suite *problem_suite(void)
{
    Suite *suite = suite_create("problem");
    TCase *tests = tcase_create("text");
    tcase_add_test(tests, first_problem_stays);
    tcase_add_test(tests, names_become_pointers);
    tcase_add_test(tests, several_faults_are_listed);
    tcase_add_test(tests, place_is_told);
    tcase_add_test(tests, cut_characters_are_dropped);
    tcase_add_test(tests, every_core_error_has_a_status);
    suite_add_tcase(suite, tests);
    return suite;
}
