/* Base64: the vectors of RFC 4648, refusals, and pieces of every size. */
#include "api/numbers/base64.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *bytes, *characters;
} vectors[] = {
    {"", ""},
    {"f", "Zg=="},
    {"fo", "Zm8="},
    {"foo", "Zm9v"},
    {"foob", "Zm9vYg=="},
    {"fooba", "Zm9vYmE="},
    {"foobar", "Zm9vYmFy"},
    {"\xff\xfe\xfb", "//77"},
    {"\xfb\xef\xbe", "++++"},
};

START_TEST(vectors_both_ways)
{
    struct buffer out = buffer_new(SIZE_MAX);
    struct base64 state = {{0}, 0};
    unsigned char decoded[16];
    const char *characters = vectors[_i].characters;
    base64_append(&state, &out, vectors[_i].bytes, strlen(vectors[_i].bytes));
    base64_end(&state, &out);
    ck_assert_uint_eq(out.length, strlen(characters));
    ck_assert(out.length == 0 || memcmp(out.data, characters, out.length) == 0);
    size_t bytes = base64_bytes(characters, strlen(characters));
    ck_assert_uint_eq(bytes, strlen(vectors[_i].bytes));
    ck_assert(base64_decode(characters, strlen(characters), decoded));
    ck_assert(memcmp(decoded, vectors[_i].bytes, bytes) == 0);
    buffer_free(&out);
}
END_TEST

static const struct {
    const char *characters;
    size_t bad;
} wrong[] = {
    {"Z", 1},    {"Zg", 2},    {"Zg=", 3},  {"Zm9vY", 5}, {"Z===", 1}, {"====", 0},     {"Zg==Zg==", 2},   {"Zh==", 2},
    {"Zm9=", 3}, {"Zm\n9", 2}, {"Z-9v", 1}, {"Z_9v", 1},  {"Zm 9", 2}, {"Zm9v=g==", 4}, {"Z\xc3\xa4v", 1},
};

START_TEST(what_is_no_base64)
{
    unsigned char out[16];
    size_t length = strlen(wrong[_i].characters);
    ck_assert(!base64_decode(wrong[_i].characters, length, out));
    ck_assert_uint_eq(base64_find_fault(wrong[_i].characters, length), wrong[_i].bad);
}
END_TEST

START_TEST(pieces_do_not_show)
{
    unsigned char bytes[257];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 37 + 11);
    struct buffer whole = buffer_new(SIZE_MAX);
    struct base64 state = {{0}, 0};
    base64_append(&state, &whole, bytes, sizeof bytes);
    base64_end(&state, &whole);
    for (size_t step = 1; step < 9; step++) {
        struct buffer pieces = buffer_new(SIZE_MAX);
        for (size_t at = 0; at < sizeof bytes; at += step)
            base64_append(&state, &pieces, bytes + at, sizeof bytes - at < step ? sizeof bytes - at : step);
        base64_end(&state, &pieces);
        ck_assert_uint_eq(pieces.length, whole.length);
        ck_assert(memcmp(pieces.data, whole.data, whole.length) == 0);
        buffer_free(&pieces);
    }
    buffer_free(&whole);
}
END_TEST

Suite *base64_suite(void);

Suite *base64_suite(void)
{
    Suite *suite = suite_create("base64");
    TCase *tests = tcase_create("all");
    tcase_add_loop_test(tests, vectors_both_ways, 0, (int)(sizeof vectors / sizeof *vectors));
    tcase_add_loop_test(tests, what_is_no_base64, 0, (int)(sizeof wrong / sizeof *wrong));
    tcase_add_test(tests, pieces_do_not_show);
    suite_add_tcase(suite, tests);
    return suite;
}
