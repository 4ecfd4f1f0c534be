/* Which kernel of OpenBLAS is better than the one it took. */
#include "core/tensor/blas_kernel.h"

#include <check.h>
#include <stddef.h>

static const struct {
    const char *taken;
    enum blas_vectors processor;
    const char *better[2];
} rows[] = {
    {"Prescott", BLAS_VECTORS_AVX512, {"SkylakeX", "Haswell"}},
    {"Prescott", BLAS_VECTORS_AVX2, {"Haswell", NULL}},
    {"Prescott", BLAS_VECTORS_OLD, {NULL, NULL}},
    {"Sandybridge", BLAS_VECTORS_AVX2, {"Haswell", NULL}},
    {"Haswell", BLAS_VECTORS_AVX512, {"SkylakeX", NULL}},
    {"Zen", BLAS_VECTORS_AVX2, {NULL, NULL}},
    {"SKYLAKEX", BLAS_VECTORS_AVX512, {NULL, NULL}},
    {"Cooperlake", BLAS_VECTORS_AVX512, {NULL, NULL}},
    {"SapphireRapids", BLAS_VECTORS_AVX512, {NULL, NULL}},
    {"neoversen1", BLAS_VECTORS_OLD, {NULL, NULL}},
};

START_TEST(a_kernel_is_better_when_it_uses_more_of_the_processor)
{
    for (size_t x = 0; x < 2; x++) {
        const char *better = blas_kernel_better(rows[_i].taken, rows[_i].processor, x);
        ck_assert_pstr_eq(better, rows[_i].better[x]);
        if (!better)
            break;
    }
}
END_TEST

START_TEST(the_kernel_in_use_is_right)
{
    ck_assert(blas_kernel_is_right());
}
END_TEST

Suite *blas_kernel_suite(void);

Suite *blas_kernel_suite(void)
{
    Suite *suite = suite_create("blas kernel");
    TCase *tests = tcase_create("all");
    tcase_add_loop_test(tests, a_kernel_is_better_when_it_uses_more_of_the_processor, 0,
                        (int)(sizeof rows / sizeof *rows));
    tcase_add_test(tests, the_kernel_in_use_is_right);
    suite_add_tcase(suite, tests);
    return suite;
}
