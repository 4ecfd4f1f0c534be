/* What a mask must fulfil. */
#include "core/mask.h"

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

/* `each` names what there is one entry for. */
static bool check_count(size_t count, size_t wanted, const char *name, const char *each, struct error *err)
{
    return count == wanted ||
           error_set(err, ERROR_INVALID, name, "%s has %zu %s; the request makes it %zu: one for each %s.", name, count,
                     count == 1 ? "entry" : "entries", wanted, each);
}

static bool check_offset(const struct mask_request *r, struct mask_sizes s, struct error *err)
{
    if (!r->query_offset.values)
        return true;
    if (r->align_end)
        return error_set(err, ERROR_INVALID, "mask.align",
                         "align and query_offset both set the position of the first query: give one of them.");
    return r->query_offset.scalar || check_count(r->query_offset.count, s.batch, "mask.query_offset", "batch", err);
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
    return check_count(r->query_documents.count, s.queries, one ? "mask.documents" : "mask.documents.query", "query",
                       err) &&
           check_count(r->key_documents.count, s.keys, one ? "mask.documents" : "mask.documents.key",
                       "key, the past included", err);
}

static bool check_lengths(const struct mask_request *r, struct mask_sizes s, struct error *err)
{
    if (!r->key_lengths.values)
        return true;
    if (!check_count(r->key_lengths.count, s.batch, "mask.key_lengths", "batch", err))
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
        good &= check_count(r->alibi_slopes.count, s.heads, "mask.alibi", "head", err);
    return good;
}
