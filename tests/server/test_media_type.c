/* Media types and what a client accepts. */
#include "server/coding/media_type.h"

#include <check.h>
#include <stddef.h>

Suite *media_type_suite(void);

START_TEST(body_types)
{
    ck_assert(media_type_may_be_json(NULL));
    ck_assert(media_type_may_be_json(""));
    ck_assert(media_type_may_be_json("application/json; charset=utf-8"));
    ck_assert(media_type_may_be_json("application/x-www-form-urlencoded"));
    ck_assert(media_type_may_be_json("application/ld+json"));
    ck_assert(!media_type_may_be_json("multipart/form-data; boundary=a"));
    ck_assert(!media_type_may_be_json(" IMAGE/PNG"));
    ck_assert(!media_type_may_be_json("image/svg+xml"));
    ck_assert(!media_type_may_be_json("application/atom+XML;type=entry"));
    ck_assert(!media_type_may_be_json("text/html;charset=utf-8"));
}
END_TEST

START_TEST(content_codings)
{
    ck_assert(media_type_is_plain(NULL));
    ck_assert(media_type_is_plain(""));
    ck_assert(media_type_is_plain("Identity"));
    ck_assert(!media_type_is_plain("gzip"));
    ck_assert(!media_type_is_plain("identity, br"));
}
END_TEST

START_TEST(accept_weights)
{
    static const struct {
        const char *accept;
        double weight;
    } rows[] = {{NULL, 1},
                {"", 1},
                {"*/*", 1},
                {"application/*", 1},
                {"application/json", 1},
                {"APPLICATION/JSON", 1},
                {"text/html, application/json;q=0.5", 0.5},
                {"*/*;q=0.1, application/json; q=0.7", 0.7},
                {"application/json;q=0, */*", 0},
                {"application/*;q=0, */*", 0},
                {"text/html", 0},
                {"application/jsonx", 0},
                {"application/json;charset=utf-8;q=0.3", 0.3},
                {"text/plain;q=1.0,application/json;Q=0.2", 0.2},
                {",,", 1},
                {"text/html,", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ck_assert_msg(media_type_weight(rows[i].accept, "application/json") == rows[i].weight, "%s: %g", rows[i].accept,
                      media_type_weight(rows[i].accept, "application/json"));
}
END_TEST

Suite *media_type_suite(void)
{
    Suite *suite = suite_create("media");
    TCase *tests = tcase_create("types");
    tcase_add_test(tests, body_types);
    tcase_add_test(tests, content_codings);
    tcase_add_test(tests, accept_weights);
    suite_add_tcase(suite, tests);
    return suite;
}
