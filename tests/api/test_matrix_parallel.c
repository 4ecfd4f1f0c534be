/* Long matrices read by several threads: what one thread reads, and the same refusals at the same places. */
#include "api/json/document.h"
#include "api/numbers/buffer.h"
#include "core/tensor/pool.h"
#include "tests/api/number_check.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

Suite *matrix_parallel_suite(void);

#define LIMIT ((size_t)512 << 20)

static struct pool *pool;

static void start(void)
{
    pool = pool_start(3, 4);
    ck_assert_ptr_nonnull(pool);
}

static void stop(void)
{
    pool_stop(pool);
}

static void check_same_matrix(const struct matrix *a, const struct matrix *b)
{
    ck_assert_int_eq(a->fault, b->fault);
    ck_assert_uint_eq(a->rank, b->rank);
    ck_assert_uint_eq(a->count, b->count);
    ck_assert_int_eq(memcmp(a->shape, b->shape, sizeof a->shape), 0);
    if (a->count > 0)
        ck_assert_int_eq(memcmp(a->values, b->values, a->count * sizeof *a->values), 0);
    ck_assert_uint_eq(a->index_rank, b->index_rank);
    ck_assert_int_eq(memcmp(a->index, b->index, a->index_rank * sizeof *a->index), 0);
    ck_assert_uint_eq(a->expected, b->expected);
    ck_assert_uint_eq(a->found, b->found);
    ck_assert(a->has_numbers == b->has_numbers && a->has_hidden == b->has_hidden && a->has_booleans == b->has_booleans);
    ck_assert_uint_eq(a->first_hidden, b->first_hidden);
    ck_assert_uint_eq(a->first_boolean, b->first_boolean);
}

static void check_same_error(const struct error *a, const struct error *b)
{
    ck_assert_int_eq(a->code, b->code);
    ck_assert_uint_eq(a->byte, b->byte);
    ck_assert_uint_eq(a->line, b->line);
    ck_assert_uint_eq(a->column, b->column);
    ck_assert_str_eq(a->faults[0].text, b->faults[0].text);
}

/* Reads it both ways. */
static void compare(const struct buffer *text)
{
    struct document documents[2];
    struct error errors[2] = {{0}};
    struct arena *arenas[2];
    for (size_t way = 0; way < 2; way++) {
        arenas[way] = arena_new(LIMIT);
        ck_assert_ptr_nonnull(arenas[way]);
        document_read(&documents[way], text->data, text->length, (struct read_context){.pool = way == 0 ? NULL : pool},
                      arenas[way], &errors[way]);
    }
    check_same_error(&errors[0], &errors[1]);
    ck_assert_uint_eq(documents[0].matrix_count, documents[1].matrix_count);
    for (size_t i = 0; errors[0].code == ERROR_NONE && i < documents[0].matrix_count; i++)
        check_same_matrix(&documents[0].matrices[i], &documents[1].matrices[i]);
    for (size_t way = 0; way < 2; way++) {
        document_free(&documents[way]);
        arena_free(arenas[way]);
    }
}

static void append_row(struct buffer *out, size_t width, uint64_t *state)
{
    for (size_t j = 0; j < width; j++)
        buffer_format(out, "%c%.9g", j == 0 ? '[' : ',', number_check_draw_float64(state));
    buffer_string(out, "]");
}

/* {"q":[[..],[..],..],"tokens":["a"]}, row `odd` written as `instead`, white space between now and then. */
static struct buffer make_document(size_t rows, size_t width, size_t odd, const char *instead, uint64_t *state)
{
    static const char *const separators[] = {",", ",", ",", " , ", ",\n  ", "\t,\r\n"};
    struct buffer out = buffer_new(SIZE_MAX);
    buffer_string(&out, "{\"q\":[");
    for (size_t i = 0; i < rows; i++) {
        if (i > 0)
            buffer_string(&out, separators[number_check_random(state) % 6]);
        if (i == odd)
            buffer_string(&out, instead);
        else
            append_row(&out, width, state);
    }
    buffer_string(&out, "],\"tokens\":[\"a\"]}");
    ck_assert(!out.failed);
    return out;
}

static const struct {
    size_t rows, width;
} shapes[] = {{3000, 7}, {40000, 1}, {64, 900}, {3, 20000}, {600, 64}, {1, 9000}, {2, 9000}};

START_TEST(regular_rows_are_the_same)
{
    uint64_t state = 1;
    struct buffer text = make_document(shapes[_i].rows, shapes[_i].width, (size_t)-1, "", &state);
    compare(&text);
    buffer_free(&text);
}
END_TEST

/* What may stand where a row of seven numbers should. */
static const char *const odd_rows[] = {"[1,2,3]",
                                       "[1,2,3,4,5,6,7,8]",
                                       "[]",
                                       "[[1,2,3,4,5,6,7]]",
                                       "1",
                                       "null",
                                       "[1,2,3,4,5,6,",
                                       "[1,2,3,4,5,6,x]",
                                       "[1,,3]",
                                       "[1,2,3,4,5,6,01]",
                                       "\"a\"",
                                       "[1,2,3,4,5,6,7",
                                       "{\"a\":[1]}",
                                       "[1,2,\"]\",4,5]",
                                       "[1 2]",
                                       "[1,2,3,4,5,6,7]]",
                                       "[1,2,3,4e]",
                                       "[1e999,2,3,4,5,6,7]",
                                       "[true,false]",
                                       "[,1]",
                                       "[1,2,3,4,5,]",
                                       "[1,2,null,4,5,6,7]",
                                       "[ 1 ,2 , 3,4,5,6, 7 ]"};

START_TEST(an_odd_row_is_found_at_the_same_place)
{
    uint64_t state = 100 + (uint64_t)_i;
    for (size_t round = 0; round < 12; round++) {
        size_t odd = round == 0 ? 0 : round == 1 ? 2999 : number_check_random(&state) % 3000;
        struct buffer text = make_document(3000, 7, odd, odd_rows[_i], &state);
        compare(&text);
        buffer_free(&text);
    }
}
END_TEST

START_TEST(heads_of_many_sizes_are_the_same)
{
    static const size_t rows[] = {1, 50, 700};
    uint64_t state = 7;
    struct buffer out = buffer_new(SIZE_MAX);
    buffer_string(&out, "{\"q\":[");
    for (size_t h = 0; h < 9; h++) {
        buffer_string(&out, h == 0 ? "[" : "],[");
        for (size_t i = 0; i < rows[(size_t)_i]; i++) {
            buffer_string(&out, i == 0 ? "" : ",");
            append_row(&out, 16, &state);
        }
    }
    buffer_string(&out, "]]}");
    compare(&out);
    buffer_free(&out);
}
END_TEST

START_TEST(a_text_cut_anywhere_is_refused_alike)
{
    uint64_t state = 9;
    struct buffer text = make_document(900, 9, (size_t)-1, "", &state);
    size_t whole = text.length;
    for (size_t round = 0; round < 40; round++) {
        text.length = whole - 1 - number_check_random(&state) % (whole / 2);
        compare(&text);
    }
    buffer_free(&text);
}
END_TEST

Suite *matrix_parallel_suite(void)
{
    Suite *suite = suite_create("matrix_ahead");
    TCase *tests = tcase_create("two ways");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, start, stop);
    tcase_add_loop_test(tests, regular_rows_are_the_same, 0, sizeof shapes / sizeof *shapes);
    tcase_add_loop_test(tests, an_odd_row_is_found_at_the_same_place, 0, sizeof odd_rows / sizeof *odd_rows);
    tcase_add_loop_test(tests, heads_of_many_sizes_are_the_same, 0, 3);
    tcase_add_test(tests, a_text_cut_anywhere_is_refused_alike);
    suite_add_tcase(suite, tests);
    return suite;
}
