/* Documents: matrices and their faults, what stays with jansson, memory. */
#include "tests/api/document_trial.h"
#include "tests/api/number_check.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The only matrix of `{"m": ...}`. */
static struct matrix *read_member(const char *value)
{
    char text[4096];
    snprintf(text, sizeof text, "{\"m\": %s }", value);
    ck_assert_msg(trial_read(text), "%s: %s", text, trial_now()->err.faults[0].text);
    return document_matrix(&trial_now()->document, json_object_get(trial_now()->document.root, "m"));
}

static void check_values(const struct matrix *m, size_t count, const double *values)
{
    ck_assert_uint_eq(m->count, count);
    for (size_t i = 0; i < count; i++)
        ck_assert_msg(memcmp(&m->values[i], &values[i], sizeof *values) == 0, "value %zu is %g", i, m->values[i]);
}

START_TEST(matrices_have_shape_and_values)
{
    static const struct {
        const char *text;
        size_t rank, shape[TENSOR_RANK_MAX], count;
        double values[8];
    } cases[] = {
        {"[1]", 1, {1}, 1, {1}},
        {"[1, 2,3\n,\t4 ]", 1, {4}, 4, {1, 2, 3, 4}},
        {"[[1,2],[3,4],[5,6]]", 2, {3, 2}, 6, {1, 2, 3, 4, 5, 6}},
        {" [ [ 1 , 2 ] , [ 3 , 4 ] ] ", 2, {2, 2}, 4, {1, 2, 3, 4}},
        {"[[[[[7]]]]]", 5, {1, 1, 1, 1, 1}, 1, {7}},
        {"[[[1],[2]],[[3],[4]]]", 3, {2, 2, 1}, 4, {1, 2, 3, 4}},
        {"[-0,0,-0.0,-1e-5]", 1, {4}, 4, {-0.0, 0, -0.0, -1e-5}},
        {"[true,false]", 1, {2}, 2, {1, 0}},
        {"[null,1]", 1, {2}, 2, {-HUGE_VAL, 1}},
        {"[1,\"-Infinity\"]", 1, {2}, 2, {1, -HUGE_VAL}},
        {"[[\"-Infinity\",1],[null,2]]", 2, {2, 2}, 4, {-HUGE_VAL, 1, -HUGE_VAL, 2}},
        {"[1e-400]", 1, {1}, 1, {0}},
        {"[16777217.0000000001]", 1, {1}, 1, {16777217.0000000001}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct matrix *m = read_member(cases[i].text);
        ck_assert_ptr_nonnull(m);
        ck_assert_int_eq(m->fault, MATRIX_GOOD);
        ck_assert_uint_eq(m->rank, cases[i].rank);
        for (size_t a = 0; a < m->rank; a++)
            ck_assert_uint_eq(m->shape[a], cases[i].shape[a]);
        check_values(m, cases[i].count, cases[i].values);
    }
}
END_TEST

START_TEST(kinds_of_values_are_counted_with_their_first_place)
{
    const struct matrix *m = read_member("[[1,2,true],[null,false,\"-Infinity\"]]");
    ck_assert(m->has_numbers && m->has_booleans && m->has_hidden);
    ck_assert_uint_eq(m->first_number, 0);
    ck_assert_uint_eq(m->first_boolean, 2);
    ck_assert_uint_eq(m->first_hidden, 3);
    m = read_member("[true]");
    ck_assert(!m->has_numbers && m->has_booleans && !m->has_hidden);
    m = read_member("[[\"-Infinity\"],[4]]");
    ck_assert(m->has_numbers && !m->has_booleans && m->has_hidden);
    ck_assert_uint_eq(m->first_number, 1);
    ck_assert_uint_eq(m->first_hidden, 0);
}
END_TEST

START_TEST(faults_are_the_first_in_reading_order)
{
    static const struct {
        const char *text;
        enum matrix_fault fault;
        size_t index_rank, index[TENSOR_RANK_MAX + 1], expected, found;
    } cases[] = {
        {"[]", MATRIX_EMPTY, 0, {0}, 0, 0},
        {"[[]]", MATRIX_EMPTY, 1, {0}, 0, 0},
        {"[[1],[]]", MATRIX_EMPTY, 1, {1}, 0, 0},
        {"[[],\"a\",3]", MATRIX_EMPTY, 1, {0}, 0, 0},
        {"[[[1],[2]],[[3],[ ]]]", MATRIX_EMPTY, 2, {1, 1}, 0, 0},
        {"[[1,2],[3]]", MATRIX_RAGGED, 1, {1}, 2, 1},
        {"[[1,2],[3,4],[5,6,7],[8]]", MATRIX_RAGGED, 1, {2}, 2, 3},
        {"[[[1,2],[3,4]],[[5,6]]]", MATRIX_RAGGED, 1, {1}, 2, 1},
        {"[[[1,2],[3,4]],[[5,6],[7]]]", MATRIX_RAGGED, 2, {1, 1}, 2, 1},
        {"[1,[2]]", MATRIX_NESTED, 1, {1}, 0, 0},
        {"[[1],2]", MATRIX_NESTED, 1, {1}, 0, 0},
        {"[[1,[2]],[3]]", MATRIX_NESTED, 2, {0, 1}, 0, 0},
        {"[[[1]],[null]]", MATRIX_NESTED, 2, {1, 0}, 0, 0},
        {"[1,\"a\"]", MATRIX_ELEMENT, 1, {1}, 0, 0},
        {"[1,\"Infinity\",\"b\"]", MATRIX_ELEMENT, 1, {1}, 0, 0},
        {"[[1,2],[3,{\"x\":[1,2,\"y\"]}],\"z\"]", MATRIX_ELEMENT, 2, {1, 1}, 0, 0},
        {"[[1,2],[3],[\"a\"]]", MATRIX_RAGGED, 1, {1}, 2, 1},
        {"[[1,2],[3,\"a\",5]]", MATRIX_ELEMENT, 2, {1, 1}, 0, 0},
        {"[[[[[[1]]]]]]", MATRIX_RANK, 5, {0, 0, 0, 0, 0}, 0, 0},
        {"[[[[[1]],[[[1]]]]]]", MATRIX_NESTED, 5, {0, 0, 1, 0, 0}, 0, 0},
        {"[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]", MATRIX_RANK, 5, {0, 0, 0, 0, 0}, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct matrix *m = read_member(cases[i].text);
        ck_assert_ptr_nonnull(m);
        ck_assert_msg(m->fault == cases[i].fault, "%s: fault %d", cases[i].text, m->fault);
        ck_assert_msg(m->index_rank == cases[i].index_rank, "%s: %zu levels", cases[i].text, m->index_rank);
        for (size_t a = 0; a < m->index_rank; a++)
            ck_assert_msg(m->index[a] == cases[i].index[a], "%s: index %zu is %zu", cases[i].text, a, m->index[a]);
        ck_assert_uint_eq(m->expected, cases[i].expected);
        ck_assert_uint_eq(m->found, cases[i].found);
    }
}
END_TEST

START_TEST(a_large_faulty_matrix_keeps_no_values)
{
    size_t rows = 300000;
    char *text = malloc(6 * rows + 100);
    char *out = text + sprintf(text, "[[0],[\"a\"]");
    for (size_t i = 0; i < rows; i++)
        out += sprintf(out, ",[%zu,2]", i % 10);
    *out++ = ']';
    ck_assert(trial_read_bytes(text, (size_t)(out - text)));
    ck_assert_uint_lt(arena_held(trial_now()->arena), MIB);
    ck_assert_int_eq(trial_now()->document.matrices[0].fault, MATRIX_ELEMENT);
    free(text);
}
END_TEST

START_TEST(everything_else_stays_with_jansson)
{
    ck_assert(trial_read("{\"a\":[\"x\",5,{\"b\":[1,2]}],\"c\":-0,\"d\":2.0,\"e\":{},\"f\":null,\"g\":[\"-Infinity\"],"
                         "\"h\":[[\"p\"],3]}"));
    const json_t *a = json_object_get(trial_now()->document.root, "a");
    ck_assert_ptr_null(document_matrix(&trial_now()->document, a));
    ck_assert_double_eq(json_real_value(json_array_get(a, 1)), 5);
    ck_assert_uint_eq(document_matrix(&trial_now()->document, json_object_get(json_array_get(a, 2), "b"))->count, 2);
    const json_t *c = json_object_get(trial_now()->document.root, "c");
    ck_assert(json_is_real(c) && signbit(json_real_value(c)));
    ck_assert(json_is_real(json_object_get(trial_now()->document.root, "d")));
    ck_assert_ptr_null(document_matrix(&trial_now()->document, json_object_get(trial_now()->document.root, "e")));
    ck_assert_ptr_null(document_matrix(&trial_now()->document, json_object_get(trial_now()->document.root, "g")));
    ck_assert_ptr_null(document_matrix(&trial_now()->document, json_object_get(trial_now()->document.root, "h")));
    ck_assert_ptr_null(document_matrix(&trial_now()->document, NULL));
    ck_assert_uint_eq(trial_now()->document.matrix_count, 1);
}
END_TEST

/* A client cannot write a reference: an array that starts with a number is cut. */
START_TEST(references_cannot_be_forged)
{
    ck_assert(trial_read("{\"a\":[7,8],\"b\":[0],\"c\":[0,\"x\"],\"d\":[[0],\"x\"]}"));
    check_values(document_matrix(&trial_now()->document, json_object_get(trial_now()->document.root, "b")), 1,
                 (const double[]){0});
    ck_assert_int_eq(document_matrix(&trial_now()->document, json_object_get(trial_now()->document.root, "c"))->fault,
                     MATRIX_ELEMENT);
    ck_assert_int_eq(document_matrix(&trial_now()->document, json_object_get(trial_now()->document.root, "d"))->fault,
                     MATRIX_ELEMENT);
}
END_TEST

START_TEST(names_may_hold_an_escaped_nul)
{
    ck_assert(trial_read("{\"a\\u0000b\":1,\"\\\\u0000\":2, \"c\":\"x\\u0000y\" , \"\\u0000\\u0000\" : [1]}"));
    ck_assert_ptr_nonnull(json_object_get(trial_now()->document.root, "a\xef\xbf\xbd"
                                                                      "b"));
    ck_assert_ptr_nonnull(json_object_get(trial_now()->document.root, "\\u0000"));
    ck_assert_uint_eq(json_string_length(json_object_get(trial_now()->document.root, "c")), 3);
    ck_assert_ptr_nonnull(document_matrix(&trial_now()->document,
                                          json_object_get(trial_now()->document.root, "\xef\xbf\xbd\xef\xbf\xbd")));
}
END_TEST

START_TEST(memory_past_the_limit_is_refused)
{
    const char *texts[] = {trial_valid(), "[1]", "{\"a\":[[1,2],[3,4]]}"};
    for (size_t i = 0; i < 3; i++)
        for (size_t limit = 0; limit < 20000; limit += 50) {
            bool good = trial_read_within(texts[i], strlen(texts[i]), limit);
            ck_assert(good || trial_now()->err.code == ERROR_TOO_LARGE);
            ck_assert(!good || limit > 64);
        }
}
END_TEST

/* A few bytes of text that become large trees are priced before the tree is made. */
START_TEST(the_tree_is_priced)
{
    static const char *patterns[] = {"{},", "[\"\"],", "[1],", "\"\","};
    size_t count = 1000000;
    char *text = malloc(5 * count + 100);
    for (size_t i = 0; i < 4; i++) {
        char *out = stpcpy(text, "[\"a\",");
        for (size_t n = 0; n < count; n++)
            out = stpcpy(out, patterns[i]);
        strcpy(out, "{}]");
        ck_assert(!trial_read_within(text, strlen(text), 50 * MIB));
        ck_assert_int_eq(trial_now()->err.code, ERROR_TOO_LARGE);
    }
    free(text);
}
END_TEST

START_TEST(large_matrices_are_exact)
{
    size_t rows = 700;
    size_t columns = 300;
    char *text = malloc(rows * columns * 26 + 1000);
    double *values = malloc(rows * columns * sizeof *values);
    uint64_t state = 7;
    char *out = text + sprintf(text, "{\"a\":[1,2],\"m\":[");
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < columns; j++) {
            values[i * columns + j] = number_check_draw_float64(&state);
            out += sprintf(out, "%s%.17g", j ? "," : i ? ",[" : "[", values[i * columns + j]);
        }
        *out++ = ']';
    }
    out += sprintf(out, "],\"b\":[3]}");
    ck_assert(trial_read_bytes(text, (size_t)(out - text)));
    const struct matrix *m = document_matrix(&trial_now()->document, json_object_get(trial_now()->document.root, "m"));
    ck_assert(m->rank == 2 && m->shape[0] == rows && m->shape[1] == columns);
    ck_assert(m->count == rows * columns && memcmp(m->values, values, m->count * sizeof *values) == 0);
    ck_assert_uint_eq((uintptr_t)m->values % ARENA_ALIGNMENT, 0);
    check_values(document_matrix(&trial_now()->document, json_object_get(trial_now()->document.root, "a")), 2,
                 (const double[]){1, 2});
    check_values(document_matrix(&trial_now()->document, json_object_get(trial_now()->document.root, "b")), 1,
                 (const double[]){3});
    free(values);
    free(text);
}
END_TEST

/* A long member in front of what follows: such a text goes to the parser in pieces. */
static char *put_behind_padding(const char *rest)
{
    enum { PADDING = 100000 };
    char *text = malloc(PADDING + strlen(rest) + 40);
    char *at = text + sprintf(text, "{\"pad\":\"");
    memset(at, 'x', PADDING);
    sprintf(at + PADDING, "\",%s", rest);
    return text;
}

START_TEST(large_outlines_are_refused_at_the_same_place)
{
    static const char *const rests[] = {
        "\"a\":1}",        "\"a\":1",        "\"a\":tru}", "\"a\":1}}", "\"a\":\"\\q\"}",
        "\"a\":\"\x01\"}", "\"pad\":1}",     "\"a\" 1}",   "",          "\"a\":\"\xff\"}",
        "\"a\":[1,{}]}",   "\"a\":[\"b\"]}", "a",          "\"a\":-}",  "\"a\":\"\\ud800\"}"};
    char *large = put_behind_padding(rests[_i]);
    const char *tail = strstr(large, "x\",") + 1;
    char small[100];
    snprintf(small, sizeof small, "{\"pad\":\"%s", tail);
    bool good = trial_read(small);
    struct error expected = trial_now()->err;
    ck_assert(trial_read(large) == good);
    struct error found = trial_now()->err;
    ck_assert_int_eq(found.code, expected.code);
    ck_assert_str_eq(found.faults[0].text, expected.faults[0].text);
    ck_assert_uint_eq(found.line, expected.line);
    if (!good) {
        ck_assert_uint_eq(found.byte, expected.byte + (size_t)(tail - large) - strlen("{\"pad\":\""));
        ck_assert_uint_eq(found.column, expected.column + (size_t)(tail - large) - strlen("{\"pad\":\""));
    }
    free(large);
}
END_TEST

START_TEST(a_large_outline_is_left_when_nobody_waits)
{
    atomic_bool cancel = true;
    char *large = put_behind_padding("\"a\":1}");
    trial_now()->cancel = &cancel;
    ck_assert(!trial_read(large));
    ck_assert_int_eq(trial_now()->err.code, ERROR_CANCELLED);
    atomic_store(&cancel, false);
    ck_assert(trial_read(large));
    free(large);
}
END_TEST

Suite *document_suite(void);

Suite *document_suite(void)
{
    Suite *suite = suite_create("document");
    TCase *tests = tcase_create("document");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, trial_setup, trial_teardown);
    tcase_add_test(tests, matrices_have_shape_and_values);
    tcase_add_test(tests, kinds_of_values_are_counted_with_their_first_place);
    tcase_add_test(tests, faults_are_the_first_in_reading_order);
    tcase_add_test(tests, a_large_faulty_matrix_keeps_no_values);
    tcase_add_test(tests, everything_else_stays_with_jansson);
    tcase_add_test(tests, references_cannot_be_forged);
    tcase_add_test(tests, names_may_hold_an_escaped_nul);
    tcase_add_test(tests, memory_past_the_limit_is_refused);
    tcase_add_test(tests, the_tree_is_priced);
    tcase_add_test(tests, large_matrices_are_exact);
    tcase_add_loop_test(tests, large_outlines_are_refused_at_the_same_place, 0, 15);
    tcase_add_test(tests, a_large_outline_is_left_when_nobody_waits);
    suite_add_tcase(suite, tests);
    return suite;
}
