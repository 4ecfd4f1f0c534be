/* From codes back to numbers. */
#include "core/cache/quantize.h"

#include "core/forward/flush.h"

#include <math.h>
#include <string.h>

/* One token on its way back. */
struct decoding {
    const struct quantized *q;
    size_t head, j;                 /* of [b][g]; of the quantised tokens */
    double *rounded, *turned, *sum; /* [d] each */
};

size_t quantize_room(const struct quantized *q)
{
    return 3 * q->width;
}

static const int16_t *row_of_codes(const struct decoding *d, struct tensor codes)
{
    return (const int16_t *)codes.data + (d->head * d->q->count + d->j) * d->q->width;
}

/* --- numbers that share a scale --- */

/* Number t of the token shares scale `from` + t / `run`. */
struct sharing {
    size_t from, run;
};

static struct sharing share(const struct decoding *d)
{
    const struct quantized *q = d->q;
    switch (q->axis) {
    case QUANTIZE_CHANNEL:
        return (struct sharing){(d->head * (q->count / q->group) + d->j / q->group) * q->width, 1};
    case QUANTIZE_TOKEN:
        return (struct sharing){(d->head * q->count + d->j) * (q->width / q->group), q->group};
    case QUANTIZE_TENSOR:
        break;
    }
    return (struct sharing){d->head, q->width};
}

static void decode_scaled(const struct decoding *d)
{
    const struct quantize_key *key = &d->q->key;
    const int16_t *code = row_of_codes(d, d->q->codes);
    const struct sharing sharing = share(d);
    for (size_t t = 0, x = sharing.from; t < d->q->width; x++) {
        double zero = key->zero ? key->zero[x] : 0;
        for (size_t end = t + sharing.run; t < end; t++)
            d->rounded[t] = (key->value ? key->value[code[t]] : code[t]) * key->scale[x] + zero;
    }
}

/* --- turboquant --- */

/* y^ += sqrt(pi / 2) / d gamma S^T sign(S r) */
static void add_sketch(const struct decoding *d)
{
    const struct quantized *q = d->q;
    const int16_t *sign = row_of_codes(d, q->sign);
    double gamma = q->key.residual_norm[d->head * q->count + d->j];
    double factor = sqrt(acos(0)) / (double)q->width * gamma; /* acos(0) is pi / 2 */
    for (size_t t = 0; t < q->width; t++)
        d->turned[t] = sign[t];
    rotation_undo(&q->key.sketch, d->turned, d->sum);
    for (size_t t = 0; t < q->width; t++)
        d->rounded[t] += factor * d->sum[t];
}

static void decode_direction(const struct decoding *d)
{
    const struct quantized *q = d->q;
    const int16_t *code = row_of_codes(d, q->codes);
    for (size_t t = 0; t < q->width; t++)
        d->rounded[t] = q->key.centroids.level[code[t]];
    double length = q->side->renormalize ? rotation_norm(d->rounded, q->width) : 1;
    for (size_t t = 0; length > 0 && t < q->width; t++)
        d->rounded[t] /= length;
    if (q->sign.rank)
        add_sketch(d);
}

/* --- rows --- */

/* x^ = factor R^T y^ */
static void write_row(const struct decoding *d, double factor, void *out)
{
    const struct quantized *q = d->q;
    const double *x = d->rounded;
    if (q->key.rotation.width) {
        rotation_undo(&q->key.rotation, d->rounded, d->turned);
        x = d->turned;
    }
    for (size_t t = 0; q->dequantized.dtype == DTYPE_FLOAT64 && t < q->width; t++)
        ((double *)out)[t] = factor * x[t] + 0.0;
    for (size_t t = 0; q->dequantized.dtype == DTYPE_FLOAT32 && t < q->width; t++)
        ((float *)out)[t] = (float)(factor * x[t] + 0.0);
}

static void decode_token(const struct decoding *d, void *out)
{
    const struct quantized *q = d->q;
    if (q->side->method == QUANTIZE_TURBOQUANT) {
        decode_direction(d);
        write_row(d, q->key.norm[d->head * q->count + d->j], out);
    } else {
        decode_scaled(d);
        write_row(d, 1, out);
    }
}

/* Subnormal numbers are kept, whoever asks: some ask while they are flushed, some do not. */
void quantize_decode(const struct quantized *q, struct quantized_rows at, void *out, double *room)
{
    uint64_t control = flush_pause();
    size_t size = q->width * dtype_size(q->dequantized.dtype);
    struct decoding d = {.q = q, .head = at.b * q->heads + at.g, .rounded = room};
    d.turned = room + q->width;
    d.sum = room + 2 * q->width;
    for (size_t x = 0; x < at.count; x++) {
        char *row = (char *)out + x * size;
        d.j = at.first + x - q->first;
        if (at.first + x < q->first || d.j >= q->count)
            memcpy(row, tensor_row(q->key.exact, at.b, at.g, at.first + x), size);
        else
            decode_token(&d, row);
    }
    flush_end(control);
}
