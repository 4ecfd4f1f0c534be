/* A matrix times a weight, its rows shared out to a pool. */
#ifndef CORE_TENSOR_PROJECTION_H
#define CORE_TENSOR_PROJECTION_H

#include "core/tensor/blas.h"
#include "core/tensor/pool.h"

#include <stdatomic.h>

/* y[rows][outer] = x[rows][inner] w + bias[outer]; w is [inner][outer], or [outer][inner] where w_side is
 * BLAS_TRANSPOSED. Strides are those of rows, in numbers. bias NULL: none. */
struct projection {
    enum dtype dtype;
    size_t rows, inner, outer;
    const void *x, *w, *bias;
    void *y;
    size_t x_stride, w_stride, y_stride;
    enum blas_side w_side;
    const atomic_bool *cancel; /* or NULL */
};

/* All rows; ERROR_INVALID at `name` where a number of y is not finite, ERROR_CANCELLED when *cancel is true. */
bool projection_run(const struct projection *projection, const char *name, struct pool *pool, struct error *err);

#endif
