/* Views, and numbers of each type. */
#include "core/tensor/tensor.h"

#include <check.h>
#include <math.h>

START_TEST(a_number_comes_back_rounded_to_its_type)
{
    static const struct {
        enum dtype dtype;
        double given, kept;
    } rows[] = {{DTYPE_FLOAT64, 0.1, 0.1},
                {DTYPE_FLOAT32, 0.1, 0x1.99999ap-4},
                {DTYPE_FLOAT32, 1e39, HUGE_VAL},
                {DTYPE_BOOL, 3, 1},
                {DTYPE_BOOL, 0, 0},
                {DTYPE_INT16, -300, -300},
                {DTYPE_INT64, -3e9, -3e9},
                {DTYPE_FLOAT64, -HUGE_VAL, -HUGE_VAL}};
    for (size_t x = 0; x < sizeof rows / sizeof *rows; x++) {
        double room[3] = {0};
        dtype_set(rows[x].dtype, room, 1, rows[x].given);
        ck_assert_double_eq(dtype_get(rows[x].dtype, room, 1), rows[x].kept);
        ck_assert_double_eq(dtype_get(rows[x].dtype, room, 0), 0);
        ck_assert_double_eq(dtype_get(rows[x].dtype, room, 2), 0);
    }
}
END_TEST

START_TEST(the_first_number_that_is_not_finite_is_found)
{
    float numbers[] = {1, 2, INFINITY, NAN};
    ck_assert_uint_eq(dtype_find_overflow(DTYPE_FLOAT32, numbers, 4), 2);
    ck_assert_uint_eq(dtype_find_overflow(DTYPE_FLOAT32, numbers, 2), 2);
    numbers[0] = -INFINITY;
    ck_assert_uint_eq(dtype_find_overflow(DTYPE_FLOAT32, numbers, 4), 0);
}
END_TEST

/* A view of [b][rows][heads][width] as [b][heads][rows][width]: row (b, h, i) begins at ((b * 5 + i) * 3 + h) * 2. */
START_TEST(rows_of_a_view_are_found_by_its_strides)
{
    double numbers[2 * 5 * 3 * 2];
    const struct tensor t = {
        .data = numbers, .dtype = DTYPE_FLOAT64, .rank = 4, .shape = {2, 3, 5, 2}, .stride = {30, 2, 6, 1}};
    for (size_t b = 0; b < 2; b++)
        for (size_t h = 0; h < 3; h++)
            for (size_t i = 0; i < 5; i++)
                ck_assert_ptr_eq(tensor_row(t, b, h, i), numbers + ((b * 5 + i) * 3 + h) * 2);
}
END_TEST

Suite *tensor_suite(void);
Suite *tensor_suite(void)
{
    Suite *suite = suite_create("tensor");
    TCase *tests = tcase_create("views");
    tcase_add_test(tests, a_number_comes_back_rounded_to_its_type);
    tcase_add_test(tests, the_first_number_that_is_not_finite_is_found);
    tcase_add_test(tests, rows_of_a_view_are_found_by_its_strides);
    suite_add_tcase(suite, tests);
    return suite;
}
