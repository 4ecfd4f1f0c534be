/* What enters the scores: inputs in every layout, rotated, the past in front. */
#include "tests/core/reference.h"

#include <math.h>

double reference_element(struct tensor t, size_t index)
{
    switch (t.dtype) {
    case DTYPE_FLOAT64:
        return ((const double *)t.data)[index];
    case DTYPE_FLOAT32:
        return (double)((const float *)t.data)[index];
    case DTYPE_BOOL:
    case DTYPE_INT16:
    case DTYPE_FLOAT16:
    case DTYPE_BFLOAT16:
    case DTYPE_INT64:
        break;
    }
    return ((const unsigned char *)t.data)[index];
}

/* One element of an input of rank 2, 3, 4 or packed with `heads` heads: head h, row r, feature t. */
static double input_at(struct tensor x, size_t heads, size_t b, size_t h, size_t r, size_t t)
{
    const size_t *stride = x.stride;
    if (heads > 0) {
        size_t width = x.shape[x.rank - 1] / heads;
        size_t start = x.rank == 3 ? b * stride[0] : 0;
        return reference_element(x, start + r * stride[x.rank - 2] + (h * width + t) * stride[x.rank - 1]);
    }
    size_t start = x.rank == 4 ? b * stride[0] + h * stride[1] : x.rank == 3 ? h * stride[0] : 0;
    return reference_element(x, start + r * stride[x.rank - 2] + t * stride[x.rank - 1]);
}

/* Rotates one row of d numbers to `position`. */
static void rotate(const struct rope_request *rope, size_t d, double position, double *row)
{
    size_t r = rope->dims > 0 ? rope->dims : d;
    for (size_t t = 0; t < r / 2; t++) {
        size_t first = rope->interleaved ? 2 * t : t, second = rope->interleaved ? 2 * t + 1 : t + r / 2;
        long double angle =
            (long double)position * powl((long double)rope->theta, -2 * (long double)t / (long double)r);
        double cosine = (double)cosl(angle), sine = (double)sinl(angle);
        double x1 = row[first], x2 = row[second];
        row[first] = cosine * x1 - sine * x2;
        row[second] = sine * x1 + cosine * x2;
    }
}

static double position_of(struct integers given, size_t b, size_t r, size_t past)
{
    if (given.values == NULL)
        return (double)(past + r);
    return (double)given.values[given.rows > 0 ? b * (given.count / given.rows) + r : r];
}

void reference_query(const struct reference *ref, size_t b, size_t h, size_t i, double *row)
{
    const struct attention_request *request = ref->request;
    for (size_t t = 0; t < ref->d_k; t++)
        row[t] = input_at(request->q, request->heads, b, h, i, t);
    if (request->rope.on)
        rotate(&request->rope, ref->d_k, position_of(request->rope.query_positions, b, i, ref->past), row);
}

void reference_key(const struct reference *ref, size_t b, size_t g, size_t j, double *row)
{
    const struct attention_request *request = ref->request;
    size_t packed = request->heads > 0 ? ref->kv_heads : 0, fresh = j - ref->past;
    for (size_t t = 0; t < ref->d_k; t++)
        row[t] =
            j < ref->past ? input_at(request->past_k, 0, b, g, j, t) : input_at(request->k, packed, b, g, fresh, t);
    if (request->rope.on && j >= ref->past)
        rotate(&request->rope, ref->d_k, position_of(request->rope.key_positions, b, fresh, ref->past), row);
}

double reference_value(const struct reference *ref, size_t b, size_t g, size_t j, size_t t)
{
    const struct attention_request *request = ref->request;
    size_t packed = request->heads > 0 ? ref->kv_heads : 0;
    return j < ref->past ? input_at(request->past_v, 0, b, g, j, t)
                         : input_at(request->v, packed, b, g, j - ref->past, t);
}
