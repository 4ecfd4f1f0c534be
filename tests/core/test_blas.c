/* Matrix products against the plain loop. */
#include "core/attention.h"
#include "core/tensor/blas.h"
#include "tests/core/draw.h"
#include "tests/core/reference.h"
#include "tests/core/trial.h"

#include <check.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void start(void)
{
    struct error err = {0};
    ck_assert_msg(blas_start(&err), "%s", err.faults[0].text);
    blas_warm();
}

/* rows x width numbers with `stride` elements from row to row; the gaps hold NaN, which must not matter. */
static struct tensor matrix(enum dtype dtype, size_t rows, size_t width, size_t stride, struct draw *draw)
{
    struct tensor t = {.dtype = dtype, .rank = 2, .shape = {rows, width}, .stride = {stride, 1}};
    t.data = malloc(rows * stride * dtype_size(dtype));
    ck_assert_ptr_nonnull(t.data);
    for (size_t at = 0; at < rows * stride; at++)
        trial_set(t, at, at % stride < width ? draw_real(draw) : (double)NAN);
    return t;
}

struct product {
    enum dtype dtype;
    enum blas_side side;
    size_t m, n, k;
};

static double expected_at(const struct product *p, struct tensor a, struct tensor b, size_t i, size_t j)
{
    double sum = 0;
    for (size_t t = 0; t < p->k; t++) {
        size_t at = p->side == BLAS_TRANSPOSED ? j * b.stride[0] + t : t * b.stride[0] + j;
        sum += reference_element(a, i * a.stride[0] + t) * reference_element(b, at);
    }
    return sum;
}

static void check_product(const struct product *p, struct tensor a, struct tensor b, struct tensor c, uint64_t seed)
{
    double room = (p->dtype == DTYPE_FLOAT32 ? 2e-6 : 1e-14) * sqrt((double)p->k) * 10;
    for (size_t i = 0; i < p->m; i++) {
        for (size_t j = 0; j < c.stride[0]; j++) {
            double found = reference_element(c, i * c.stride[0] + j);
            if (j >= p->n) {
                if (!isnan(found))
                    ck_abort_msg("seed %" PRIu64 ": wrote past row %zu", seed, i);
                continue;
            }
            double expected = expected_at(p, a, b, i, j);
            if (!(fabs(found - expected) <= room))
                ck_abort_msg("seed %" PRIu64 ": c[%zu][%zu] is %.17g, not %.17g", seed, i, j, found, expected);
        }
    }
}

static void run_product(struct product p, uint64_t seed)
{
    struct draw draw = {seed};
    bool flip = p.side == BLAS_TRANSPOSED;
    struct tensor a = matrix(p.dtype, p.m, p.k, p.k + draw_size(&draw, 0, 3), &draw);
    size_t b_width = flip ? p.k : p.n;
    struct tensor b = matrix(p.dtype, flip ? p.n : p.k, b_width, b_width + draw_size(&draw, 0, 3), &draw);
    struct tensor c = matrix(p.dtype, p.m, p.n, p.n + draw_size(&draw, 0, 3), &draw);
    for (size_t at = 0; at < p.m * c.stride[0]; at++)
        trial_set(c, at, NAN); /* overwritten, not added to */
    blas_product(p.dtype, p.side, p.m, p.n, p.k, a.data, a.stride[0], b.data, b.stride[0], c.data, c.stride[0]);
    check_product(&p, a, b, c, seed);
    free(a.data);
    free(b.data);
    free(c.data);
}

/* c_ij = sum_t a_it b_tj, or a_it b_jt, for sizes from 1 up, odd ones and past the blocks of the kernels. */
START_TEST(products_equal_the_plain_loop)
{
    for (uint64_t seed = 1; seed <= 120; seed++) {
        struct draw draw = {seed};
        size_t top = seed % 10 == 0 ? 300 : 20;
        size_t m = draw_size(&draw, 1, top), n = draw_size(&draw, 1, top);
        struct product p = {.m = m, .n = n, .k = draw_size(&draw, 1, top)};
        p.dtype = draw_chance(&draw, 50) ? DTYPE_FLOAT32 : DTYPE_FLOAT64;
        p.side = draw_chance(&draw, 50) ? BLAS_TRANSPOSED : BLAS_PLAIN;
        run_product(p, seed);
    }
}
END_TEST

/* The same product gives the same bits each time. */
START_TEST(products_repeat_their_bits)
{
    struct draw draw = {5};
    struct tensor a = matrix(DTYPE_FLOAT32, 65, 48, 48, &draw), b = matrix(DTYPE_FLOAT32, 70, 48, 48, &draw);
    float *first = malloc(sizeof(float) * 65 * 70), *again = malloc(sizeof(float) * 65 * 70);
    ck_assert(first != NULL && again != NULL);
    blas_product(DTYPE_FLOAT32, BLAS_TRANSPOSED, 65, 70, 48, a.data, 48, b.data, 48, first, 70);
    blas_product(DTYPE_FLOAT32, BLAS_TRANSPOSED, 65, 70, 48, a.data, 48, b.data, 48, again, 70);
    ck_assert_mem_eq(first, again, sizeof(float) * 65 * 70);
    free(a.data);
    free(b.data);
    free(first);
    free(again);
}
END_TEST

START_TEST(the_library_says_what_it_is)
{
    ck_assert_ptr_nonnull(strstr(blas_config(), "OpenBLAS"));
    ck_assert_uint_gt(strlen(blas_core()), 0);
}
END_TEST

/* OpenBLAS counts in 32 bits. Shapes alone are looked at. */
START_TEST(axes_past_32_bits_are_refused)
{
    struct error err = {0};
    struct attention a;
    float number = 0;
    size_t many = (size_t)1 << 31;
    struct attention_request r = {.dtype = DTYPE_FLOAT32};
    r.q = tensor_dense(DTYPE_FLOAT32, 2, (const size_t[]){1, 1}, &number);
    r.k = r.v = tensor_dense(DTYPE_FLOAT32, 2, (const size_t[]){many - 1, 1}, &number);
    ck_assert(attention_check(&a, &r, &err));
    r.k = r.v = tensor_dense(DTYPE_FLOAT32, 2, (const size_t[]){many, 1}, &number);
    ck_assert(!attention_check(&a, &r, &err));
    ck_assert_int_eq(err.code, ERROR_TOO_LARGE);
}
END_TEST

Suite *blas_suite(void);

Suite *blas_suite(void)
{
    TCase *tests = tcase_create("products");
    tcase_add_test(tests, axes_past_32_bits_are_refused);
    tcase_add_checked_fixture(tests, start, NULL);
    tcase_add_test(tests, products_equal_the_plain_loop);
    tcase_add_test(tests, products_repeat_their_bits);
    tcase_add_test(tests, the_library_says_what_it_is);
    Suite *suite = suite_create("blas");
    suite_add_tcase(suite, tests);
    return suite;
}
