/* OpenBLAS: start-up checks and the two products that attention needs. */
#include "core/tensor/blas.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>

static blasint blas_int(size_t n)
{
    return (blasint)n; /* below BLAS_SIZE_LIMIT: attention_check */
}

void blas_product_add(enum dtype dtype, enum blas_side b_side, struct blas_sizes sizes, double alpha, const void *a,
                      size_t a_stride, const void *b, size_t b_stride, bool add, void *c, size_t c_stride)
{
    const enum CBLAS_TRANSPOSE side = b_side == BLAS_TRANSPOSED ? CblasTrans : CblasNoTrans;
    const blasint m = blas_int(sizes.m);
    const blasint n = blas_int(sizes.n);
    const blasint k = blas_int(sizes.k);
    if (dtype == DTYPE_FLOAT64)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, side, m, n, k, alpha, a, blas_int(a_stride), b, blas_int(b_stride),
                    add ? 1.0 : 0.0, c, blas_int(c_stride));
    else
        cblas_sgemm(CblasRowMajor, CblasNoTrans, side, m, n, k, (float)alpha, a, blas_int(a_stride), b,
                    blas_int(b_stride), add ? 1.0F : 0.0F, c, blas_int(c_stride));
}

void blas_product_of_transposed_add(enum dtype dtype, struct blas_sizes sizes, const void *a, size_t a_stride,
                                    const void *b, size_t b_stride, void *c, size_t c_stride)
{
    const blasint m = blas_int(sizes.m);
    const blasint n = blas_int(sizes.n);
    const blasint k = blas_int(sizes.k);
    if (dtype == DTYPE_FLOAT64)
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, m, n, k, 1, a, blas_int(a_stride), b, blas_int(b_stride),
                    1, c, blas_int(c_stride));
    else
        cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, m, n, k, 1, a, blas_int(a_stride), b, blas_int(b_stride),
                    1, c, blas_int(c_stride));
}

void blas_product(enum dtype dtype, enum blas_side b_side, size_t m, size_t n, size_t k, const void *a, size_t a_stride,
                  const void *b, size_t b_stride, void *c, size_t c_stride)
{
    blas_product_add(dtype, b_side, (struct blas_sizes){m, n, k}, 1, a, a_stride, b, b_stride, false, c, c_stride);
}

/* Small integers: every product and sum is exact in both types, so the comparison may be exact too. */
static double test_value(size_t row, size_t column)
{
    return (double)((row * 7 + column * 3) % 11) - 5.0;
}

static void fill(enum dtype dtype, void *data, size_t rows, size_t columns)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < columns; c++)
            dtype_set(dtype, data, r * columns + c, test_value(r, c));
}

static bool product_is_right(enum dtype dtype, enum blas_side side, size_t m, size_t n, size_t k, double *work)
{
    void *a = work;
    void *b = work + m * k;
    void *c = work + m * k + k * n;
    fill(dtype, a, m, k);
    fill(dtype, b, side == BLAS_TRANSPOSED ? n : k, side == BLAS_TRANSPOSED ? k : n);
    blas_product(dtype, side, m, n, k, a, k, b, side == BLAS_TRANSPOSED ? k : n, c, n);
    for (size_t i = 0; i < m * n; i++) {
        double sum = 0;
        for (size_t t = 0; t < k; t++)
            sum += test_value(i / n, t) * (side == BLAS_TRANSPOSED ? test_value(i % n, t) : test_value(t, i % n));
        if (dtype_get(dtype, c, i) != sum)
            return false;
    }
    return true;
}

static bool products_are_right(double *work)
{
    static const size_t shapes[][3] = {{1, 1, 1}, {1, 67, 33}, {3, 5, 7}, {64, 64, 64}, {65, 33, 17}, {16, 130, 80}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int kind = 0; kind < 4; kind++)
            if (!product_is_right(kind & 1 ? DTYPE_FLOAT32 : DTYPE_FLOAT64, kind & 2 ? BLAS_TRANSPOSED : BLAS_PLAIN,
                                  shapes[s][0], shapes[s][1], shapes[s][2], work))
                return false;
    return true;
}

bool blas_start(struct error *err)
{
    openblas_set_num_threads(1);
    if (openblas_get_parallel() != OPENBLAS_THREAD)
        return error_set(err, ERROR_INVALID, "",
                         "OpenBLAS is not the pthread flavour (%s): install libopenblas0-pthread",
                         openblas_get_config());
    if (openblas_get_num_threads() != 1)
        return error_set(err, ERROR_INVALID, "", "OpenBLAS does not keep to one thread per call");
    double *work = calloc(3 * 130 * 130, sizeof *work);
    if (!work)
        return error_set(err, ERROR_MEMORY, "", "No memory for the check of OpenBLAS.");
    bool right = products_are_right(work);
    free(work);
    return right || error_set(err, ERROR_INVALID, "",
                              "OpenBLAS computes wrong products with its kernel %s; OPENBLAS_CORETYPE=Haswell may help",
                              openblas_get_corename());
}

void blas_warm(void)
{
    enum { M = 512, N = 512, K = 64 };
    float *work = calloc((size_t)M * K + (size_t)K * N + (size_t)M * N, sizeof *work);
    if (work)
        blas_product(DTYPE_FLOAT32, BLAS_PLAIN, M, N, K, work, K, work + (size_t)M * K, N,
                     work + (size_t)M * K + (size_t)K * N, N);
    free(work);
}

const char *blas_config(void)
{
    return openblas_get_config();
}

const char *blas_core(void)
{
    return openblas_get_corename();
}
