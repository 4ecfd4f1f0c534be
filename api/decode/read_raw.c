/* Bytes to the request's dtype. */
#include "api/decode/read_raw.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "tensors come as little-endian bytes and are taken as they are"
#endif

/* --- checks --- */

static bool check_booleans(struct decoder *d, struct tensor t, const struct json_path *at)
{
    const unsigned char *values = t.data;
    size_t count = tensor_count(t);
    for (size_t x = 0; values && x < count; x++)
        if (values[x] > 1)
            return decoder_fault_at(d, t, x, at, "is neither 0 nor 1.");
    return true;
}

/* The exponent of a number that is not finite is all ones: one pass without a branch for the numbers that are good. */
static bool are_finite(struct tensor t)
{
    const float *narrow = t.dtype == DTYPE_FLOAT32 ? t.data : NULL;
    const double *wide = t.dtype == DTYPE_FLOAT64 ? t.data : NULL;
    size_t count = tensor_count(t);
    bool good = true;
    if (!narrow && !wide)
        return dtype_find_overflow(t.dtype, t.data, count) == count;
    for (size_t x = 0; narrow && x < count; x++)
        good &= isfinite(narrow[x]) != 0;
    for (size_t x = 0; wide && x < count; x++)
        good &= isfinite(wide[x]) != 0;
    return good;
}

static bool check_finite(struct decoder *d, struct tensor t, enum raw_use use, const struct json_path *at)
{
    size_t count = are_finite(t) ? 0 : tensor_count(t);
    bool hides = use == RAW_BIAS;
    for (size_t x = 0; x < count; x++) {
        double value = dtype_get(t.dtype, t.data, x);
        if (!isfinite(value) && !(hides && value == -HUGE_VAL))
            return decoder_fault_at(d, t, x, at,
                                    hides ? "is NaN or +infinity; -infinity alone has a meaning here."
                                          : "is not finite; only mask.bias takes -infinity.");
    }
    return true;
}

static bool check_values(struct decoder *d, struct tensor t, enum raw_use use, const struct json_path *at)
{
    return use == RAW_ALLOW ? check_booleans(d, t, at) : check_finite(d, t, use, at);
}

static bool check_type(struct decoder *d, struct tensor t, enum raw_use use, const struct json_path *at)
{
    bool booleans = t.dtype == DTYPE_BOOL;
    bool integers = t.dtype == DTYPE_INT16 || t.dtype == DTYPE_INT64;
    if (use == RAW_ALLOW)
        return booleans || json_path_fault(d->err, at, "is of %s; it must be of booleans: 1 = may attend, 0 = hidden.",
                                           dtype_name(t.dtype));
    return (!booleans && !integers) ||
           json_path_fault(d->err, at, "is of %s; it must be of floats.", dtype_name(t.dtype));
}

/* Counts its numbers, too. */
static bool check_shape(struct decoder *d, struct tensor t, const struct json_path *at)
{
    char shape[128];
    if (t.rank == 0)
        return json_path_fault(d->err, at, "has an empty shape; it must be a list of numbers at least.");
    for (size_t axis = 0; axis < t.rank; axis++)
        if (t.shape[axis] == 0)
            return json_path_fault(d->err, at, "has shape %s; every size must be at least 1.",
                                   tensor_shape_text(t, shape, sizeof shape));
    return decoder_count(d, tensor_count(t));
}

/* --- conversions --- */

static bool is_aligned(struct tensor t)
{
    return (uintptr_t)t.data % dtype_size(t.dtype) == 0;
}

/* A block of the arena with the same bytes. */
static bool copy(struct decoder *d, struct tensor *t)
{
    size_t bytes = tensor_count(*t) * dtype_size(t->dtype);
    void *aligned = arena_alloc(d->arena, bytes, d->err);
    if (aligned)
        t->data = memcpy(aligned, t->data, bytes);
    return aligned != NULL;
}

/* Into a block of its own; a narrower dtype widens exactly. */
static bool convert(struct decoder *d, struct tensor t, enum dtype dtype, const struct json_path *at,
                    struct tensor *out)
{
    size_t count = tensor_count(t);
    void *other = arena_calloc(d->arena, count, dtype_size(dtype), d->err);
    if (!other)
        return false;
    for (size_t x = 0; x < count; x++)
        dtype_set(dtype, other, x, dtype_get(t.dtype, t.data, x));
    *out = tensor_dense(dtype, t.rank, t.shape, other);
    for (size_t x = 0; dtype == DTYPE_FLOAT32 && t.dtype == DTYPE_FLOAT64 && x < count; x++)
        if (isinf(dtype_get(dtype, other, x)) && isfinite(dtype_get(t.dtype, t.data, x)))
            return decoder_fault_at(d, t, x, at, DECODER_TOO_LARGE);
    return true;
}

static bool narrow(struct decoder *d, struct tensor t, const struct json_path *at, struct tensor *out)
{
    if (!decoder_narrow(d, t, at))
        return false;
    void *data = arena_resize(d->arena, t.data, tensor_count(t) * sizeof(float), d->err);
    if (data)
        *out = tensor_dense(DTYPE_FLOAT32, t.rank, t.shape, data);
    return data != NULL;
}

bool read_raw_owned(struct decoder *d, struct tensor t, enum raw_use use, const struct json_path *at,
                    struct tensor *out)
{
    if (!check_values(d, t, use, at))
        return false;
    if (use == RAW_ALLOW || t.dtype == *d->dtype) {
        *out = t;
        return true;
    }
    if (t.dtype == DTYPE_FLOAT64)
        return narrow(d, t, at, out);
    bool good = convert(d, t, *d->dtype, at, out);
    arena_drop(d->arena, t.data);
    return good;
}

bool read_raw(struct decoder *d, struct tensor t, enum raw_use use, const struct json_path *at, struct tensor *out)
{
    if (!check_type(d, t, use, at) || !check_shape(d, t, at))
        return false;
    if (!is_aligned(t))
        return copy(d, &t) && read_raw_owned(d, t, use, at, out);
    if (!check_values(d, t, use, at))
        return false;
    if (use != RAW_ALLOW && t.dtype != *d->dtype)
        return convert(d, t, *d->dtype, at, out);
    *out = t;
    return true;
}

bool read_raw_doubles(struct decoder *d, struct tensor t, const struct json_path *at, struct tensor *out)
{
    if (t.dtype == DTYPE_BOOL)
        return json_path_fault(d->err, at, "is of booleans; it must be of numbers.");
    return check_shape(d, t, at) && (is_aligned(t) || copy(d, &t)) && check_finite(d, t, RAW_NUMBERS, at) &&
           convert(d, t, DTYPE_FLOAT64, at, out);
}
