/* Kernels by name, and products held against plain loops. */
#include "core/tensor/blas_kernel.h"

#include "core/tensor/blas.h"

#include <stdlib.h>
#include <strings.h>

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))

/* All others are older. */
static const struct {
    const char *name;
    enum blas_vectors vectors;
} known[] = {
    {"Haswell", BLAS_VECTORS_AVX2},          {"Zen", BLAS_VECTORS_AVX2},
    {"SkylakeX", BLAS_VECTORS_AVX512},       {"Cooperlake", BLAS_VECTORS_AVX512},
    {"SapphireRapids", BLAS_VECTORS_AVX512},
};

/* What every build of the last years has, the best first. */
static const struct {
    const char *name;
    enum blas_vectors vectors;
} offered[] = {{"SkylakeX", BLAS_VECTORS_AVX512}, {"Haswell", BLAS_VECTORS_AVX2}};

#ifdef __x86_64__
enum blas_vectors blas_kernel_processor(void)
{
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                  __builtin_cpu_supports("avx512cd");
    return !avx2 ? BLAS_VECTORS_OLD : avx512 ? BLAS_VECTORS_AVX512 : BLAS_VECTORS_AVX2;
}
#else
enum blas_vectors blas_kernel_processor(void)
{
    return BLAS_VECTORS_OLD;
}
#endif

static enum blas_vectors vectors_of(const char *kernel)
{
    for (size_t x = 0; x < COUNT(known); x++)
        if (strcasecmp(known[x].name, kernel) == 0)
            return known[x].vectors;
    return BLAS_VECTORS_OLD;
}

const char *blas_kernel_better(const char *taken, enum blas_vectors processor, size_t index)
{
    for (size_t x = 0; x < COUNT(offered); x++)
        if (offered[x].vectors <= processor && offered[x].vectors > vectors_of(taken) && index-- == 0)
            return offered[x].name;
    return NULL;
}

/* --- the check --- */

/* Integers as small that every sum is exact in both types: whatever the order, the result is one number. */
static double value_at(size_t row, size_t column)
{
    return (double)((row * 31 + column * 17) % 13) - 6;
}

static void *fill(enum dtype dtype, size_t rows, size_t columns)
{
    void *data = malloc(rows * columns * sizeof(double));
    for (size_t x = 0; data && x < rows * columns; x++) {
        double value = value_at(x / columns, x % columns);
        if (dtype == DTYPE_FLOAT64)
            ((double *)data)[x] = value;
        else
            ((float *)data)[x] = (float)value;
    }
    return data;
}

static bool is_product(enum dtype dtype, enum blas_side side, struct blas_sizes s, const void *c)
{
    for (size_t x = 0; x < s.m * s.n; x++) {
        double sum = 0;
        for (size_t t = 0; t < s.k; t++)
            sum += value_at(x / s.n, t) * (side == BLAS_TRANSPOSED ? value_at(x % s.n, t) : value_at(t, x % s.n));
        if ((dtype == DTYPE_FLOAT64 ? ((const double *)c)[x] : (double)((const float *)c)[x]) != sum)
            return false;
    }
    return true;
}

static bool check_product(enum dtype dtype, enum blas_side side, struct blas_sizes s)
{
    size_t rows = side == BLAS_TRANSPOSED ? s.n : s.k;
    size_t columns = side == BLAS_TRANSPOSED ? s.k : s.n;
    void *a = fill(dtype, s.m, s.k);
    void *b = fill(dtype, rows, columns);
    void *c = fill(dtype, s.m, s.n);
    bool good = a && b && c;
    if (good) {
        blas_product(dtype, side, s.m, s.n, s.k, a, s.k, b, columns, c, s.n);
        good = is_product(dtype, side, s, c);
    }
    free(a);
    free(b);
    free(c);
    return good;
}

bool blas_kernel_is_right(void)
{
    static const struct blas_sizes sizes[] = {
        {1, 300, 64}, {64, 64, 64}, {67, 129, 33}, {130, 260, 80}, {192, 64, 260}};
    struct error err = {0};
    bool good = blas_start(&err);
    for (size_t x = 0; good && x < COUNT(sizes); x++)
        for (int kind = 0; good && kind < 4; kind++)
            good = check_product(kind & 1 ? DTYPE_FLOAT32 : DTYPE_FLOAT64, kind & 2 ? BLAS_TRANSPOSED : BLAS_PLAIN,
                                 sizes[x]);
    return good;
}
