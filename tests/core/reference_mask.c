/* The rules of the mask, told cell by cell. */
#include "tests/core/reference.h"

#include <math.h>

/* The value for (b, h, i, j) of a table that is right-aligned against [b][h][n][m]; an axis of size 1 repeats. */
static double table_at(struct tensor table, size_t b, size_t h, size_t i, size_t j)
{
    const size_t at[4] = {b, h, i, j};
    size_t index = 0;
    for (size_t axis = 0; axis < table.rank; axis++)
        if (table.shape[axis] > 1)
            index += at[4 - table.rank + axis] * table.stride[axis];
    return reference_element(table, index);
}

static size_t count_equal(struct integers ids, size_t end, int64_t id)
{
    size_t count = 0;
    for (size_t t = 0; t < end; t++)
        count += ids.values[t] == id;
    return count;
}

/* The offset of query 0, inside the document `id` when there are documents. */
static int64_t offset_of(const struct reference *ref, size_t b, int64_t id)
{
    const struct mask_request *mask = &ref->request->mask;
    if (mask->query_offset.values != NULL)
        return mask->query_offset.values[mask->query_offset.count > 1 ? b : 0];
    if (mask->key_documents.values == NULL)
        return mask->align_end ? (int64_t)ref->keys - (int64_t)ref->queries : (int64_t)ref->past;
    if (!mask->align_end)
        return (int64_t)count_equal(mask->key_documents, ref->past, id);
    return (int64_t)count_equal(mask->key_documents, ref->keys, id) -
           (int64_t)count_equal(mask->query_documents, ref->queries, id);
}

static int64_t query_position(const struct reference *ref, size_t b, size_t i)
{
    struct integers ids = ref->request->mask.query_documents;
    if (ids.values == NULL)
        return (int64_t)i + offset_of(ref, b, 0);
    return (int64_t)count_equal(ids, i, ids.values[i]) + offset_of(ref, b, ids.values[i]);
}

static int64_t key_position(const struct reference *ref, size_t j)
{
    struct integers ids = ref->request->mask.key_documents;
    return ids.values == NULL ? (int64_t)j : (int64_t)count_equal(ids, j, ids.values[j]);
}

static bool window_sees(const struct mask_request *mask, int64_t p, int64_t r)
{
    bool left = mask->left == WINDOW_UNLIMITED || p - mask->left <= r;
    bool right = mask->right == WINDOW_UNLIMITED || r <= p + mask->right;
    return left && right;
}

bool reference_sees(const struct reference *ref, size_t b, size_t h, size_t i, size_t j)
{
    const struct mask_request *mask = &ref->request->mask;
    int64_t p = query_position(ref, b, i), r = key_position(ref, j);
    if (mask->query_documents.values != NULL && mask->query_documents.values[i] != mask->key_documents.values[j])
        return false;
    if (mask->causal && r > p && !(mask->has_prefix && r < mask->prefix))
        return false;
    if (mask->has_window && !window_sees(mask, p, r))
        return false;
    if (mask->key_lengths.values != NULL && (int64_t)j >= mask->key_lengths.values[b])
        return false;
    return mask->allow.data == NULL || table_at(mask->allow, b, h, i, j) != 0;
}

bool reference_has_bias(const struct attention_request *request)
{
    return request->mask.bias.data != NULL || request->mask.alibi;
}

/* 2^(-8(t+1)/N) for t < N, the largest power of two up to `heads`; then 2^(-4(2t+1)/N). */
static double standard_slope(size_t heads, size_t h)
{
    size_t n = 1;
    while (n * 2 <= heads)
        n *= 2;
    double power = h < n ? 8 * (double)(h + 1) : 4 * (double)(2 * (h - n) + 1);
    return pow(2, -power / (double)n);
}

double reference_distance(const struct reference *ref, size_t b, size_t i, size_t j)
{
    return fabs((double)(query_position(ref, b, i) - key_position(ref, j)));
}

double reference_bias(const struct reference *ref, size_t b, size_t h, size_t i, size_t j)
{
    const struct mask_request *mask = &ref->request->mask;
    double bias = mask->bias.data == NULL ? 0 : table_at(mask->bias, b, h, i, j);
    if (!mask->alibi)
        return bias;
    double slope = mask->alibi_slopes.values != NULL ? mask->alibi_slopes.values[h] : standard_slope(ref->heads, h);
    return bias - slope * reference_distance(ref, b, i, j);
}
