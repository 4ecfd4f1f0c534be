/* What only the reply needs of a request, checked. */
#include "api/request/options.h"

#include "api/request/backward_check.h"

#include <math.h>
#include <stdio.h>

void options_complete(struct options *o)
{
    if (o->attention.backward && !o->has_include)
        o->include.part[PART_GRADIENTS] = true;
    for (size_t r = RESULT_STEPS_TILE_MAX; !o->has_include && r <= RESULT_STEPS_ACCUMULATOR; r++)
        o->include.result[r] = o->attention.tile_keys > 0;
    o->attention.has_target = o->backward.target.values != NULL;
}

bool options_for_people(struct options *o, const char *form, struct error *err)
{
    if (!o->has_include)
        o->include.part[PART_STEPS] = true;
    return !o->style.base64 ||
           error_set(err, ERROR_INVALID, "encoding", "encoding base64 is for JSON; a reply %s has no such form.", form);
}

/* `each` names what there is one label for. */
static bool check_labels(struct strings labels, size_t count, const char *name, const char *each, struct error *err)
{
    return !labels.values || labels.count == count ||
           error_set(err, ERROR_INVALID, name, "%s has %zu label%s; the request makes it %zu: one for each %s.", name,
                     labels.count, labels.count == 1 ? "" : "s", count, each);
}

static bool check_tokens(const struct options *o, const struct attention *a, struct error *err)
{
    bool one = o->query_tokens.values && o->query_tokens.values == o->key_tokens.values;
    if (one && a->queries != a->keys)
        return error_set(
            err, ERROR_INVALID, "tokens",
            "One list of tokens serves queries and keys only when there are as many; there are %zu queries "
            "and %zu keys, so give {\"query\":[..],\"key\":[..]}.",
            a->queries, a->keys);
    bool good = check_labels(o->query_tokens, a->queries, one ? "tokens" : "tokens.query", "query", err);
    if (!one)
        good &= check_labels(o->key_tokens, a->keys, "tokens.key", "key, the past included", err);
    return good;
}

static bool check_style(const struct options *o, struct error *err)
{
    const bool *part = o->include.part;
    bool prints = part[PART_MASK] || part[PART_STATS] || o->readout_tokens.values;
    if (!o->style.base64 || prints || !o->style.rounded)
        return true;
    return error_set(err, ERROR_INVALID, "decimals",
                     "decimals means nothing here: encoding base64 prints no numbers (mask, stats and readout would).");
}

static bool fits(double value, const char *name, struct error *err)
{
    return isfinite((float)value) ||
           error_set(err, ERROR_INVALID, name, "%s is %.17g, too large for float32; dtype float64 holds it.", name,
                     value);
}

static bool fit(struct reals list, const char *name, struct error *err)
{
    char element[64];
    bool good = true;
    for (size_t x = 0; good && x < list.count; x++) {
        snprintf(element, sizeof element, "%s.%zu", name, x);
        good = fits(list.values[x], element, err);
    }
    return good;
}

/* Numbers that are no tensors, yet enter arithmetic of the dtype. */
static bool check_float32(const struct attention_request *r, struct error *err)
{
    if (r->dtype != DTYPE_FLOAT32)
        return true;
    bool good = fits(r->scale, "scale", err);
    good &= fits(r->softcap, "softcap", err);
    if (r->softcap > 0 && !((float)r->softcap > 0)) /* 0 would mean no cap */
        good = error_set(err, ERROR_INVALID, "softcap",
                         "softcap is %.17g, too small for float32; dtype float64 holds it.", r->softcap);
    good &= fit(r->sinks, "sinks", err);
    return good & fit(r->mask.alibi_slopes, "mask.alibi", err);
}

/* Ranges that depend on the vocabulary, and rows that a readout cannot have. */
static bool check_readout(const struct options *o, const struct attention *a, struct error *err)
{
    const struct readout_options *r = &o->readout;
    if (o->readout_tokens.values && r->has_top_k && (uint64_t)r->top_k > a->vocabulary)
        return error_set(err, ERROR_INVALID, "readout.top_k", "top_k is %lld; the vocabulary has %zu word%s.",
                         (long long)r->top_k, a->vocabulary, a->vocabulary == 1 ? "" : "s");
    return true;
}

static const char *expected_lacks(const struct options *o, const struct attention *a, enum result_id id)
{
    if (result_row(id)->part == PART_UPDATED && !o->has_step)
        return "step would bring it";
    return result_lacks(id, a);
}

static bool check_expect(const struct options *o, const struct attention *a, struct error *err)
{
    char name[RESULT_NAME_MAX];
    char pointer[RESULT_NAME_MAX + 8];
    bool good = true;
    for (size_t x = 0; x < o->expect.count; x++) {
        const char *lack = expected_lacks(o, a, o->expect.items[x].id);
        if (!lack)
            continue;
        snprintf(pointer, sizeof pointer, "/expect/%s", result_name(o->expect.items[x].id, name));
        good = error_set(err, ERROR_INVALID, pointer, "This request has no %s: %s.", name, lack);
    }
    return good;
}

bool options_check(const struct options *o, const struct attention *a, struct error *err)
{
    bool good = check_tokens(o, a, err);
    good &= include_check(&o->include, a, err);
    good &= check_style(o, err);
    good &= check_float32(&o->attention, err);
    good &= backward_check(o, a, err);
    good &= check_readout(o, a, err);
    good &= check_expect(o, a, err);
    if (o->readout_tokens.values)
        good &= check_labels(o->readout_tokens, o->attention.readout_w.shape[1], "readout.tokens",
                             "column of readout.w", err);
    return good;
}
