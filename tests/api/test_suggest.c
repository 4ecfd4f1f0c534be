/* Edit distance: the three laws of a distance, swaps, and when a name is close. */
#include "api/request/suggest.h"

#include <check.h>

static const struct {
    const char *a, *b;
    size_t distance;
} pairs[] = {
    {"", "", 0},
    {"", "abc", 3},
    {"mask", "mask", 0},
    {"mask", "maks", 1},
    {"mask", "mak", 1},
    {"mask", "masks", 1},
    {"mask", "Mask", 0},
    {"mask", "bask", 1},
    {"kitten", "sitting", 3},
    {"ca", "abc", 3},
    {"abcdef", "badcfe", 3},
    {"weights", "wieghst", 2},
    {"0123456789012345678901234567890123", "a", (size_t)-1},
};

START_TEST(distances)
{
    ck_assert_uint_eq(suggest_distance(pairs[_i].a, pairs[_i].b), pairs[_i].distance);
    ck_assert_uint_eq(suggest_distance(pairs[_i].b, pairs[_i].a), pairs[_i].distance);
}
END_TEST

static const char *closest(const char *wanted)
{
    static const char *const names[] = {"q", "k", "mask", "scale", "softcap", "sinks", "w_q", "w_k"};
    struct suggestion s = {.wanted = wanted};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        suggest_consider(&s, names[i]);
    return s.best;
}

START_TEST(the_closest_of_many)
{
    ck_assert_str_eq(closest("masc"), "mask");
    ck_assert_str_eq(closest("sclae"), "scale");
    ck_assert_str_eq(closest("soft_cap"), "softcap");
    ck_assert_str_eq(closest("SOFTCAP"), "softcap");
    ck_assert_str_eq(closest("wq"), "w_q");
    ck_assert_str_eq(closest("w_v"), "w_q");
    ck_assert_ptr_null(closest("x"));
    ck_assert_ptr_null(closest(""));
    ck_assert_ptr_null(closest("temperature"));
    ck_assert_ptr_null(closest("ma"));
}
END_TEST

Suite *suggest_suite(void);

Suite *suggest_suite(void)
{
    Suite *suite = suite_create("suggestions");
    TCase *tests = tcase_create("all");
    tcase_add_loop_test(tests, distances, 0, (int)(sizeof pairs / sizeof *pairs));
    tcase_add_test(tests, the_closest_of_many);
    suite_add_tcase(suite, tests);
    return suite;
}
