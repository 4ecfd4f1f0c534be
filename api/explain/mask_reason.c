/* Masks of one member, asked about one key. */
#include "api/explain/mask_reason.h"

#include <string.h>

struct question {
    const struct attention *a;
    size_t b, h, i, j;
    struct arena *arena;
    struct error *err;
};

/* What sets positions, without anything that hides by them. */
static struct mask_request positions_of(const struct mask_request *all)
{
    struct mask_request m = {.query_offset = all->query_offset,
                             .align_end = all->align_end,
                             .query_documents = all->query_documents,
                             .key_documents = all->key_documents,
                             .left = WINDOW_UNLIMITED,
                             .right = WINDOW_UNLIMITED};
    return m;
}

static bool hides(const struct question *q, const struct mask_request *request, bool *hidden)
{
    const struct attention *a = q->a;
    const struct mask_sizes sizes = {a->batch, a->heads, a->queries, a->keys, a->past};
    struct mask mask;
    unsigned char visible = 1;
    if (!mask_prepare(&mask, request, sizes, a->dtype, q->arena, q->err))
        return false;
    struct mask_span span = mask_row(&mask, q->b, q->h, q->i, q->j, q->j + 1, &visible);
    *hidden = span.begin == span.end || (span.some && !visible);
    return true;
}

/* Each request has one member; NULL ends. */
static bool add_hiding(const struct question *q, const struct mask_request *requests, const char *const *names,
                       const char *found[REASONS_MAX], size_t *count)
{
    for (size_t x = 0; names[x]; x++) {
        bool hidden;
        if (!hides(q, &requests[x], &hidden))
            return false;
        if (hidden)
            found[(*count)++] = names[x];
    }
    return true;
}

static bool add_by_position(const struct question *q, const struct mask_request *all, const char *found[REASONS_MAX],
                            size_t *count)
{
    static const char *const names[] = {"causal", "window", NULL};
    struct mask_request requests[2] = {positions_of(all), positions_of(all)};
    requests[0].causal = all->causal;
    requests[0].has_prefix = all->has_prefix;
    requests[0].prefix = all->prefix;
    requests[1].has_window = all->has_window;
    requests[1].left = all->left;
    requests[1].right = all->right;
    return add_hiding(q, requests, names, found, count);
}

static bool add_by_key(const struct question *q, const struct mask_request *all, const char *found[REASONS_MAX],
                       size_t *count)
{
    static const char *const names[] = {"key_lengths", "allow", "bias", NULL};
    struct mask_request requests[3];
    memset(requests, 0, sizeof requests);
    requests[0].key_lengths = all->key_lengths;
    requests[1].allow = all->allow;
    requests[2].bias = all->bias;
    return add_hiding(q, requests, names, found, count);
}

bool mask_reason_find(const struct attention *a, size_t b, size_t h, size_t i, size_t j, struct arena *arena,
                      const char *names[REASONS_MAX], size_t *count, struct error *err)
{
    const struct question q = {a, b, h, i, j, arena, err};
    const struct mask_request *all = &a->request->mask;
    struct mask_request documents = positions_of(all);
    bool other_document;
    *count = 0;
    if (!hides(&q, &documents, &other_document))
        return false;
    if (other_document)
        names[(*count)++] = "documents";
    else if (!add_by_position(&q, all, names, count))
        return false;
    return add_by_key(&q, all, names, count);
}
