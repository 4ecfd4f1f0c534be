/* What is worked out once for all rows: broadcasts, places in documents, slopes. */
#include "core/mask.h"

#include <math.h>
#include <stdlib.h>

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

static bool bias_hides(struct tensor bias)
{
    size_t count = tensor_count(bias);
    for (size_t x = 0; x < count; x++)
        if (mask_hides(bias, x))
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
