/* Growable bytes and their maximum. */
#include "api/numbers/buffer.h"

#include <check.h>
#include <stdint.h>

Suite *buffer_suite(void);

#define MOST ((size_t)1000)

START_TEST(never_more_than_the_maximum)
{
    struct buffer text = buffer_new(MOST);
    while (!text.failed) {
        buffer_append(&text, "seven b", 7);
        ck_assert_uint_le(text.capacity, MOST);
    }
    ck_assert_uint_eq(text.length, MOST / 7 * 7);
    ck_assert(text.full);
    ck_assert_int_eq(memcmp(text.data + text.length - 7, "seven b", 7), 0);
    buffer_string(&text, "x");
    ck_assert_uint_eq(text.length, MOST / 7 * 7);
    buffer_free(&text);
    ck_assert(!text.failed && text.most == MOST && !text.data);
    buffer_string(&text, "again");
    ck_assert_uint_eq(text.length, 5);
    buffer_free(&text);
}
END_TEST

/* The whole maximum can be used, whatever doubling would make of it. */
START_TEST(the_last_byte_fits)
{
    struct buffer text = buffer_new(MOST);
    for (size_t i = 0; i < MOST; i++)
        buffer_append(&text, "x", 1);
    ck_assert(!text.failed);
    ck_assert_uint_eq(buffer_room(&text), 0);
    buffer_append(&text, "x", 1);
    ck_assert(text.failed && text.full);
    buffer_free(&text);
}
END_TEST

START_TEST(a_zeroed_one_takes_nothing)
{
    struct buffer text = {0};
    buffer_string(&text, "x");
    ck_assert(text.failed && text.full && !text.data);
}
END_TEST

START_TEST(what_is_lent_counts)
{
    struct buffer text = buffer_new(MOST);
    buffer_string(&text, "here");
    unsigned char *block = buffer_lend(&text, 700);
    ck_assert_ptr_nonnull(block);
    ck_assert_uint_eq((uintptr_t)block % 64, 0);
    memset(block, 1, 700);
    ck_assert_uint_le(buffer_room(&text), MOST - 700 - 4);
    ck_assert_ptr_null(buffer_lend(&text, 300));
    ck_assert(text.failed && text.full);
    buffer_take_back(&text, block);
    buffer_take_back(&text, NULL);
    ck_assert_uint_eq(text.lent, 0);
    buffer_free(&text);
}
END_TEST

/* Room that doubling took and the text does not need yet is lent. */
START_TEST(room_past_the_text_is_lent)
{
    struct buffer text = buffer_new(MOST);
    for (size_t i = 0; i < 513; i++)
        buffer_append(&text, "x", 1);
    ck_assert_uint_eq(text.capacity, MOST);
    void *block = buffer_lend(&text, 256);
    ck_assert_ptr_nonnull(block);
    ck_assert_uint_le(text.capacity + text.lent, MOST);
    buffer_take_back(&text, block);
    buffer_free(&text);
}
END_TEST

START_TEST(a_full_one_is_told_from_a_lack_of_memory)
{
    struct error err;
    struct buffer text = buffer_new(8);
    error_init(&err);
    ck_assert(buffer_check(&text, "the text", &err));
    buffer_string(&text, "more than eight");
    ck_assert(!buffer_check(&text, "the text", &err));
    ck_assert_int_eq(err.code, ERROR_TOO_LARGE);
    ck_assert_str_eq(err.faults[0].text, "the text takes more than the 8 bytes that this request has left for it "
                                         "(--request-memory).");
    text.full = false;
    error_init(&err);
    ck_assert(!buffer_check(&text, "the text", &err));
    ck_assert_int_eq(err.code, ERROR_MEMORY);
}
END_TEST

Suite *buffer_suite(void)
{
    Suite *suite = suite_create("buffer");
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, never_more_than_the_maximum);
    tcase_add_test(tests, the_last_byte_fits);
    tcase_add_test(tests, a_zeroed_one_takes_nothing);
    tcase_add_test(tests, what_is_lent_counts);
    tcase_add_test(tests, room_past_the_text_is_lent);
    tcase_add_test(tests, a_full_one_is_told_from_a_lack_of_memory);
    suite_add_tcase(suite, tests);
    return suite;
}
