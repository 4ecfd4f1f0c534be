/* Projecting. */
#include "core/projection.h"

#include <math.h>

#define ROWS_PER_TASK 64

static void add_bias(const struct projection *p, size_t row)
{
    for (size_t c = 0; c < p->outer; c++)
        if (p->dtype == DTYPE_FLOAT64)
            ((double *)p->y)[row * p->y_stride + c] += ((const double *)p->bias)[c];
        else
            ((float *)p->y)[row * p->y_stride + c] += ((const float *)p->bias)[c];
}

static void run_rows(void *context, size_t index, size_t worker)
{
    (void)worker;
    const struct projection *p = context;
    size_t first = index * ROWS_PER_TASK;
    size_t count = p->rows - first < ROWS_PER_TASK ? p->rows - first : ROWS_PER_TASK;
    size_t size = dtype_size(p->dtype);
    blas_product(p->dtype, p->w_side, count, p->outer, p->inner, (const char *)p->x + first * p->x_stride * size,
                 p->x_stride, p->w, p->w_stride, (char *)p->y + first * p->y_stride * size, p->y_stride);
    for (size_t row = first; p->bias && row < first + count; row++)
        add_bias(p, row);
}

static bool is_finite_at(const struct projection *p, size_t row, size_t column)
{
    size_t at = row * p->y_stride + column;
    return p->dtype == DTYPE_FLOAT64 ? isfinite(((const double *)p->y)[at]) : isfinite(((const float *)p->y)[at]);
}

bool projection_run(const struct projection *p, const char *name, struct pool *pool, struct error *err)
{
    struct projection work = *p;
    pool_run(pool, (p->rows + ROWS_PER_TASK - 1) / ROWS_PER_TASK, run_rows, &work);
    for (size_t row = 0; row < p->rows; row++)
        for (size_t column = 0; column < p->outer; column++)
            if (!is_finite_at(p, row, column))
                return error_set(err, ERROR_INVALID, name, "The projection by %s overflows %s in row %zu, column %zu.",
                                 name, dtype_name(p->dtype), row, column);
    return true;
}
