/* Projecting. */
#include "core/tensor/projection.h"

#define ROWS_PER_TASK 64

static void add_bias(const struct projection *p, size_t row)
{
    for (size_t c = 0; c < p->outer; c++) {
        size_t at = row * p->y_stride + c;
        dtype_set(p->dtype, p->y, at, dtype_get(p->dtype, p->y, at) + dtype_get(p->dtype, p->bias, c));
    }
}

static bool is_cancelled(const struct projection *p)
{
    return p->cancel && atomic_load_explicit(p->cancel, memory_order_relaxed);
}

static void run_rows(void *context, size_t index, size_t worker)
{
    (void)worker;
    const struct projection *p = context;
    size_t first = index * ROWS_PER_TASK;
    if (is_cancelled(p))
        return;
    size_t count = p->rows - first < ROWS_PER_TASK ? p->rows - first : ROWS_PER_TASK;
    size_t size = dtype_size(p->dtype);
    blas_product(p->dtype, p->w_side, count, p->outer, p->inner, (const char *)p->x + first * p->x_stride * size,
                 p->x_stride, p->w, p->w_stride, (char *)p->y + first * p->y_stride * size, p->y_stride);
    for (size_t row = first; p->bias && row < first + count; row++)
        add_bias(p, row);
}

bool projection_run(const struct projection *p, const char *name, struct pool *pool, struct error *err)
{
    struct projection work = *p;
    pool_run(pool, (p->rows + ROWS_PER_TASK - 1) / ROWS_PER_TASK, run_rows, &work);
    if (is_cancelled(p))
        return error_set(err, ERROR_CANCELLED, "", "The request was given up.");
    for (size_t row = 0; row < p->rows; row++) {
        const char *y = (const char *)p->y + row * p->y_stride * dtype_size(p->dtype);
        size_t column = dtype_find_overflow(p->dtype, y, p->outer);
        if (column < p->outer)
            return error_set(err, ERROR_INVALID, name, "The projection by %s overflows %s in row %zu, column %zu.",
                             name, dtype_name(p->dtype), row, column);
    }
    return true;
}
