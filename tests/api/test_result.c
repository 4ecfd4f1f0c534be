/* The rows of what a reply may hold, and the names by which `include` brings them. */
#include "api/request/include.h"

#include <check.h>
#include <string.h>

#define NAMES_MAX 200

struct names {
    const char *at[NAMES_MAX];
    size_t count;
};

static void take(void *context, const char *name)
{
    struct names *names = context;
    ck_assert_uint_lt(names->count, NAMES_MAX);
    names->at[names->count++] = name;
}

START_TEST(every_name_is_taken_and_none_is_there_twice)
{
    struct names names = {.count = 0};
    include_each(take, &names);
    ck_assert_uint_gt(names.count, PART_COUNT);
    for (size_t x = 0; x < names.count; x++) {
        struct include include = {0};
        const char *suggestion = NULL;
        ck_assert_msg(include_add(&include, names.at[x], 0, &suggestion), "%s", names.at[x]);
        for (size_t y = 0; y < x; y++)
            ck_assert_str_ne(names.at[x], names.at[y]);
    }
}
END_TEST

/* A name brings exactly the results of its part, or the one that has this path. */
START_TEST(a_name_brings_what_it_says)
{
    const struct attention_request request = {.has_dropout = true, .softcap = 1, .mask.alibi = true};
    const struct attention a = {.request = &request};
    struct names names = {.count = 0};
    include_each(take, &names);
    for (size_t x = 0; x < names.count; x++) {
        struct include include = {0};
        const char *suggestion = NULL;
        size_t brought = 0;
        struct error err = {0};
        include_add(&include, names.at[x], 0, &suggestion);
        for (size_t r = 0; r < RESULT_COUNT; r++) {
            const struct result *row = result_row((enum result_id)r);
            if (!include_wants(&include, &a, (enum result_id)r))
                continue;
            brought++;
            ck_assert_str_eq(include_name(&include, (enum result_id)r), names.at[x]);
            ck_assert(strcmp(names.at[x], part_name(row->part)) == 0 || strcmp(names.at[x], row->path) == 0);
        }
        ck_assert_msg(brought > 0 || !include_check(&include, &a, &err), "%s", names.at[x]);
    }
}
END_TEST

Suite *result_suite(void);
Suite *result_suite(void)
{
    Suite *suite = suite_create("result");
    TCase *tests = tcase_create("rows");
    tcase_add_test(tests, every_name_is_taken_and_none_is_there_twice);
    tcase_add_test(tests, a_name_brings_what_it_says);
    suite_add_tcase(suite, tests);
    return suite;
}
