/* Matrix products by OpenBLAS: the only door to it. */
#ifndef CORE_TENSOR_BLAS_H
#define CORE_TENSOR_BLAS_H

#include "core/tensor/error.h"
#include "core/tensor/tensor.h"

/* Call once, before any thread of ours exists: one BLAS thread per call, the pthread flavour (others give wrong results
 * or ignore the setting), and a few products checked against a plain loop. ERROR_INVALID says what is wrong. */
bool blas_start(struct error *err);

/* One product large enough that the calling thread gets its BLAS buffer now and not under load. */
void blas_warm(void);

const char *blas_config(void); /* version and build options */
const char *blas_core(void);   /* the kernel in use, "Haswell" ... */

/* Sizes and strides are below this: OpenBLAS counts in 32 bits. */
#define BLAS_SIZE_LIMIT ((size_t)1 << 31)

enum blas_side { BLAS_PLAIN, BLAS_TRANSPOSED };

/* c[m][n] = alpha a[m][k] b[k][n] (+ c where `add`), or with BLAS_TRANSPOSED a[m][k] b[n][k]^T; row strides in
 * elements; without `add` c is overwritten, whatever it held. alpha is not 0. dtype float64 or float32. */
struct blas_sizes {
    size_t m, n, k;
};
void blas_product_add(enum dtype dtype, enum blas_side b_side, struct blas_sizes sizes, double alpha, const void *a,
                      size_t a_stride, const void *b, size_t b_stride, bool add, void *c, size_t c_stride);

/* c[m][n] += a[k][m]^T b[k][n]. */
void blas_product_of_transposed_add(enum dtype dtype, struct blas_sizes sizes, const void *a, size_t a_stride,
                                    const void *b, size_t b_stride, void *c, size_t c_stride);

/* blas_product_add with alpha 1, without `add`. */
void blas_product(enum dtype dtype, enum blas_side b_side, size_t m, size_t n, size_t k, const void *a, size_t a_stride,
                  const void *b, size_t b_stride, void *c, size_t c_stride);

#endif
