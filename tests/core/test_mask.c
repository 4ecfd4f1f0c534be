/* Masks: the drawings of the contract, every rule against the reference, and what is refused. */
#include "core/mask.h"
#include "tests/core/trial.h"

#include <check.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define ROW_MAX 64

/* "110/011": a line for each query, 1 where it may see the key. */
static void draw_mask(const struct mask_request *request, struct mask_sizes sizes, char *out)
{
    struct error err = {0};
    struct mask mask;
    struct arena *arena = arena_new(1 << 20);
    ck_assert_msg(mask_check(request, sizes, &err), "%s", err.faults[0].text);
    ck_assert(mask_prepare(&mask, request, sizes, DTYPE_FLOAT64, arena, &err));
    for (size_t i = 0; i < sizes.queries; i++) {
        unsigned char visible[ROW_MAX];
        struct mask_span span = mask_row(&mask, 0, 0, i, 0, sizes.keys, visible);
        for (size_t j = 0; j < sizes.keys; j++)
            *out++ = j >= span.begin && j < span.end && (!span.some || visible[j]) ? '1' : '0';
        *out++ = i + 1 < sizes.queries ? '/' : '\0';
    }
    arena_free(arena);
}

static void assert_mask(struct mask_request request, size_t n, size_t m, size_t past, const char *expected)
{
    char drawn[ROW_MAX * ROW_MAX];
    draw_mask(&request, (struct mask_sizes){1, 1, n, m, past}, drawn);
    ck_assert_str_eq(drawn, expected);
}

static struct integers list(const int64_t *values, size_t count)
{
    return (struct integers){.values = values, .count = count};
}

/* j <= i + offset, never clamped. */
START_TEST(causal_masks_look_as_drawn)
{
    struct mask_request start = {.causal = true}, end = {.causal = true, .align_end = true};
    assert_mask(start, 2, 5, 0, "10000/11000");
    assert_mask(end, 2, 5, 0, "11110/11111");
    assert_mask(end, 5, 2, 0, "00/00/00/10/11");
    assert_mask(start, 5, 2, 0, "10/11/11/11/11");
    assert_mask(start, 2, 5, 3, "11110/11111");
}
END_TEST

/* p - left <= j <= p + right with p = i + offset. */
START_TEST(windows_look_as_drawn)
{
    struct mask_request window = {.has_window = true, .left = 1, .right = 0};
    assert_mask(window, 2, 5, 3, "00110/00011");
    assert_mask(window, 4, 3, 0, "100/110/011/001");
    struct mask_request left = {.has_window = true, .left = 1, .right = WINDOW_UNLIMITED};
    assert_mask(left, 3, 4, 0, "1111/1111/0111");
    struct mask_request causal = {.causal = true, .has_window = true, .left = 1, .right = 2};
    assert_mask(causal, 4, 4, 0, "1000/1100/0110/0011");
    struct mask_request widest = {.has_window = true, .left = INT64_MAX - 1, .right = INT64_MAX - 1};
    assert_mask(widest, 2, 3, 0, "111/111");
}
END_TEST

/* ((R < prefix) or causal) and window. */
START_TEST(prefixes_look_as_drawn)
{
    struct mask_request prefix = {.causal = true, .has_prefix = true, .prefix = 2};
    assert_mask(prefix, 4, 4, 0, "1100/1100/1110/1111");
    prefix.has_window = true;
    prefix.left = 1;
    prefix.right = 1;
    assert_mask(prefix, 4, 4, 0, "1100/1100/0110/0011");
}
END_TEST

/* Positions count inside the document; ids need not be contiguous. */
START_TEST(documents_look_as_drawn)
{
    const int64_t ids[] = {1, 2, 1, 2, 1}, two[] = {2, 2}, keys[] = {1, 2, 2, 1, 2};
    struct mask_request mask = {.query_documents = list(ids, 5), .key_documents = list(ids, 5)};
    assert_mask(mask, 5, 5, 0, "10101/01010/10101/01010/10101");
    mask.causal = true;
    assert_mask(mask, 5, 5, 0, "10000/01000/10100/01010/10101");
    struct mask_request past = {.causal = true, .query_documents = list(two, 2), .key_documents = list(keys, 5)};
    assert_mask(past, 2, 5, 3, "01101/01101"); /* two keys of document 2 in the past: positions 2 and 3 */
    past.align_end = true;
    assert_mask(past, 2, 5, 3, "01100/01101"); /* three keys less two queries: positions 1 and 2 */
}
END_TEST

/* key_lengths[b] hides the keys at and past it. */
START_TEST(key_lengths_hide_the_rest)
{
    const int64_t lengths[] = {2}, none[] = {0};
    struct mask_request mask = {.key_lengths = list(lengths, 1)};
    assert_mask(mask, 2, 4, 0, "1100/1100");
    mask.key_lengths = list(none, 1);
    assert_mask(mask, 2, 4, 0, "0000/0000");
}
END_TEST

/* H = 12: those of 8, then four between them. */
START_TEST(alibi_slopes_are_the_published_ones)
{
    const double expected[12] = {0.5,       0.25,       0.125,      0.0625,     0.03125,    0.015625,
                                 0.0078125, 0.00390625, 0.70710678, 0.35355339, 0.17677670, 0.08838835};
    double slopes[12];
    mask_alibi_slopes(12, slopes);
    for (size_t h = 0; h < 12; h++)
        ck_assert_double_eq_tol(slopes[h], expected[h], 1e-8);
    mask_alibi_slopes(1, slopes);
    ck_assert_double_eq(slopes[0], 0.00390625);
}
END_TEST

static void compare_row(const struct mask *mask, const struct reference *ref, const size_t at[3], uint64_t seed)
{
    size_t b = at[0], h = at[1], i = at[2];
    unsigned char visible[ROW_MAX];
    double bias[ROW_MAX] = {0};
    struct mask_span span = mask_row(mask, b, h, i, 0, ref->keys, visible);
    ck_assert_uint_le(span.end, ref->keys);
    mask_add_bias(mask, b, h, i, 0, ref->keys, bias);
    for (size_t j = 0; j < ref->keys; j++) {
        double expected = reference_has_bias(ref->request) ? reference_bias(ref, b, h, i, j) : 0;
        bool sees = reference_sees(ref, b, h, i, j) && !isinf(expected);
        bool found = j >= span.begin && j < span.end && (!span.some || visible[j]);
        if (found != sees)
            ck_abort_msg("seed %" PRIu64 ": b %zu h %zu i %zu j %zu: %s", seed, b, h, i, j,
                         sees ? "must see" : "must not see");
        if (bias[j] != expected && !(fabs(bias[j] - expected) <= 1e-13 * fabs(expected)))
            ck_abort_msg("seed %" PRIu64 ": bias of b %zu h %zu i %zu j %zu is %.17g, not %.17g", seed, b, h, i, j,
                         bias[j], expected);
    }
}

/* A part of the keys is the same as that part of all keys. */
static void compare_part(const struct mask *mask, const size_t at[3], size_t from, size_t to, uint64_t seed)
{
    unsigned char all[ROW_MAX], part[ROW_MAX];
    double whole_bias[ROW_MAX] = {0}, bias[ROW_MAX] = {0};
    struct mask_span whole = mask_row(mask, at[0], at[1], at[2], 0, mask->sizes.keys, all);
    struct mask_span span = mask_row(mask, at[0], at[1], at[2], from, to, part);
    mask_add_bias(mask, at[0], at[1], at[2], 0, mask->sizes.keys, whole_bias);
    mask_add_bias(mask, at[0], at[1], at[2], from, to, bias);
    for (size_t j = from; j < to; j++) {
        bool expected = j >= whole.begin && j < whole.end && (!whole.some || all[j]);
        bool found = j >= span.begin && j < span.end && (!span.some || part[j - from]);
        if (found != expected || bias[j - from] != whole_bias[j])
            ck_abort_msg("seed %" PRIu64 ": key %zu of %zu .. %zu", seed, j, from, to);
    }
}

static void compare_mask(uint64_t seed)
{
    struct draw draw = {seed};
    struct error err = {0};
    struct trial trial;
    struct reference ref;
    struct mask mask;
    trial_start(&trial, trial_shape_random(&draw, DTYPE_FLOAT64), &draw);
    trial_mask_random(&trial, &draw);
    reference_sizes(&ref, &trial.request);
    struct mask_sizes sizes = {ref.batch, ref.heads, ref.queries, ref.keys, ref.past};
    ck_assert_msg(mask_check(&trial.request.mask, sizes, &err), "seed %" PRIu64 ": %s: %s", seed, err.faults[0].name,
                  err.faults[0].text);
    ck_assert(mask_prepare(&mask, &trial.request.mask, sizes, DTYPE_FLOAT64, trial.arena, &err));
    ck_assert_int_eq(mask_has_bias(&mask), reference_has_bias(&trial.request));
    for (size_t b = 0; b < ref.batch; b++) {
        for (size_t h = 0; h < ref.heads; h++) {
            for (size_t i = 0; i < ref.queries; i++) {
                size_t from = draw_size(&draw, 0, ref.keys - 1), to = draw_size(&draw, from + 1, ref.keys);
                compare_row(&mask, &ref, (const size_t[3]){b, h, i}, seed);
                compare_part(&mask, (const size_t[3]){b, h, i}, from, to, seed);
            }
        }
    }
    trial_end(&trial);
}

/* Every combination of rules is the AND of the rules, cell by cell, and biases add. */
START_TEST(random_masks_equal_the_reference)
{
    for (uint64_t seed = 1; seed <= 1500; seed++)
        compare_mask(seed);
}
END_TEST

/* A hiding bias gives -infinity whatever stood there. */
START_TEST(a_hiding_bias_wins_over_anything)
{
    const double table[] = {-INFINITY, -INFINITY, -INFINITY, 1};
    double row[] = {INFINITY, (double)NAN, 3, 4};
    struct mask_request request = {.bias = tensor_dense(DTYPE_FLOAT64, 2, (const size_t[]){1, 4}, (void *)table)};
    struct mask_sizes sizes = {1, 1, 1, 4, 0};
    struct arena *arena = arena_new(1 << 20);
    struct error err = {0};
    struct mask mask;
    ck_assert(mask_check(&request, sizes, &err) && mask_prepare(&mask, &request, sizes, DTYPE_FLOAT64, arena, &err));
    mask_add_bias(&mask, 0, 0, 0, 0, 4, row);
    ck_assert(row[0] == -INFINITY && row[1] == -INFINITY && row[2] == -INFINITY);
    ck_assert_double_eq(row[3], 5);
    arena_free(arena);
}
END_TEST

static void assert_refused(struct mask_request request, const char *name)
{
    struct error err = {0};
    bool good = mask_check(&request, (struct mask_sizes){2, 2, 3, 5, 0}, &err);
    ck_assert_msg(!good, "accepted, but %s is at fault", name);
    ck_assert_int_eq(err.code, ERROR_INVALID);
    ck_assert_msg(strncmp(err.faults[0].name, name, strlen(name)) == 0, "%s is named, not %s: %s", err.faults[0].name,
                  name, err.faults[0].text);
    ck_assert_uint_gt(strlen(err.faults[0].text), 0);
}

/* Two batches, two heads, three queries, five keys. */
START_TEST(what_does_not_fit_is_refused)
{
    const int64_t values[] = {1, 1, 1, 1, 1, 1}, negative[] = {-1, 2}, long_ones[] = {5, 6};
    const double slopes[] = {1, 1, 1};
    unsigned char cells[30] = {0};
    struct tensor wrong = tensor_dense(DTYPE_BOOL, 2, (const size_t[]){3, 4}, cells);
    struct tensor per_batch = tensor_dense(DTYPE_BOOL, 3, (const size_t[]){5, 3, 5}, cells);
    struct tensor bias = tensor_dense(DTYPE_FLOAT64, 2, (const size_t[]){2, 5}, cells);
    assert_refused((struct mask_request){.allow = wrong}, "mask.allow");
    assert_refused((struct mask_request){.allow = per_batch}, "mask.allow");
    assert_refused((struct mask_request){.bias = bias}, "mask.bias");
    assert_refused((struct mask_request){.causal = true, .align_end = true, .query_offset = list(values, 2)}, "mask.");
    assert_refused((struct mask_request){.causal = true, .query_offset = list(values, 3)}, "mask.query_offset");
    assert_refused((struct mask_request){.has_prefix = true, .prefix = 2}, "mask.prefix");
    assert_refused((struct mask_request){.key_lengths = list(values, 3)}, "mask.key_lengths");
    assert_refused((struct mask_request){.key_lengths = list(negative, 2)}, "mask.key_lengths");
    assert_refused((struct mask_request){.key_lengths = list(long_ones, 2)}, "mask.key_lengths");
    assert_refused((struct mask_request){.query_documents = list(values, 2), .key_documents = list(values, 5)},
                   "mask.documents");
    assert_refused((struct mask_request){.query_documents = list(values, 3), .key_documents = list(values, 6)},
                   "mask.documents");
    assert_refused((struct mask_request){.alibi = true, .alibi_slopes = {slopes, 3}}, "mask.alibi");
}
END_TEST

Suite *mask_suite(void);

Suite *mask_suite(void)
{
    TCase *tests = tcase_create("masks");
    tcase_set_timeout(tests, 30);
    tcase_add_test(tests, causal_masks_look_as_drawn);
    tcase_add_test(tests, windows_look_as_drawn);
    tcase_add_test(tests, prefixes_look_as_drawn);
    tcase_add_test(tests, documents_look_as_drawn);
    tcase_add_test(tests, key_lengths_hide_the_rest);
    tcase_add_test(tests, alibi_slopes_are_the_published_ones);
    tcase_add_test(tests, random_masks_equal_the_reference);
    tcase_add_test(tests, a_hiding_bias_wins_over_anything);
    tcase_add_test(tests, what_does_not_fit_is_refused);
    Suite *suite = suite_create("mask");
    suite_add_tcase(suite, tests);
    return suite;
}
