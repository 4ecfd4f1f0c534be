/* Looking up rows, and where they stand. */
#include "core/backward/embedding.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool check_ids(const struct attention_request *r, struct error *err)
{
    const struct integers ids = r->ids;
    for (size_t at = 0; ids.values && at < ids.count; at++) {
        char name[64];
        if (ids.values[at] >= 0 && (uint64_t)ids.values[at] < r->embedding.shape[0])
            continue;
        if (ids.rows > 0)
            snprintf(name, sizeof name, "ids.%zu.%zu", at / (ids.count / ids.rows), at % (ids.count / ids.rows));
        else
            snprintf(name, sizeof name, "ids.%zu", at);
        return error_set(err, ERROR_INVALID, name, "Id %lld is no row of embedding, which has %zu.",
                         (long long)ids.values[at], r->embedding.shape[0]);
    }
    return true;
}

bool embedding_check(const struct attention_request *r, struct error *err)
{
    if (r->ids.values && r->x.data)
        return error_set(err, ERROR_INVALID, "ids", "ids and x both say what is projected: give one of them.");
    if (r->ids.values && !r->embedding.data)
        return error_set(err, ERROR_INVALID, "ids", "ids are rows of embedding, which is missing.");
    if (r->embedding.data && !r->ids.values)
        return error_set(err, ERROR_INVALID, "embedding",
                         "embedding means nothing without ids, which choose its rows.");
    if (r->embedding.data && r->embedding.rank != 2)
        return error_set(err, ERROR_INVALID, "embedding", "embedding is a matrix [vocabulary][d_model].");
    if (r->sinusoidal && !r->ids.values && !r->x.data)
        return error_set(err, ERROR_INVALID, "positions",
                         "positions are added to x, or to the rows of embedding: give one of them.");
    return check_ids(r, err);
}

static double load(enum dtype dtype, const void *data, size_t at)
{
    return dtype == DTYPE_FLOAT64 ? ((const double *)data)[at] : (double)((const float *)data)[at];
}

static void store(enum dtype dtype, void *data, size_t at, double value)
{
    if (dtype == DTYPE_FLOAT64)
        ((double *)data)[at] = value;
    else
        ((float *)data)[at] = (float)value;
}

static double wave(size_t position, size_t feature, size_t width)
{
    size_t pair = feature / 2;
    double angle = (double)position * pow(10000, -2 * (double)pair / (double)width);
    return feature % 2 ? cos(angle) : sin(angle);
}

static size_t past_length(const struct attention_request *r)
{
    if (r->past_latent.data)
        return r->past_latent.shape[r->past_latent.rank - 2];
    return r->past_k.data && r->past_k.rank >= 2 ? r->past_k.shape[r->past_k.rank - 2] : 0;
}

static struct tensor shape_of(const struct attention_request *r)
{
    const struct integers ids = r->ids;
    if (!ids.values)
        return r->x;
    const size_t shape[3] = {ids.rows, ids.rows ? ids.count / ids.rows : ids.count, r->embedding.shape[1]};
    return tensor_dense(r->dtype, ids.rows ? 3 : 2, shape + (ids.rows ? 0 : 1), NULL);
}

static void fill_row(const struct attention_request *r, struct tensor x, size_t row)
{
    size_t width = x.shape[x.rank - 1];
    size_t position = past_length(r) + row % x.shape[x.rank - 2];
    for (size_t t = 0; t < width; t++) {
        double value = r->ids.values ? load(r->dtype, r->embedding.data, (size_t)r->ids.values[row] * width + t)
                                     : load(r->dtype, r->x.data, row * width + t);
        store(r->dtype, x.data, row * width + t, r->sinusoidal ? value + wave(position, t, width) : value);
    }
}

bool embedding_gather(struct attention_request *r, struct arena *arena, struct error *err)
{
    struct tensor x = shape_of(r);
    if ((!r->ids.values && !r->sinusoidal) || x.rank < 2)
        return true;
    size_t count;
    size_t width = x.shape[x.rank - 1];
    if (!size_multiply(r->ids.values ? r->ids.count : tensor_count(x) / width, width, &count))
        return error_set(err, ERROR_TOO_LARGE, "ids", "The rows of all ids have too many numbers.");
    x.data = arena_calloc(arena, count, dtype_size(r->dtype), err);
    if (!x.data)
        return false;
    for (size_t row = 0; row < count / width; row++)
        fill_row(r, x, row);
    r->x = x;
    return true;
}

bool embedding_scatter(const struct attention_request *r, const void *by_x, void *out, struct arena *arena,
                       struct error *err)
{
    size_t width = r->embedding.shape[1];
    size_t count = tensor_count(r->embedding);
    double *sum = arena_calloc(arena, count, sizeof *sum, err);
    if (!sum)
        return false;
    for (size_t at = 0; at < r->ids.count * width; at++)
        sum[(size_t)r->ids.values[at / width] * width + at % width] += load(r->dtype, by_x, at);
    for (size_t at = 0; at < count; at++)
        store(r->dtype, out, at, sum[at] + 0);
    arena_drop(arena, sum);
    return true;
}
