/* The keys that one query sees, and what is added to its scores. */
#include "core/mask.h"

#include <math.h>
#include <string.h>

static int64_t add_saturated(int64_t a, int64_t b)
{
    int64_t sum;
    if (__builtin_add_overflow(a, b, &sum))
        return a < 0 ? INT64_MIN : INT64_MAX;
    return sum;
}

/* P(i) in batch b. */
static int64_t query_position(const struct mask *mask, size_t b, size_t i)
{
    const struct mask_request *r = mask->request;
    int64_t offset = (int64_t)mask->sizes.past;
    if (r->query_offset.values)
        offset = r->query_offset.values[r->query_offset.scalar ? 0 : b];
    else if (mask->query_position)
        offset = 0;
    else if (r->align_end)
        offset = (int64_t)mask->sizes.keys - (int64_t)mask->sizes.queries;
    return add_saturated(offset, mask->query_position ? mask->query_position[i] : (int64_t)i);
}

struct positions {
    int64_t low, high; /* low <= R < high */
};

/* The positions that causal, prefix and window leave to a query at p: always one interval. */
static struct positions allowed_positions(const struct mask_request *r, int64_t p)
{
    struct positions span = {0, INT64_MAX};
    if (r->causal)
        span.high = add_saturated(p, 1);
    if (r->causal && r->has_prefix && r->prefix > span.high)
        span.high = r->prefix;
    if (r->has_window && r->left != WINDOW_UNLIMITED && add_saturated(p, -r->left) > span.low)
        span.low = add_saturated(p, -r->left);
    if (r->has_window && r->right != WINDOW_UNLIMITED && add_saturated(add_saturated(p, r->right), 1) < span.high)
        span.high = add_saturated(add_saturated(p, r->right), 1);
    return span;
}

static size_t clamp_position(int64_t position, size_t from, size_t to)
{
    return position <= (int64_t)from ? from : (uint64_t)position > to ? to : (size_t)position;
}

static size_t row_start(struct tensor t, size_t b, size_t h, size_t i)
{
    return b * t.stride[0] + h * t.stride[1] + i * t.stride[2];
}

/* The functions below clear visible[0 ..], which stands for the keys of `span`, where a key is hidden. */

static void keep_document(const struct mask *mask, size_t i, struct positions positions, struct mask_span span,
                          unsigned char *visible)
{
    int64_t id = mask->request->query_documents.values[i];
    const int64_t *ids = mask->request->key_documents.values;
    for (size_t j = span.begin; j < span.end; j++)
        visible[j - span.begin] &=
            ids[j] == id && mask->key_position[j] >= positions.low && mask->key_position[j] < positions.high;
}

static void keep_allowed(struct tensor allow, size_t at, struct mask_span span, unsigned char *visible)
{
    const unsigned char *row = (const unsigned char *)allow.data + at;
    for (size_t j = span.begin; j < span.end; j++)
        visible[j - span.begin] &= row[j * allow.stride[3]];
}

static void keep_unhidden(struct tensor bias, size_t at, struct mask_span span, unsigned char *visible)
{
    for (size_t j = span.begin; j < span.end; j++)
        visible[j - span.begin] &= !mask_hides(bias, at + j * bias.stride[3]);
}

/* The span that causal, prefix, window and lengths leave of the keys from .. to. */
static struct mask_span reach(const struct mask *mask, size_t b, struct positions positions, size_t from, size_t to)
{
    const struct integers lengths = mask->request->key_lengths;
    struct mask_span span = {from, to, mask->key_position || mask->allow.data || mask->bias_hides};
    if (lengths.values)
        span.end = clamp_position(lengths.values[b], from, to);
    if (mask->key_position)
        return span;
    span.begin = clamp_position(positions.low, from, span.end);
    span.end = clamp_position(positions.high, span.begin, span.end);
    return span;
}

struct mask_span mask_row(const struct mask *mask, size_t b, size_t h, size_t i, size_t from, size_t to,
                          unsigned char *visible)
{
    struct positions positions = allowed_positions(mask->request, query_position(mask, b, i));
    struct mask_span span = reach(mask, b, positions, from, to);
    if (!span.some)
        return span;
    unsigned char *first = visible + (span.begin - from);
    memset(first, 1, span.end - span.begin);
    if (mask->key_position)
        keep_document(mask, i, positions, span, first);
    if (mask->allow.data)
        keep_allowed(mask->allow, row_start(mask->allow, b, h, i), span, first);
    if (mask->bias_hides)
        keep_unhidden(mask->bias, row_start(mask->bias, b, h, i), span, first);
    while (span.begin < span.end && !visible[span.begin - from])
        span.begin++;
    while (span.begin < span.end && !visible[span.end - 1 - from])
        span.end--;
    return span;
}

bool mask_has_bias(const struct mask *mask)
{
    return mask->bias.data || mask->slopes;
}

/* row[j - from] += bias; a hidden cell is -inf even where the score overflowed to +inf */
static void add_bias_float64(struct tensor t, size_t at, size_t from, size_t to, double *row)
{
    const double *bias = (const double *)t.data + at;
    for (size_t j = from; j < to; j++) {
        double b = bias[j * t.stride[3]];
        row[j - from] = b == -HUGE_VAL ? -HUGE_VAL : row[j - from] + b;
    }
}

static void add_bias_float32(struct tensor t, size_t at, size_t from, size_t to, float *row)
{
    const float *bias = (const float *)t.data + at;
    for (size_t j = from; j < to; j++) {
        float b = bias[j * t.stride[3]];
        row[j - from] = b == -HUGE_VALF ? -HUGE_VALF : row[j - from] + b;
    }
}

static void add_alibi(const struct mask *mask, double slope, int64_t p, size_t from, size_t to, enum dtype dtype,
                      void *row)
{
    for (size_t j = from; j < to; j++) {
        int64_t r = mask->key_position ? mask->key_position[j] : (int64_t)j;
        double bias = -slope * fabs((double)p - (double)r);
        if (dtype == DTYPE_FLOAT64)
            ((double *)row)[j - from] += bias;
        else
            ((float *)row)[j - from] += (float)bias;
    }
}

double mask_distance(const struct mask *mask, size_t b, size_t i, size_t j)
{
    int64_t r = mask->key_position ? mask->key_position[j] : (int64_t)j;
    return fabs((double)query_position(mask, b, i) - (double)r);
}

void mask_add_bias(const struct mask *mask, size_t b, size_t h, size_t i, size_t from, size_t to, void *row)
{
    if (mask->bias.data && mask->dtype == DTYPE_FLOAT64)
        add_bias_float64(mask->bias, row_start(mask->bias, b, h, i), from, to, row);
    if (mask->bias.data && mask->dtype == DTYPE_FLOAT32)
        add_bias_float32(mask->bias, row_start(mask->bias, b, h, i), from, to, row);
    if (mask->slopes)
        add_alibi(mask, mask->slopes[h], query_position(mask, b, i), from, to, mask->dtype, row);
}
