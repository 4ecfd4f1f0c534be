/* Views and their sizes. */
#include "core/tensor.h"

#include <stdio.h>

static const struct {
    const char *name;
    size_t size;
} dtypes[] = {
    [DTYPE_FLOAT64] = {"float64", 8},
    [DTYPE_FLOAT32] = {"float32", 4},
    [DTYPE_BOOL] = {"bool", 1},
    [DTYPE_INT16] = {"int16", 2},
};

size_t dtype_size(enum dtype dtype)
{
    return dtypes[dtype].size;
}

const char *dtype_name(enum dtype dtype)
{
    return dtypes[dtype].name;
}

struct tensor tensor_dense(enum dtype dtype, size_t rank, const size_t *shape, void *data)
{
    struct tensor t = {.data = data, .dtype = dtype, .rank = rank};
    size_t stride = 1;
    for (size_t a = rank; a-- > 0; stride *= shape[a]) {
        t.shape[a] = shape[a];
        t.stride[a] = stride;
    }
    return t;
}

size_t tensor_count(struct tensor t)
{
    size_t count = 1;
    for (size_t a = 0; a < t.rank; a++)
        count *= t.shape[a];
    return count;
}

bool size_multiply(size_t a, size_t b, size_t *product)
{
    return !__builtin_mul_overflow(a, b, product);
}

char *tensor_shape_text(struct tensor t, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t a = 0; a < t.rank && used < size; a++)
        used += (size_t)snprintf(out + used, size - used, "[%zu]", t.shape[a]);
    return out;
}
