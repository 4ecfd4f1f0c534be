/* The table of options in api/README.md is the one that the options print. */
#include "api/request/options.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BEGIN "<!-- options -->\n"
#define TABLE "build/options.md"
#define END "<!-- end of options -->"

static char *read_manual(void)
{
    FILE *file = fopen("api/README.md", "r");
    ck_assert_msg(file != NULL, "run from the top of the tree: api/README.md is not here");
    char *text = calloc(1, 1 << 20);
    ck_assert_ptr_nonnull(text);
    ck_assert_uint_lt(fread(text, 1, (1 << 20) - 1, file), (1 << 20) - 1);
    fclose(file);
    return text;
}

static void write_table(const struct buffer *table)
{
    FILE *file = fopen(TABLE, "w");
    ck_assert_ptr_nonnull(file);
    fwrite(table->data, 1, table->length, file);
    fclose(file);
}

START_TEST(the_manual_has_the_table)
{
    char *manual = read_manual();
    struct buffer table = buffer_new(SIZE_MAX);
    option_markdown(options_table(), &table);
    ck_assert(!table.failed);
    const char *at = strstr(manual, BEGIN);
    ck_assert_ptr_nonnull(at);
    at += strlen(BEGIN);
    bool same = strncmp(at, table.data, table.length) == 0 && strncmp(at + table.length, END, strlen(END)) == 0;
    if (!same)
        write_table(&table);
    ck_assert_msg(same, "api/README.md should have, between its markers, what is in " TABLE);
    buffer_free(&table);
    free(manual);
}
END_TEST

Suite *manual_suite(void);

Suite *manual_suite(void)
{
    Suite *suite = suite_create("manual");
    TCase *tests = tcase_create("options");
    tcase_add_test(tests, the_manual_has_the_table);
    suite_add_tcase(suite, tests);
    return suite;
}
