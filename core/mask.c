/* Masks: checks, positions, and the keys that one query sees. */
#include "core/mask.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- checks --- */

static bool check_broadcast(struct tensor t, struct mask_sizes s, const char *name, struct error *err)
{
    const size_t full[4] = {s.batch, s.heads, s.queries, s.keys};
    char shape[96];
    if (!t.data)
        return true;
    if (t.rank < 2 || t.rank > 4)
        return error_set(err, ERROR_INVALID, name,
                         "It has rank %zu; it needs rank 2 [n][m], 3 [h][n][m] or 4 [b][h][n][m].", t.rank);
    for (size_t a = 0; a < t.rank; a++) {
        size_t size = full[4 - t.rank + a];
        if (t.shape[a] != 1 && t.shape[a] != size)
            return error_set(
                err, ERROR_INVALID, name,
                "Its shape %s does not broadcast, aligned at the right, against [b=%zu][h=%zu][n=%zu][m=%zu].",
                tensor_shape_text(t, shape, sizeof shape), s.batch, s.heads, s.queries, s.keys);
    }
    return true;
}

static bool check_count(size_t count, size_t wanted, const char *name, const char *what, struct error *err)
{
    return count == wanted ||
           error_set(err, ERROR_INVALID, name, "It has %zu entries; %s makes it %zu.", count, what, wanted);
}

static bool check_offset(const struct mask_request *r, struct mask_sizes s, struct error *err)
{
    if (!r->query_offset.values)
        return true;
    if (r->align_end)
        return error_set(err, ERROR_INVALID, "mask.align",
                         "align and query_offset both set the position of the first query: give one of them.");
    return r->query_offset.scalar ||
           check_count(r->query_offset.count, s.batch, "mask.query_offset", "one per batch", err);
}

static bool check_prefix(const struct mask_request *r, struct error *err)
{
    return !r->has_prefix || r->causal ||
           error_set(err, ERROR_INVALID, "mask.prefix", "A prefix does nothing without causal: true.");
}

static bool check_documents(const struct mask_request *r, struct mask_sizes s, struct error *err)
{
    if (!r->query_documents.values)
        return true;
    if (r->query_documents.values == r->key_documents.values && s.queries != s.keys)
        return error_set(
            err, ERROR_INVALID, "mask.documents",
            "One list serves queries and keys only when there are as many; there are %zu queries and %zu keys, "
            "so give {\"query\":[..],\"key\":[..]}.",
            s.queries, s.keys);
    bool one = r->query_documents.values == r->key_documents.values;
    return check_count(r->query_documents.count, s.queries, one ? "mask.documents" : "mask.documents.query",
                       "one per query", err) &&
           check_count(r->key_documents.count, s.keys, one ? "mask.documents" : "mask.documents.key",
                       "one per key, the past included,", err);
}

static bool check_lengths(const struct mask_request *r, struct mask_sizes s, struct error *err)
{
    if (!r->key_lengths.values)
        return true;
    if (!check_count(r->key_lengths.count, s.batch, "mask.key_lengths", "one per batch", err))
        return false;
    for (size_t b = 0; b < s.batch; b++)
        if (r->key_lengths.values[b] < 0 || (uint64_t)r->key_lengths.values[b] > s.keys)
            return error_set(err, ERROR_INVALID, "mask.key_lengths", "Entry %zu is %lld; there are %zu keys.", b,
                             (long long)r->key_lengths.values[b], s.keys);
    return true;
}

bool mask_check(const struct mask_request *r, struct mask_sizes s, struct error *err)
{
    bool good = check_offset(r, s, err);
    good &= check_prefix(r, err);
    good &= check_documents(r, s, err);
    good &= check_lengths(r, s, err);
    good &= check_broadcast(r->allow, s, "mask.allow", err);
    good &= check_broadcast(r->bias, s, "mask.bias", err);
    if (r->alibi_slopes.values)
        good &= check_count(r->alibi_slopes.count, s.heads, "mask.alibi", "one slope per head", err);
    return good;
}

/* --- preparation --- */

static struct tensor broadcast(struct tensor t, struct mask_sizes s)
{
    const size_t full[4] = {s.batch, s.heads, s.queries, s.keys};
    struct tensor view = {.data = t.data, .dtype = t.dtype, .rank = 4};
    for (size_t a = 0; a < 4; a++) {
        size_t missing = 4 - t.rank;
        view.shape[a] = full[a];
        view.stride[a] = a < missing || t.shape[a - missing] == 1 ? 0 : t.stride[a - missing];
    }
    return view;
}

void mask_alibi_slopes(size_t heads, double *slopes)
{
    size_t power = 1;
    while (power * 2 <= heads)
        power *= 2;
    for (size_t t = 0; t < power; t++)
        slopes[t] = exp2(-8.0 * (double)(t + 1) / (double)power);
    for (size_t t = power; t < heads; t++)
        slopes[t] = exp2(-4.0 * (double)(2 * (t - power) + 1) / (double)power);
}

struct member {
    int64_t id;
    size_t index;
};

static int compare_members(const void *left, const void *right)
{
    const struct member *a = left;
    const struct member *b = right;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* rank[x] = how many earlier entries have x's id; `sorted` is left ordered by (id, index). */
static void rank_members(struct integers ids, struct member *sorted, int64_t *rank)
{
    for (size_t x = 0; x < ids.count; x++)
        sorted[x] = (struct member){ids.values[x], x};
    qsort(sorted, ids.count, sizeof *sorted, compare_members);
    int64_t earlier = 0;
    for (size_t x = 0; x < ids.count; x++) {
        earlier = x > 0 && sorted[x].id == sorted[x - 1].id ? earlier + 1 : 0;
        rank[sorted[x].index] = earlier;
    }
}

/* How many members have `id` and an index below `limit`. */
static int64_t count_members(const struct member *sorted, size_t count, int64_t id, size_t limit)
{
    size_t bounds[2];
    const struct member probes[2] = {{id, 0}, {id, limit}};
    for (size_t side = 0; side < 2; side++) {
        size_t low = 0;
        size_t high = count;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (compare_members(&sorted[middle], &probes[side]) < 0)
                low = middle + 1;
            else
                high = middle;
        }
        bounds[side] = low;
    }
    return (int64_t)(bounds[1] - bounds[0]);
}

static bool place_in_documents(struct mask *mask, struct arena *arena, struct error *err)
{
    const struct mask_request *r = mask->request;
    size_t n = mask->sizes.queries;
    size_t m = mask->sizes.keys;
    int64_t *query = arena_calloc(arena, n, sizeof *query, err);
    int64_t *key = query ? arena_calloc(arena, m, sizeof *key, err) : NULL;
    struct member *queries = key ? arena_calloc(arena, n, sizeof *queries, err) : NULL;
    struct member *keys = queries ? arena_calloc(arena, m, sizeof *keys, err) : NULL;
    if (!keys)
        return false;
    rank_members(r->query_documents, queries, query);
    rank_members(r->key_documents, keys, key);
    for (size_t i = 0; i < n && !r->query_offset.values; i++) {
        int64_t id = r->query_documents.values[i];
        query[i] += r->align_end ? count_members(keys, m, id, m) - count_members(queries, n, id, n)
                                 : count_members(keys, m, id, mask->sizes.past);
    }
    mask->query_position = query;
    mask->key_position = key;
    arena_drop(arena, keys);
    arena_drop(arena, queries);
    return true;
}

static bool choose_slopes(struct mask *mask, struct arena *arena, struct error *err)
{
    if (mask->request->alibi_slopes.values) {
        mask->slopes = mask->request->alibi_slopes.values;
        return true;
    }
    double *slopes = arena_calloc(arena, mask->sizes.heads, sizeof *slopes, err);
    if (!slopes)
        return false;
    mask_alibi_slopes(mask->sizes.heads, slopes);
    mask->slopes = slopes;
    return true;
}

static bool hides(struct tensor bias, size_t at)
{
    return bias.dtype == DTYPE_FLOAT64 ? ((const double *)bias.data)[at] == -HUGE_VAL
                                       : ((const float *)bias.data)[at] == -HUGE_VALF;
}

static bool bias_hides(struct tensor bias)
{
    size_t count = tensor_count(bias);
    for (size_t x = 0; x < count; x++)
        if (hides(bias, x))
            return true;
    return false;
}

bool mask_prepare(struct mask *mask, const struct mask_request *r, struct mask_sizes s, enum dtype dtype,
                  struct arena *arena, struct error *err)
{
    *mask = (struct mask){.request = r, .sizes = s, .dtype = dtype};
    if (r->allow.data)
        mask->allow = broadcast(r->allow, s);
    if (r->bias.data)
        mask->bias = broadcast(r->bias, s);
    mask->bias_hides = r->bias.data && bias_hides(r->bias);
    if (r->alibi && !choose_slopes(mask, arena, err))
        return false;
    return !r->query_documents.values || place_in_documents(mask, arena, err);
}

/* --- one row --- */

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
        visible[j - span.begin] &= !hides(bias, at + j * bias.stride[3]);
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

void mask_add_bias(const struct mask *mask, size_t b, size_t h, size_t i, size_t from, size_t to, void *row)
{
    if (mask->bias.data && mask->dtype == DTYPE_FLOAT64)
        add_bias_float64(mask->bias, row_start(mask->bias, b, h, i), from, to, row);
    if (mask->bias.data && mask->dtype == DTYPE_FLOAT32)
        add_bias_float32(mask->bias, row_start(mask->bias, b, h, i), from, to, row);
    if (mask->slopes)
        add_alibi(mask, mask->slopes[h], query_position(mask, b, i), from, to, mask->dtype, row);
}
