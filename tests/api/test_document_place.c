/* Documents: what is refused, and at which byte; nothing that a client writes takes long. */
#include "tests/api/document_trial.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

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
        ck_assert_msg(!trial_read(text), "%s is read", cases[i]);
        ck_assert_int_eq(trial_now()->err.code, ERROR_SYNTAX);
        ck_assert(trial_now()->err.placed);
        ck_assert_msg(trial_now()->err.byte == before, "%s: byte %zu, %s", cases[i], trial_now()->err.byte,
                      trial_now()->err.faults[0].text);
        ck_assert_msg(trial_now()->err.line == line && trial_now()->err.column == column, "%s: %zu:%zu", cases[i],
                      trial_now()->err.line, trial_now()->err.column);
        ck_assert_uint_eq(trial_now()->err.count, 1);
        ck_assert_uint_gt(strlen(trial_now()->err.faults[0].text), 10);
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
        ck_assert(!trial_read_bytes(broken, sizeof text - 1));
        ck_assert_int_eq(trial_now()->err.code, ERROR_SYNTAX);
        ck_assert_uint_le(trial_now()->err.byte, i);
        memmove(broken + i + 1, text + i, sizeof text - 1 - i - 1); /* one more byte, none lost but the last space */
        broken[i] = '\0';
        ck_assert(!trial_read_bytes(broken, sizeof text - 1));
        ck_assert_int_eq(trial_now()->err.code, ERROR_SYNTAX);
    }
    ck_assert(!trial_read_bytes("[1]\0", 4));
    ck_assert_uint_eq(trial_now()->err.byte, 3);
    ck_assert(!trial_read_bytes("1\0", 2));
    ck_assert_uint_eq(trial_now()->err.byte, 1);
    ck_assert(!trial_read_bytes("\0", 1));
    ck_assert_uint_eq(trial_now()->err.byte, 0);
}
END_TEST

START_TEST(texts_say_nothing_unprintable_and_little_of_the_client)
{
    static const char *cases[] = {"{\"a\":x\x01\x02<script>alert(1)</script>and so on and so on and so on}",
                                  "[1,\xff\xfe\xfd]", "{\"a\":\x7f}",
                                  "[1,zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz]"};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ck_assert(!trial_read(cases[i]));
        const char *text = trial_now()->err.faults[0].text;
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
    ck_assert_msg(trial_read(text) == good, "%s", text);
    if (!good)
        ck_assert_uint_eq(trial_now()->err.byte, DOCUMENT_DEPTH_MAX * strlen(open));
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
        ck_assert(!trial_read(text));
        ck_assert_uint_eq(trial_now()->err.byte, full);
        text[full] = text[full + 1] = '7';
        ck_assert_msg(trial_read(text), "%s %s", text, trial_now()->err.faults[0].text);
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
        ck_assert(!trial_read_bytes(text, length));
        ck_assert_int_eq(trial_now()->err.code, ERROR_SYNTAX);
        ck_assert_uint_lt(trial_now()->err.byte, 40 * period);
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
    ck_assert(!trial_read_bytes(text, length));
    memset(text, '\\', length);
    text[0] = text[length - 1] = '"';
    ck_assert(trial_read_bytes(text, length));
    memset(text, '[', length);
    for (size_t i = 0; i + 8 <= length; i += 8)
        memcpy(text + i, "\"\\\\\",  \n", 8);
    memcpy(text, "[", 1);
    memcpy(text + length - 8, "      0]", 8);
    ck_assert(!trial_read_bytes(text, length));
    free(text);
}
END_TEST

START_TEST(every_truncation_is_refused)
{
    size_t whole = strlen(trial_valid());
    ck_assert_msg(trial_read(trial_valid()), "%s", trial_now()->err.faults[0].text);
    for (size_t length = 0; length < whole; length++) {
        ck_assert_msg(!trial_read_bytes(trial_valid(), length), "%zu bytes", length);
        ck_assert_int_eq(trial_now()->err.code, ERROR_SYNTAX);
        ck_assert_uint_le(trial_now()->err.byte, length);
    }
}
END_TEST

Suite *document_place_suite(void);

Suite *document_place_suite(void)
{
    Suite *suite = suite_create("document_place");
    TCase *tests = tcase_create("document_place");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, trial_setup, trial_teardown);
    tcase_add_test(tests, errors_have_their_exact_place);
    tcase_add_test(tests, nul_bytes_are_refused_wherever_they_stand);
    tcase_add_test(tests, texts_say_nothing_unprintable_and_little_of_the_client);
    tcase_add_test(tests, depth_is_counted_over_everything);
    tcase_add_test(tests, ten_million_brackets_are_refused_at_the_first_too_deep);
    tcase_add_test(tests, no_text_is_slow);
    tcase_add_test(tests, every_truncation_is_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
