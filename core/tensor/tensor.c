/* Views and their sizes. */
#include "core/tensor/tensor.h"

#include "core/tensor/format.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static double get_float64(const void *data, size_t at)
{
    return ((const double *)data)[at];
}

static void set_float64(void *data, size_t at, double value)
{
    ((double *)data)[at] = value;
}

static double get_float32(const void *data, size_t at)
{
    return (double)((const float *)data)[at];
}

static void set_float32(void *data, size_t at, double value)
{
    ((float *)data)[at] = (float)value;
}

static double get_bool(const void *data, size_t at)
{
    return ((const unsigned char *)data)[at];
}

static void set_bool(void *data, size_t at, double value)
{
    ((unsigned char *)data)[at] = value != 0;
}

static double get_int16(const void *data, size_t at)
{
    return ((const int16_t *)data)[at];
}

static void set_int16(void *data, size_t at, double value)
{
    ((int16_t *)data)[at] = (int16_t)value;
}

static float from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t to_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* The exponent is 15 too small for a float's bias of 127: the product mends it, for subnormal numbers as well. */
static double get_float16(const void *data, size_t at)
{
    uint32_t half = ((const uint16_t *)data)[at];
    uint32_t sign = (half & 0x8000U) << 16;
    if ((half & 0x7c00U) == 0x7c00U)
        return (double)from_bits(sign | 0x7f800000U | (half & 0x3ffU) << 13);
    return (double)(from_bits(sign | (half & 0x7fffU) << 13) * 0x1p112F);
}

static void set_float16(void *data, size_t at, double value)
{
    uint32_t bits = to_bits((float)format_round(FORMAT_FLOAT16, value));
    uint32_t sign = bits >> 16 & 0x8000U;
    bits &= 0x7fffffffU;
    bits = bits >= 0x7f800000U ? 0x7c00U | (bits & 0x7fffffU) >> 13 : to_bits(from_bits(bits) * 0x1p-112F) >> 13;
    ((uint16_t *)data)[at] = (uint16_t)(sign | bits);
}

static double get_bfloat16(const void *data, size_t at)
{
    return (double)from_bits((uint32_t)((const uint16_t *)data)[at] << 16);
}

static void set_bfloat16(void *data, size_t at, double value)
{
    ((uint16_t *)data)[at] = (uint16_t)(to_bits((float)format_round(FORMAT_BFLOAT16, value)) >> 16);
}

static double get_int64(const void *data, size_t at)
{
    return (double)((const int64_t *)data)[at];
}

static void set_int64(void *data, size_t at, double value)
{
    ((int64_t *)data)[at] = (int64_t)value;
}

static const struct {
    const char *name;
    size_t size;
    double (*get)(const void *data, size_t at);
    void (*set)(void *data, size_t at, double value);
} dtypes[] = {
    [DTYPE_FLOAT64] = {"float64", 8, get_float64, set_float64},
    [DTYPE_FLOAT32] = {"float32", 4, get_float32, set_float32},
    [DTYPE_BOOL] = {"bool", 1, get_bool, set_bool},
    [DTYPE_INT16] = {"int16", 2, get_int16, set_int16},
    [DTYPE_FLOAT16] = {"float16", 2, get_float16, set_float16},
    [DTYPE_BFLOAT16] = {"bfloat16", 2, get_bfloat16, set_bfloat16},
    [DTYPE_INT64] = {"int64", 8, get_int64, set_int64},
};

size_t dtype_size(enum dtype dtype)
{
    return dtypes[dtype].size;
}

const char *dtype_name(enum dtype dtype)
{
    return dtypes[dtype].name;
}

double dtype_get(enum dtype dtype, const void *data, size_t at)
{
    return dtypes[dtype].get(data, at);
}

void dtype_set(enum dtype dtype, void *data, size_t at, double value)
{
    dtypes[dtype].set(data, at, value);
}

size_t dtype_find_overflow(enum dtype dtype, const void *data, size_t count)
{
    size_t at = 0;
    while (at < count && isfinite(dtypes[dtype].get(data, at)))
        at++;
    return at;
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

void *tensor_row(struct tensor t, size_t b, size_t h, size_t row)
{
    return (char *)t.data + (b * t.stride[0] + h * t.stride[1] + row * t.stride[2]) * dtype_size(t.dtype);
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
