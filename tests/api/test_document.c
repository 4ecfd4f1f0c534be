/* Documents: matrices, their faults, places of what is wrong, and agreement with jansson on everything. */
#include "api/document.h"
#include "tests/api/number_check.h"

#include <check.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1024 * 1024)

static struct arena *arena;
static struct document document;
static struct error err;

static void setup(void)
{
    arena = arena_new(512 * MIB);
    ck_assert_ptr_nonnull(arena);
}

static void clear(void)
{
    document_free(&document);
    arena_free(arena);
    setup();
}

static void teardown(void)
{
    document_free(&document);
    arena_free(arena);
}

/* Reads from a block of exactly that size, so that a sanitizer sees a step past its end. */
static bool read_bytes(const char *text, size_t length)
{
    clear();
    err = (struct error){0};
    char *copy = malloc(length ? length : 1);
    memcpy(copy, text, length);
    bool good = document_read(&document, copy, length, arena, &err);
    free(copy);
    ck_assert(good == (err.code == ERROR_NONE));
    return good;
}

static bool read_text(const char *text)
{
    return read_bytes(text, strlen(text));
}

/* The only matrix of `{"m": ...}`. */
static struct matrix *read_member(const char *value)
{
    char text[4096];
    snprintf(text, sizeof text, "{\"m\": %s }", value);
    ck_assert_msg(read_text(text), "%s: %s", text, err.faults[0].text);
    return document_matrix(&document, json_object_get(document.root, "m"));
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
    ck_assert(read_bytes(text, (size_t)(out - text)));
    ck_assert_uint_lt(arena_held(arena), MIB);
    ck_assert_int_eq(document.matrices[0].fault, MATRIX_ELEMENT);
    free(text);
}
END_TEST

START_TEST(everything_else_stays_with_jansson)
{
    ck_assert(read_text("{\"a\":[\"x\",5,{\"b\":[1,2]}],\"c\":-0,\"d\":2.0,\"e\":{},\"f\":null,\"g\":[\"-Infinity\"],"
                        "\"h\":[[\"p\"],3]}"));
    const json_t *a = json_object_get(document.root, "a");
    ck_assert_ptr_null(document_matrix(&document, a));
    ck_assert_double_eq(json_real_value(json_array_get(a, 1)), 5);
    ck_assert_uint_eq(document_matrix(&document, json_object_get(json_array_get(a, 2), "b"))->count, 2);
    const json_t *c = json_object_get(document.root, "c");
    ck_assert(json_is_real(c) && signbit(json_real_value(c)));
    ck_assert(json_is_real(json_object_get(document.root, "d")));
    ck_assert_ptr_null(document_matrix(&document, json_object_get(document.root, "e")));
    ck_assert_ptr_null(document_matrix(&document, json_object_get(document.root, "g")));
    ck_assert_ptr_null(document_matrix(&document, json_object_get(document.root, "h")));
    ck_assert_ptr_null(document_matrix(&document, NULL));
    ck_assert_uint_eq(document.matrix_count, 1);
}
END_TEST

/* A client cannot write a reference: an array that starts with a number is cut. */
START_TEST(references_cannot_be_forged)
{
    ck_assert(read_text("{\"a\":[7,8],\"b\":[0],\"c\":[0,\"x\"],\"d\":[[0],\"x\"]}"));
    check_values(document_matrix(&document, json_object_get(document.root, "b")), 1, (const double[]){0});
    ck_assert_int_eq(document_matrix(&document, json_object_get(document.root, "c"))->fault, MATRIX_ELEMENT);
    ck_assert_int_eq(document_matrix(&document, json_object_get(document.root, "d"))->fault, MATRIX_ELEMENT);
}
END_TEST

START_TEST(names_may_hold_an_escaped_nul)
{
    ck_assert(read_text("{\"a\\u0000b\":1,\"\\\\u0000\":2, \"c\":\"x\\u0000y\" , \"\\u0000\\u0000\" : [1]}"));
    ck_assert_ptr_nonnull(json_object_get(document.root, "a\xef\xbf\xbd"
                                                         "b"));
    ck_assert_ptr_nonnull(json_object_get(document.root, "\\u0000"));
    ck_assert_uint_eq(json_string_length(json_object_get(document.root, "c")), 3);
    ck_assert_ptr_nonnull(document_matrix(&document, json_object_get(document.root, "\xef\xbf\xbd\xef\xbf\xbd")));
}
END_TEST

/* '@' marks the byte where the error must be, and is not part of the text. */
START_TEST(errors_have_their_exact_place)
{
    static const char *cases[] = {
        "@",
        " @",
        "@nul",
        "@]",
        "@x",
        "{@",
        "{\"a\"@",
        "{\"a\":@",
        "{\"a\":1@",
        "{\"a\":1,@",
        "[@",
        "[[@",
        "[1@",
        "[1,@",
        "[[1]@",
        "{\"a\" @1}",
        "{\"a\":1,@}",
        "{@1:2}",
        "{\"a\":@nul}",
        "{\"a\":@01}",
        "{\"a\":@1.}",
        "{\"a\":@-}",
        "{\"a\":1.5@.}",
        "{\"a\":1} @x",
        "{\"a\":1}@]",
        "[\"a\" @\"b\"]",
        "[\"a\",@]",
        "[\"a\\@qb\"]",
        "[\"a\\u12@x\"]",
        "[\"a@\tb\"]",
        "[\"a@\nb\"]",
        "[@\"\\ud800\"]",
        "[\"@\xff\"]",
        "[\"\xc3\xa9@\xe2(\"]",
        "{\"a\":1,@\"a\":2}",
        "{\"a\":[1],@\"a\":[2]}",
        "{\"a\":@1e400}",
        "{\"a\":@+1}",
        "{\"a\":@'b'}",
        "[@,]",
        "{\"a\":@tru[1]}",
        "{\"a\":\"b@",
        "[1,@]",
        "[1 @2]",
        "[1,@x]",
        "[1,@,2]",
        "[[1,2],[3@}",
        "[@01]",
        "[1,@-]",
        "[1,@2.]",
        "[1,@1e]",
        "[1,@1e400]",
        "[1,@-1e999]",
        "[@nul]",
        "[1,@nan]",
        "[1,@Infinity]",
        "[1,@+1]",
        "[@tru]",
        "[true@x]",
        "[[1]@[2]]",
        "[1]@]",
        "[1] @[2]",
        "[1,@'a']",
        "[1,\"@\x01\"]",
        "[1,{@1:2}]",
        "[1,{\"a\":[1,@]}]",
        "[1,{\"a\":1,@\"a\":2}]",
        "[1,{\"a\":1}@2]",
        "[\n1,\n  @x]",
        "{\"k\":[1,2,3],\n \"\xc3\xa9\": [[1,2],[3,4]], \"z\" @7}",
        "{\"k\":[1,\"abc\",3], \"z\":@?}",
        "{\"k\":[1,{\"q\":[1,2]},3], \"z\":@?}",
        "{\"k\":[1,\"abc\",@?,{\"a\":?}]}",
        "{\"a\":[1], @\"a\":2}",
        "@\xef\xbb\xbf{}",
        "@\xff\xfe{",
        "[1,\"a\"@",
        "[1,{@",
        "[1,{}@",
        "[1,{@]",
        "{@[1,x]}",
        "{\"a\":1 @[1,x]}",
        "{\"a\" @[1,x]:2}",
        "{\"a\":[\"b\" @[1,x]]}",
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[200];
        const char *mark = strchr(cases[i], '@');
        size_t before = (size_t)(mark - cases[i]);
        memcpy(text, cases[i], before);
        strcpy(text + before, mark + 1);
        size_t line = 1;
        size_t column = 1;
        for (size_t b = 0; b < before; b++) {
            column += (text[b] & 0xc0) != 0x80;
            if (text[b] == '\n') {
                line++;
                column = 1;
            }
        }
        ck_assert_msg(!read_text(text), "%s is read", cases[i]);
        ck_assert_int_eq(err.code, ERROR_SYNTAX);
        ck_assert(err.placed);
        ck_assert_msg(err.byte == before, "%s: byte %zu, %s", cases[i], err.byte, err.faults[0].text);
        ck_assert_msg(err.line == line && err.column == column, "%s: %zu:%zu", cases[i], err.line, err.column);
        ck_assert_uint_eq(err.count, 1);
        ck_assert_uint_gt(strlen(err.faults[0].text), 10);
    }
}
END_TEST

START_TEST(nul_bytes_are_refused_wherever_they_stand)
{
    static const char text[] = "{\"a\":[1,2,[3]],\"b\":\"xy\",\"c\":5}  ";
    for (size_t i = 0; i < sizeof text - 1; i++) {
        char broken[sizeof text];
        memcpy(broken, text, sizeof text);
        broken[i] = '\0';
        ck_assert(!read_bytes(broken, sizeof text - 1));
        ck_assert_int_eq(err.code, ERROR_SYNTAX);
        ck_assert_uint_le(err.byte, i);
        memmove(broken + i + 1, text + i, sizeof text - 1 - i - 1); /* one more byte, none lost but the last space */
        broken[i] = '\0';
        ck_assert(!read_bytes(broken, sizeof text - 1));
        ck_assert_int_eq(err.code, ERROR_SYNTAX);
    }
    ck_assert(!read_bytes("[1]\0", 4));
    ck_assert_uint_eq(err.byte, 3);
    ck_assert(!read_bytes("1\0", 2));
    ck_assert_uint_eq(err.byte, 1);
    ck_assert(!read_bytes("\0", 1));
    ck_assert_uint_eq(err.byte, 0);
}
END_TEST

START_TEST(texts_say_nothing_unprintable_and_little_of_the_client)
{
    static const char *cases[] = {"{\"a\":x\x01\x02<script>alert(1)</script>and so on and so on and so on}",
                                  "[1,\xff\xfe\xfd]", "{\"a\":\x7f}",
                                  "[1,zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz]"};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ck_assert(!read_text(cases[i]));
        const char *text = err.faults[0].text;
        ck_assert_uint_lt(strlen(text), 100);
        for (; *text; text++)
            ck_assert(*text >= 0x20 && *text <= 0x7e);
    }
}
END_TEST

static void check_depth(const char *open, const char *close, size_t depth, bool good)
{
    char text[4096] = "";
    for (size_t i = 0; i < depth; i++)
        strcat(text, open);
    strcat(text, "1");
    for (size_t i = 0; i < depth; i++)
        strcat(text, close);
    ck_assert_msg(read_text(text) == good, "%s", text);
    if (!good)
        ck_assert_uint_eq(err.byte, DOCUMENT_DEPTH_MAX * strlen(open));
}

START_TEST(depth_is_counted_over_everything)
{
    check_depth("[", "]", DOCUMENT_DEPTH_MAX, true);
    check_depth("[", "]", DOCUMENT_DEPTH_MAX + 1, false);
    check_depth("{\"a\":", "}", DOCUMENT_DEPTH_MAX, true);
    check_depth("{\"a\":", "}", DOCUMENT_DEPTH_MAX + 1, false);
    for (size_t around = 0; around <= DOCUMENT_DEPTH_MAX; around++) {
        char text[1000] = "";
        for (size_t i = 0; i < around; i++)
            strcat(text, "[\"x\",");
        for (size_t i = around; i < DOCUMENT_DEPTH_MAX; i++)
            strcat(text, "[1,");
        size_t full = strlen(text);
        strcat(text, "{}");
        for (size_t i = 0; i < DOCUMENT_DEPTH_MAX; i++)
            strcat(text, "]");
        ck_assert(!read_text(text));
        ck_assert_uint_eq(err.byte, full);
        text[full] = text[full + 1] = '7';
        ck_assert_msg(read_text(text), "%s %s", text, err.faults[0].text);
    }
}
END_TEST

START_TEST(ten_million_brackets_are_refused_at_the_first_too_deep)
{
    static const char *patterns[] = {"[", "[ ", "{\"a\":[", "[1,{\"a\":", "[\"a\",", "[[],"};
    size_t length = 10 * MIB;
    char *text = malloc(length);
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        size_t period = strlen(patterns[i]);
        for (size_t b = 0; b < length; b++)
            text[b] = patterns[i][b % period];
        ck_assert(!read_bytes(text, length));
        ck_assert_int_eq(err.code, ERROR_SYNTAX);
        ck_assert_uint_lt(err.byte, 40 * period);
    }
    free(text);
}
END_TEST

/* White space between brackets, escapes in one string, many small strings: all in time proportional to their length
 * (the test would not end otherwise). */
START_TEST(no_text_is_slow)
{
    size_t length = 8 * MIB;
    char *text = malloc(length + 100);
    memset(text, ' ', length);
    for (size_t i = 0; i < 30; i++)
        text[i * (length / 31)] = '[';
    ck_assert(!read_bytes(text, length));
    memset(text, '\\', length);
    text[0] = text[length - 1] = '"';
    ck_assert(read_bytes(text, length));
    memset(text, '[', length);
    for (size_t i = 0; i + 8 <= length; i += 8)
        memcpy(text + i, "\"\\\\\",  \n", 8);
    memcpy(text, "[", 1);
    memcpy(text + length - 8, "      0]", 8);
    ck_assert(!read_bytes(text, length));
    free(text);
}
END_TEST

static const char valid[] =
    "{\"id\":\"caf\xc3\xa9 \\u00e9\\n\",\"q\":[[1,-2.5e-3],[3,4]],\"mask\":{\"allow\":[[true,false]],"
    "\"bias\":[[null,\"-Infinity\"],[0,-0]],\"window\":{\"left\":3}},\"tokens\":[\"a\",\"b\"],"
    "\"bad\":[1,\"x\",{\"y\":[1,2]},[]],\"scale\":0.5}";

START_TEST(every_truncation_is_refused)
{
    ck_assert_msg(read_text(valid), "%s", err.faults[0].text);
    for (size_t length = 0; length + 1 < sizeof valid; length++) {
        ck_assert_msg(!read_bytes(valid, length), "%zu bytes", length);
        ck_assert_int_eq(err.code, ERROR_SYNTAX);
        ck_assert_uint_le(err.byte, length);
    }
}
END_TEST

START_TEST(memory_past_the_limit_is_refused)
{
    const char *texts[] = {valid, "[1]", "{\"a\":[[1,2],[3,4]]}"};
    for (size_t i = 0; i < 3; i++)
        for (size_t limit = 0; limit < 20000; limit += 50) {
            arena_free(arena);
            arena = arena_new(limit);
            err = (struct error){0};
            bool good = document_read(&document, texts[i], strlen(texts[i]), arena, &err);
            ck_assert(good || err.code == ERROR_TOO_LARGE);
            ck_assert(!good || limit > 64);
            document_free(&document);
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
        char *out = text + sprintf(text, "[\"a\",");
        for (size_t n = 0; n < count; n++)
            out = stpcpy(out, patterns[i]);
        strcpy(out, "{}]");
        arena_free(arena);
        arena = arena_new(50 * MIB);
        err = (struct error){0};
        ck_assert(!document_read(&document, text, strlen(text), arena, &err));
        ck_assert_int_eq(err.code, ERROR_TOO_LARGE);
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
    ck_assert(read_bytes(text, (size_t)(out - text)));
    const struct matrix *m = document_matrix(&document, json_object_get(document.root, "m"));
    ck_assert(m->rank == 2 && m->shape[0] == rows && m->shape[1] == columns);
    ck_assert(m->count == rows * columns && memcmp(m->values, values, m->count * sizeof *values) == 0);
    ck_assert_uint_eq((uintptr_t)m->values % ARENA_ALIGNMENT, 0);
    check_values(document_matrix(&document, json_object_get(document.root, "a")), 2, (const double[]){1, 2});
    check_values(document_matrix(&document, json_object_get(document.root, "b")), 1, (const double[]){3});
    free(values);
    free(text);
}
END_TEST

/* ---- against jansson ---- */

/* What of jansson's tree stands behind `ours`; matrices are compared value by value. */
static bool same_tree(const json_t *ours, const json_t *theirs);

static bool same_leaves(const json_t *theirs, const struct matrix *m, size_t *at)
{
    size_t i;
    json_t *element;
    if (json_is_array(theirs)) {
        json_array_foreach(theirs, i, element) if (!same_leaves(element, m, at)) return false;
        return true;
    }
    double value = json_is_number(theirs)  ? json_number_value(theirs)
                   : json_is_true(theirs)  ? 1
                   : json_is_false(theirs) ? 0
                                           : -HUGE_VAL;
    return *at < m->count && memcmp(&m->values[(*at)++], &value, sizeof value) == 0;
}

static bool same_array(const json_t *ours, const json_t *theirs)
{
    const struct matrix *m = document_matrix(&document, ours);
    size_t at = 0;
    if (m && m->fault != MATRIX_GOOD)
        return true;
    if (m)
        return same_leaves(theirs, m, &at) && at == m->count;
    if (json_array_size(ours) != json_array_size(theirs))
        return false;
    for (size_t i = 0; i < json_array_size(ours); i++)
        if (!same_tree(json_array_get(ours, i), json_array_get(theirs, i)))
            return false;
    return true;
}

static bool same_tree(const json_t *ours, const json_t *theirs)
{
    const char *name;
    json_t *value;
    if (json_typeof(ours) != json_typeof(theirs))
        return false;
    if (json_is_array(ours))
        return same_array(ours, theirs);
    if (!json_is_object(ours))
        return json_equal(ours, theirs);
    if (json_object_size(ours) != json_object_size(theirs))
        return false;
    json_object_foreach((json_t *)(uintptr_t)ours, name,
                        value) if (!json_object_get(theirs, name) ||
                                   !same_tree(value, json_object_get(theirs, name))) return false;
    return true;
}

static size_t draw_value(uint64_t *state, char *out, size_t room, size_t depth);

static const char *draw_space(uint64_t *state)
{
    static const char *spaces[] = {"", "", "", "", " ", "\n", " \t", "\r\n"};
    return spaces[number_check_random(state) % 8];
}

static size_t draw_array(uint64_t *state, char *out, size_t room, size_t depth)
{
    size_t count = number_check_random(state) % 4;
    size_t used = (size_t)sprintf(out, "[%s", draw_space(state));
    for (size_t i = 0; i < count && used < room / 2; i++) {
        used += (size_t)sprintf(out + used, "%s%s", i ? "," : "", draw_space(state));
        used += draw_value(state, out + used, room - used, depth + 1);
        used += (size_t)sprintf(out + used, "%s", draw_space(state));
    }
    return used + (size_t)sprintf(out + used, "]");
}

static size_t draw_object(uint64_t *state, char *out, size_t room, size_t depth)
{
    size_t count = number_check_random(state) % 4;
    size_t used = (size_t)sprintf(out, "{%s", draw_space(state));
    for (size_t i = 0; i < count && used < room / 2; i++) {
        used += (size_t)sprintf(out + used, "%s%s\"%c%zu\"%s:%s", i ? "," : "", draw_space(state),
                                'a' + (char)(number_check_random(state) % 26), (size_t)(number_check_random(state) % 4),
                                draw_space(state), draw_space(state));
        used += draw_value(state, out + used, room - used, depth + 1);
    }
    return used + (size_t)sprintf(out + used, "%s}", draw_space(state));
}

static size_t draw_matrix(uint64_t *state, char *out, size_t room)
{
    uint64_t bits = number_check_random(state);
    size_t rows = 1 + bits % 3;
    size_t columns = 1 + (bits >> 8) % 3;
    size_t used = (size_t)sprintf(out, "[");
    for (size_t i = 0; i < rows && used < room / 2; i++)
        for (size_t j = 0; j < columns; j++)
            used += (size_t)sprintf(out + used, "%s%s%.*g%s",
                                    j   ? ","
                                    : i ? ",["
                                        : "[",
                                    draw_space(state), 1 + (int)(bits >> 16 & 15), number_check_draw_float64(state),
                                    j + 1 == columns ? "]" : "");
    return used + (size_t)sprintf(out + used, "]");
}

static size_t draw_value(uint64_t *state, char *out, size_t room, size_t depth)
{
    static const char *leaves[] = {"true",
                                   "false",
                                   "null",
                                   "\"\"",
                                   "\"-Infinity\"",
                                   "\"\\u00e9\\\\\"",
                                   "\"[1,2]\"",
                                   "\"{\\\"\"",
                                   "0",
                                   "-0",
                                   "1",
                                   "2.5",
                                   "-3e-5",
                                   "1e400",
                                   "1e-400",
                                   "12345678901234567890",
                                   "\"\xc3\xa9\"",
                                   "[]",
                                   "{}"};
    uint64_t pick = number_check_random(state) % 12;
    if (depth < 6 && room > 500 && pick < 3)
        return draw_array(state, out, room, depth);
    if (depth < 6 && room > 500 && pick < 6)
        return draw_object(state, out, room, depth);
    if (room > 500 && pick < 8)
        return draw_matrix(state, out, room);
    return (size_t)sprintf(out, "%s", leaves[number_check_random(state) % (sizeof leaves / sizeof leaves[0])]);
}

/* One byte lost, doubled or exchanged for one that matters. */
static size_t damage(uint64_t *state, char *text, size_t length)
{
    static const char bytes[] = "[]{},:\"\\01.-+eE tfn\n\x80\xff";
    uint64_t bits = number_check_random(state);
    size_t at = (size_t)(bits >> 8) % length;
    switch (bits & 3) {
    case 0:
        memmove(text + at, text + at + 1, length - at - 1);
        return length - 1;
    case 1:
        memmove(text + at + 1, text + at, length - at);
        return length + 1;
    default:
        text[at] = bytes[(bits >> 40) % (sizeof bytes - 1)];
        return length;
    }
}

START_TEST(random_documents_agree_with_jansson)
{
    enum { ROOM = 8192 };
    static char text[ROOM + 4096];
    uint64_t state = 11;
    size_t read = 0;
    for (size_t i = 0; i < 60000; i++) {
        size_t length = draw_value(&state, text, ROOM, 0);
        for (size_t damages = i % 3; damages > 0 && length > 1; damages--)
            length = damage(&state, text, length);
        json_t *theirs = json_loadb(
            text, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL, NULL);
        bool good = read_bytes(text, length);
        ck_assert_msg(good == (theirs != NULL), "%.*s: %s", (int)length, text, err.faults[0].text);
        ck_assert_msg(!good || same_tree(document.root, theirs), "%.*s", (int)length, text);
        read += good;
        json_decref(theirs);
    }
    ck_assert_uint_gt(read, 15000);
    ck_assert_uint_lt(read, 45000);
}
END_TEST

/* ---- JSONTestSuite ---- */

static char *read_file(const char *folder, const char *name, size_t *length)
{
    char path[8192];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s", path);
    char *bytes = malloc(4 * MIB);
    *length = fread(bytes, 1, 4 * MIB, file);
    fclose(file);
    return bytes;
}

static char *wrap(const char *bytes, size_t length, size_t *wrapped)
{
    char *text = malloc(length + 20);
    memcpy(text, "{\"m\":", 5);
    memcpy(text + 5, bytes, length);
    memcpy(text + 5 + length, "}", 1);
    *wrapped = length + 6;
    return text;
}

static void check_suite_file(const char *folder, const char *name)
{
    size_t length;
    size_t wrapped;
    char *bytes = read_file(folder, name, &length);
    char *member = wrap(bytes, length, &wrapped);
    /* Well formed, yet refused: a repeated member has no one meaning. */
    bool good = name[0] == 'y' && strncmp(name, "y_object_duplicated_key", 23) != 0;
    ck_assert_msg(read_bytes(bytes, length) == good, "%s: %s", name, err.faults[0].text);
    ck_assert(good || err.code == ERROR_SYNTAX);
    /* What is wrong only for its end may be right inside an object, and the other way round: those need not agree. */
    bool tail = strstr(name, "n_structure_object_with_trailing_garbage") != NULL;
    ck_assert_msg(tail || read_bytes(member, wrapped) == good, "%s as a member: %s", name, err.faults[0].text);
    ck_assert(good || tail || err.code == ERROR_SYNTAX);
    free(member);
    free(bytes);
}

START_TEST(the_json_test_suite_is_judged_right)
{
    const char *vectors = getenv("TEST_VECTORS");
    char folder[4096];
    snprintf(folder, sizeof folder, "%s/json-test-suite", vectors ? vectors : "../shared");
    DIR *entries = opendir(folder);
    if (!entries) {
        printf("skipped: no %s (set TEST_VECTORS)\n", folder);
        return;
    }
    size_t files = 0;
    for (struct dirent *entry = readdir(entries); entry; entry = readdir(entries)) {
        if (strncmp(entry->d_name, "n_", 2) != 0 && strncmp(entry->d_name, "y_", 2) != 0)
            continue;
        check_suite_file(folder, entry->d_name);
        files++;
    }
    closedir(entries);
    ck_assert_uint_gt(files, 250);
}
END_TEST

Suite *document_suite(void);

Suite *document_suite(void)
{
    Suite *suite = suite_create("document");
    TCase *tests = tcase_create("document");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, matrices_have_shape_and_values);
    tcase_add_test(tests, kinds_of_values_are_counted_with_their_first_place);
    tcase_add_test(tests, faults_are_the_first_in_reading_order);
    tcase_add_test(tests, a_large_faulty_matrix_keeps_no_values);
    tcase_add_test(tests, everything_else_stays_with_jansson);
    tcase_add_test(tests, references_cannot_be_forged);
    tcase_add_test(tests, names_may_hold_an_escaped_nul);
    tcase_add_test(tests, errors_have_their_exact_place);
    tcase_add_test(tests, nul_bytes_are_refused_wherever_they_stand);
    tcase_add_test(tests, texts_say_nothing_unprintable_and_little_of_the_client);
    tcase_add_test(tests, depth_is_counted_over_everything);
    tcase_add_test(tests, ten_million_brackets_are_refused_at_the_first_too_deep);
    tcase_add_test(tests, no_text_is_slow);
    tcase_add_test(tests, every_truncation_is_refused);
    tcase_add_test(tests, memory_past_the_limit_is_refused);
    tcase_add_test(tests, the_tree_is_priced);
    tcase_add_test(tests, large_matrices_are_exact);
    tcase_add_test(tests, random_documents_agree_with_jansson);
    tcase_add_test(tests, the_json_test_suite_is_judged_right);
    suite_add_tcase(suite, tests);
    return suite;
}
