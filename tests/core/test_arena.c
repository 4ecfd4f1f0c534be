/* Arena: limit, alignment, contents across growth, and room that comes back. */
#include "core/tensor/arena.h"

#include <check.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1024 * 1024)

static struct arena *arena;
static struct error err;

static void setup(void)
{
    err = (struct error){0};
    arena = arena_new(64 * MIB);
    ck_assert_ptr_nonnull(arena);
}

static void teardown(void)
{
    arena_free(arena);
}

static unsigned char pattern(size_t i, size_t seed)
{
    return (unsigned char)(i * 31 + seed * 7 + (i >> 8));
}

static void fill(unsigned char *block, size_t size, size_t seed)
{
    for (size_t i = 0; i < size; i++)
        block[i] = pattern(i, seed);
}

static void check_filled(const unsigned char *block, size_t size, size_t seed)
{
    size_t i = 0;
    while (i < size && block[i] == pattern(i, seed))
        i++;
    ck_assert_msg(i == size, "byte %zu of block %zu changed", i, seed);
}

START_TEST(blocks_are_aligned_and_apart)
{
    static const size_t sizes[] = {0, 1, 63, 64, 65, 1000, 16000, 16384, 20000, 70000, 3000000, 5};
    unsigned char *blocks[sizeof sizes / sizeof sizes[0]];
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        blocks[i] = arena_alloc(arena, sizes[i], &err);
        ck_assert_ptr_nonnull(blocks[i]);
        ck_assert_uint_eq((uintptr_t)blocks[i] % ARENA_ALIGNMENT, 0);
        fill(blocks[i], sizes[i], i);
    }
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        check_filled(blocks[i], sizes[i], i);
}
END_TEST

START_TEST(the_limit_holds_and_names_its_numbers)
{
    struct arena *small = arena_new(MIB);
    void *half = arena_alloc(small, MIB / 2, &err);
    ck_assert_ptr_nonnull(half);
    ck_assert_ptr_null(arena_alloc(small, MIB / 2 + 1, &err));
    ck_assert_int_eq(err.code, ERROR_TOO_LARGE);
    ck_assert_ptr_nonnull(strstr(err.faults[0].text, "524289"));
    ck_assert_ptr_nonnull(strstr(err.faults[0].text, "1048576"));
    ck_assert_uint_le(arena_held(small), MIB);
    arena_drop(small, half);
    ck_assert_uint_eq(arena_held(small), 0);
    ck_assert_ptr_nonnull(arena_alloc(small, MIB / 2 + 1, &err));
    arena_free(small);
}
END_TEST

START_TEST(many_tiny_blocks_reach_the_limit_too)
{
    struct arena *small = arena_new(MIB);
    size_t count = 0;
    while (arena_alloc(small, 1, &err))
        count++;
    ck_assert_int_eq(err.code, ERROR_TOO_LARGE);
    ck_assert_uint_gt(count, 1000);
    ck_assert_uint_le(count, MIB / ARENA_ALIGNMENT);
    arena_free(small);
}
END_TEST

START_TEST(sizes_that_overflow_are_refused)
{
    struct arena *vast = arena_new(SIZE_MAX);
    for (size_t less = 0; less < 300; less++) {
        err = (struct error){0};
        ck_assert_ptr_null(arena_alloc(vast, SIZE_MAX - less, &err));
        ck_assert_int_ne(err.code, ERROR_NONE);
    }
    err = (struct error){0};
    ck_assert_ptr_null(arena_calloc(vast, SIZE_MAX / 2, 3, &err));
    ck_assert_int_ne(err.code, ERROR_NONE);
    arena_free(vast);
}
END_TEST

START_TEST(memory_that_the_system_has_not_is_an_error)
{
    struct arena *vast = arena_new(SIZE_MAX);
    ck_assert_ptr_null(arena_alloc(vast, (size_t)1 << 60, &err));
    ck_assert_int_eq(err.code, ERROR_MEMORY);
    ck_assert_uint_eq(arena_held(vast), 0);
    arena_free(vast);
}
END_TEST

START_TEST(calloc_clears_reused_room)
{
    for (size_t size = 100; size < MIB; size *= 5) {
        unsigned char *dirty = arena_alloc(arena, size, &err);
        memset(dirty, 0xa5, size);
        arena_drop(arena, dirty);
        unsigned char *clean = arena_calloc(arena, size, 1, &err);
        size_t i = 0;
        while (i < size && clean[i] == 0)
            i++;
        ck_assert_uint_eq(i, size);
        arena_drop(arena, clean);
    }
}
END_TEST

START_TEST(resize_keeps_contents_up_and_down)
{
    unsigned char *block = NULL;
    size_t before = 0;
    static const size_t sizes[] = {10, 100, 5000, 16000, 17000, 100000, 8 * MIB, 20 * MIB, 3 * MIB, 20000, 100, 0, 700};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        block = arena_resize(arena, block, sizes[i], &err);
        ck_assert_ptr_nonnull(block);
        ck_assert_uint_eq((uintptr_t)block % ARENA_ALIGNMENT, 0);
        if (i > 0)
            check_filled(block, before < sizes[i] ? before : sizes[i], i - 1);
        fill(block, sizes[i], i);
        before = sizes[i];
    }
    ck_assert_uint_le(arena_held(arena), 20000);
}
END_TEST

START_TEST(a_refused_resize_leaves_the_block)
{
    unsigned char *small = arena_alloc(arena, 1000, &err);
    unsigned char *large = arena_alloc(arena, MIB, &err);
    fill(small, 1000, 1);
    fill(large, MIB, 2);
    size_t held = arena_held(arena);
    ck_assert_ptr_null(arena_resize(arena, small, 64 * MIB, &err));
    ck_assert_ptr_null(arena_resize(arena, large, 64 * MIB, &err));
    ck_assert_ptr_null(arena_resize(arena, large, SIZE_MAX, &err));
    ck_assert_int_eq(err.code, ERROR_TOO_LARGE);
    ck_assert_uint_eq(arena_held(arena), held);
    check_filled(small, 1000, 1);
    check_filled(large, MIB, 2);
}
END_TEST

START_TEST(growing_a_block_counts_it_once)
{
    void *block = arena_alloc(arena, 40 * MIB, &err);
    block = arena_resize(arena, block, 60 * MIB, &err);
    ck_assert_ptr_nonnull(block);
    ck_assert_uint_le(arena_held(arena), 61 * MIB);
}
END_TEST

START_TEST(dropped_room_is_used_again)
{
    void *kept = arena_alloc(arena, 100, &err);
    for (size_t i = 0; i < 100000; i++) {
        void *first = arena_alloc(arena, 9000, &err);
        void *second = arena_alloc(arena, 30000, &err);
        ck_assert(first && second);
        arena_drop(arena, second);
        arena_drop(arena, first);
    }
    arena_drop(arena, kept);
    arena_drop(arena, NULL);
    ck_assert_uint_eq(arena_held(arena), 0);
}
END_TEST

/* Blocks in random order of making, growing and dropping, each checked before it goes. */
START_TEST(any_order_of_use_is_sound)
{
    enum { BLOCKS = 200 };
    unsigned char *blocks[BLOCKS] = {0};
    size_t sizes[BLOCKS] = {0};
    uint64_t state = 1;
    for (size_t step = 0; step < 20000; step++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        size_t i = (size_t)(state >> 33) % BLOCKS;
        size_t size = (size_t)(state >> 40) % ((state >> 60) == 0 ? 60000 : 3000);
        if (blocks[i])
            check_filled(blocks[i], sizes[i] < 64 ? sizes[i] : 64, i);
        if (state >> 63) {
            arena_drop(arena, blocks[i]);
            blocks[i] = NULL;
            continue;
        }
        blocks[i] = arena_resize(arena, blocks[i], size, &err);
        ck_assert_ptr_nonnull(blocks[i]);
        sizes[i] = size;
        fill(blocks[i], size, i);
    }
    for (size_t i = 0; i < BLOCKS; i++)
        arena_drop(arena, blocks[i]);
    ck_assert_uint_eq(arena_held(arena), 0);
}
END_TEST

START_TEST(memory_that_was_made_elsewhere_counts_and_is_freed)
{
    size_t before = arena_held(arena);
    void *block = malloc(MIB);
    ck_assert_ptr_nonnull(block);
    ck_assert(arena_adopt(arena, block, MIB, &err));
    ck_assert_uint_ge(arena_held(arena), before + MIB);
    block = malloc(1);
    ck_assert_ptr_nonnull(block);
    ck_assert(!arena_adopt(arena, block, 64 * MIB, &err)); /* past the limit: it stays ours */
    ck_assert(err.code == ERROR_TOO_LARGE);
    free(block);
}
END_TEST

Suite *arena_suite(void);

Suite *arena_suite(void)
{
    Suite *suite = suite_create("arena");
    TCase *tests = tcase_create("arena");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, blocks_are_aligned_and_apart);
    tcase_add_test(tests, memory_that_was_made_elsewhere_counts_and_is_freed);
    tcase_add_test(tests, the_limit_holds_and_names_its_numbers);
    tcase_add_test(tests, many_tiny_blocks_reach_the_limit_too);
    tcase_add_test(tests, sizes_that_overflow_are_refused);
    tcase_add_test(tests, memory_that_the_system_has_not_is_an_error);
    tcase_add_test(tests, calloc_clears_reused_room);
    tcase_add_test(tests, resize_keeps_contents_up_and_down);
    tcase_add_test(tests, a_refused_resize_leaves_the_block);
    tcase_add_test(tests, growing_a_block_counts_it_once);
    tcase_add_test(tests, dropped_room_is_used_again);
    tcase_add_test(tests, any_order_of_use_is_sound);
    suite_add_tcase(suite, tests);
    return suite;
}
