/* Packing of texts and of streams in pieces, and who gets which coding. */
#include "server/coding/content_packing.h"

#include <check.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

Suite *content_packing_suite(void);

#define LENGTH ((size_t)300000)

static const enum content_encoding codings[] = {CONTENT_ENCODING_GZIP, CONTENT_ENCODING_ZSTD};

/* Numbers, zeros, or bytes that nothing makes shorter. */
static struct buffer make_text(int kind)
{
    struct buffer text = buffer_new(SIZE_MAX);
    uint64_t state = 1;
    char *out = buffer_reserve(&text, LENGTH);
    ck_assert_ptr_nonnull(out);
    for (size_t i = 0; i < LENGTH; i++) {
        state = state * UINT64_C(6364136223846793005) + 1;
        unsigned draw = (unsigned)(state >> 56);
        out[i] = kind == 0 ? "0123456789,."[draw % 12] : kind == 1 ? '0' : (char)draw;
    }
    text.length = LENGTH;
    return text;
}

static void check_unpacks(struct buffer *packed, enum content_encoding coding, const struct buffer *text)
{
    struct budget budget = {.limit = 64 << 20};
    struct error err;
    size_t charged = 0;
    error_init(&err);
    ck_assert(content_encoding_unpack(packed, coding, LENGTH, &budget, &charged, &err));
    ck_assert_uint_eq(packed->length, text->length);
    ck_assert_int_eq(memcmp(packed->data, text->data, text->length), 0);
    ck_assert_uint_eq(budget.held, charged);
    budget_give(&budget, charged);
    buffer_free(packed);
}

START_TEST(texts_come_back)
{
    for (int kind = 0; kind < 3; kind++)
        for (int lasting = 0; lasting < 2; lasting++) {
            struct buffer text = make_text(kind);
            struct buffer packed = make_text(kind);
            ck_assert((lasting ? content_packing_pack_lasting : content_packing_pack)(&packed, codings[_i]));
            ck_assert(kind == 2 || packed.length < LENGTH * 2 / 3);
            ck_assert_uint_lt(packed.length, LENGTH + LENGTH / 100);
            check_unpacks(&packed, codings[_i], &text);
            buffer_free(&text);
        }
}
END_TEST

/* Pieces are packed in any order; an empty one is possible. */
START_TEST(pieces_are_one_stream)
{
    static const size_t ends[] = {1, 100000, 100000, LENGTH};
    for (int kind = 0; kind < 3; kind++) {
        struct buffer text = make_text(kind);
        struct buffer out = buffer_new(SIZE_MAX);
        struct buffer packed[4];
        struct content_packing_sum sums[4];
        struct content_packing_sum sum = {0};
        for (size_t i = 4; i-- > 0;) {
            size_t start = i ? ends[i - 1] : 0;
            struct buffer piece = {.data = text.data + start, .length = ends[i] - start};
            packed[i] = buffer_new(content_packing_most(piece.length));
            ck_assert(content_packing_piece(codings[_i], &piece, i == 3, &packed[i], &sums[i]));
        }
        content_packing_begin(codings[_i], &out);
        for (size_t i = 0; i < 4; i++) {
            content_packing_fold(&sum, &sums[i]);
            buffer_append(&out, packed[i].data, packed[i].length);
            buffer_free(&packed[i]);
        }
        content_packing_end(codings[_i], &sum, &out);
        ck_assert(!out.failed);
        check_unpacks(&out, codings[_i], &text);
        buffer_free(&text);
    }
}
END_TEST

START_TEST(operator_limits_codings)
{
    static const struct {
        const char *accept;
        enum settings_compression most;
        enum content_encoding coding;
    } rows[] = {
        {"gzip, deflate, br, zstd", SETTINGS_COMPRESS_ALL, CONTENT_ENCODING_ZSTD},
        {"gzip, deflate, br, zstd", SETTINGS_COMPRESS_GZIP, CONTENT_ENCODING_GZIP},
        {"gzip, deflate, br, zstd", SETTINGS_COMPRESS_NONE, CONTENT_ENCODING_NONE},
        {"gzip, deflate", SETTINGS_COMPRESS_ALL, CONTENT_ENCODING_GZIP},
        {"zstd", SETTINGS_COMPRESS_GZIP, CONTENT_ENCODING_NONE},
        {"*", SETTINGS_COMPRESS_ALL, CONTENT_ENCODING_GZIP},
        {"gzip;q=0, *", SETTINGS_COMPRESS_ALL, CONTENT_ENCODING_NONE},
        {"", SETTINGS_COMPRESS_ALL, CONTENT_ENCODING_NONE},
        {NULL, SETTINGS_COMPRESS_ALL, CONTENT_ENCODING_NONE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ck_assert_msg(content_encoding_choose(rows[i].accept, rows[i].most) == rows[i].coding, "%s: %d",
                      rows[i].accept ? rows[i].accept : "none", (int)rows[i].most);
}
END_TEST

Suite *content_packing_suite(void)
{
    Suite *suite = suite_create("content packing");
    TCase *tests = tcase_create("codings");
    tcase_add_loop_test(tests, texts_come_back, 0, 2);
    tcase_add_loop_test(tests, pieces_are_one_stream, 0, 2);
    tcase_add_test(tests, operator_limits_codings);
    suite_add_tcase(suite, tests);
    return suite;
}
