/* Resolving a request: everything that does not fit is refused here. */
#include "core/attention.h"

#include "core/forward/rows.h"
#include "core/inputs_check.h"
#include "core/tensor/blas.h"
#include "core/tensor/shape_error.h"

#include <math.h>
#include <stdio.h>

/* --- past --- */

static bool check_past_one(const struct attention *a, struct named_tensor past, size_t width, struct error *err)
{
    const size_t shape[4] = {a->batch, a->kv_heads, 0, width};
    const char *letters[4] = {"b", "h_kv", "p", "d"};
    size_t rank = 2U + a->has_batch + a->has_heads;
    char wanted[SHAPE_ERROR_TEXT] = "";
    size_t used = 0;
    bool good = past.t.rank == rank;
    for (size_t axis = 0, at = 0; axis < 4; axis++) {
        if ((axis == 0 && !a->has_batch) || (axis == 1 && !a->has_heads))
            continue;
        good = good && (axis == 2 || past.t.shape[at] == shape[axis]);
        used += axis == 2
                    ? (size_t)snprintf(wanted + used, sizeof wanted - used, "[p]")
                    : (size_t)snprintf(wanted + used, sizeof wanted - used, "[%s=%zu]", letters[axis], shape[axis]);
        at++;
    }
    char found[SHAPE_ERROR_TEXT];
    return good || error_set(err, ERROR_INVALID, past.name, "It has shape %s; a past of this request is %s.",
                             tensor_shape_text(past.t, found, sizeof found), wanted);
}

static bool check_past(struct attention *a, struct error *err)
{
    const struct attention_request *r = a->request;
    if (r->latent.on)
        return latent_check_past(a, err);
    if (r->past_latent.data || r->past_rope_key.data)
        return error_set(err, ERROR_INVALID, r->past_latent.data ? "past.latent" : "past.rope_key",
                         "latent and rope_key are the past of latent; a past of this request has k and v.");
    const struct named_tensor k = {"past.k", r->past_k};
    const struct named_tensor v = {"past.v", r->past_v};
    if (!r->has_past && !k.t.data && !v.t.data)
        return true;
    if (!k.t.data || !v.t.data)
        return error_set(err, ERROR_INVALID, "past", "past lacks its member \"%s\".", k.t.data ? "v" : "k");
    bool good = check_past_one(a, k, a->d_k, err);
    if (!(good & check_past_one(a, v, a->d_v, err)))
        return false;
    a->past = k.t.shape[k.t.rank - 2];
    return shape_error_same_extent(k, a->past, v, v.t.shape[v.t.rank - 2], "the length", err);
}

/* --- options --- */

static bool check_positions(struct integers list, size_t rows, size_t count, const char *name, struct error *err)
{
    if (!list.values)
        return true;
    if (list.rows == 0)
        return list.count == count ||
               error_set(err, ERROR_INVALID, name, "It has %zu positions; %zu are needed.", list.count, count);
    return (list.rows == rows && list.count == rows * count) ||
           error_set(err, ERROR_INVALID, name, "It has shape [%zu][%zu]; [%zu] or [%zu][%zu] is needed.", list.rows,
                     list.count / list.rows, count, rows, count);
}

static bool check_rope(const struct attention *a, struct error *err)
{
    const struct rope_request *rope = &a->request->rope;
    size_t dims = rope->dims ? rope->dims : a->request->latent.on ? a->latent.d_r : a->d_k;
    if (!rope->on)
        return true;
    bool good = check_positions(rope->query_positions, a->batch, a->queries, "rope.query_positions", err);
    good &= check_positions(rope->key_positions, a->batch, a->keys - a->past, "rope.key_positions", err);
    if (dims > a->d_k)
        return error_set(err, ERROR_INVALID, "rope.dims", "dims is %zu; the heads are only %zu wide.", dims, a->d_k);
    if (dims % 2)
        return error_set(err, ERROR_INVALID, rope->dims ? "rope.dims" : "rope",
                         "Rotary embedding turns pairs of numbers; %zu is odd. Give an even dims.", dims);
    return good;
}

static bool check_linear(const struct attention_request *r, struct error *err)
{
    const struct mask_request *m = &r->mask;
    const struct {
        const char *name;
        bool given;
    } members[] = {
        {"mask", m->causal || m->has_window || m->has_prefix || m->query_documents.values || m->key_lengths.values ||
                     m->allow.data || m->bias.data || m->alibi},
        {"softcap", r->softcap > 0},
        {"sinks", r->sinks.values != NULL},
        {"dropout", r->has_dropout},
    };
    bool good = true;
    for (size_t x = 0; r->variant == VARIANT_LINEAR && x < sizeof members / sizeof *members; x++)
        if (members[x].given)
            good = error_set(err, ERROR_INVALID, members[x].name,
                             "variant linear computes scale * Q (K^T V): there is no softmax for %s to act on.",
                             members[x].name);
    return good;
}

static bool check_readout(const struct attention *a, struct error *err)
{
    struct tensor w = a->request->readout_w;
    size_t width = a->packed ? a->d_out : a->heads * a->d_v;
    if (!w.data)
        return true;
    if (w.rank != 2)
        return shape_error_refuse((struct named_tensor){"readout.w", w}, "it is a matrix [d_out][vocabulary]", err);
    return w.shape[0] == width ||
           error_set(err, ERROR_INVALID, "readout.w",
                     "readout.w has %zu rows; an output row, its heads side by side, has %zu numbers.", w.shape[0],
                     width);
}

/* Both sides, where they are wanted; their shapes and bills. */
static bool check_quantize(struct attention *a, struct error *err)
{
    const struct quantize_request *q = &a->request->quantize;
    bool good = true;
    if (!q->on)
        return true;
    bool by_tile = !rows_are_small(a);
    if (a->request->variant == VARIANT_LINEAR)
        return error_set(err, ERROR_INVALID, "variant",
                         "quantize tells what a softmax makes of rounded scores; variant linear has none.");
    if (!q->k.on && !q->v.on)
        return error_set(err, ERROR_INVALID, "quantize", "Neither k nor v is given: there is nothing to quantise.");
    if (q->k.on && (good = quantize_check(q, &q->k, "quantize.k", a->keys, a->d_k, err)))
        a->quantized_k = quantize_plan(q, &q->k, a->dtype, a->batch, a->kv_heads, a->keys, a->d_k, by_tile);
    if (q->v.on && (good &= quantize_check(q, &q->v, "quantize.v", a->keys, a->d_v, err)))
        a->quantized_v = quantize_plan(q, &q->v, a->dtype, a->batch, a->kv_heads, a->keys, a->d_v, by_tile);
    return good;
}

/* Tiles are shown step by step, so only where all of a head is small; they need the softmax that they compute. */
static bool check_tiles(const struct attention *a, struct error *err)
{
    enum variant variant = a->request->variant;
    if (!a->tiles)
        return true;
    if (a->request->latent.on && a->request->latent.absorbed)
        return error_set(err, ERROR_INVALID, "tiles",
                         "tiles accumulate values of heads, which the absorbed form of latent never makes.");
    if (a->request->precision.on)
        return error_set(err, ERROR_INVALID, "tiles",
                         "tiles run in the dtype; precision rounds every step: give one of them.");
    if (variant == VARIANT_LINEAR || variant == VARIANT_MASK_AFTER_SOFTMAX)
        return error_set(err, ERROR_INVALID, "tiles",
                         "tiles are how a softmax over the visible keys runs; variant %s has none.",
                         variant == VARIANT_LINEAR ? "linear" : "mask_after_softmax");
    return rows_are_small(a) ||
           error_set(
               err, ERROR_INVALID, "tiles",
               "tiles shows heads of at most %zu products, queries * keys * (d_k + d_v); this one has %zu * %zu * %zu.",
               (size_t)ROWS_SMALL_TERMS, a->queries, a->keys, a->d_k + a->d_v);
}

static bool check_options(struct attention *a, struct error *err)
{
    const struct attention_request *r = a->request;
    const struct mask_sizes sizes = {a->batch, a->heads, a->queries, a->keys, a->past};
    bool good = mask_check(&r->mask, sizes, err);
    good &= check_rope(a, err);
    good &= check_linear(r, err);
    good &= check_readout(a, err);
    good &= check_quantize(a, err);
    good &= precision_check(a, err);
    good &= check_tiles(a, err);
    if (r->sinks.values && r->sinks.count != a->heads)
        good = error_set(err, ERROR_INVALID, "sinks", "sinks has %zu entries; there are %zu heads.", r->sinks.count,
                         a->heads);
    return good;
}

/* No axis may be longer than what BLAS counts. */
static bool check_axes(const struct attention *a, struct error *err)
{
    const struct attention_request *r = a->request;
    const struct tensor all[] = {r->q,   r->k,   r->v,   r->x,   r->context, r->w_q,    r->w_k,    r->w_v,
                                 r->b_q, r->b_k, r->b_v, r->w_o, r->b_o,     r->past_k, r->past_v, r->readout_w};
    size_t longest = a->keys;
    for (size_t x = 0; x < sizeof all / sizeof *all; x++)
        for (size_t axis = 0; all[x].data && axis < all[x].rank; axis++)
            longest = all[x].shape[axis] > longest ? all[x].shape[axis] : longest;
    return longest < BLAS_SIZE_LIMIT ||
           error_set(err, ERROR_TOO_LARGE, "", "An axis has %zu entries; matrix products take at most %zu.", longest,
                     BLAS_SIZE_LIMIT - 1);
}

bool attention_check(struct attention *a, const struct attention_request *r, struct error *err)
{
    *a = (struct attention){.request = r, .dtype = r->dtype};
    if (!inputs_check(a, err) || !check_past(a, err))
        return false;
    a->queries = a->q.shape[2];
    a->keys = a->past + a->k.shape[2];
    a->tiles = r->tile_keys ? (a->keys - 1) / r->tile_keys + 1 : 0;
    a->d_model = r->x.data ? r->x.shape[r->x.rank - 1] : 0;
    a->vocabulary = r->readout_w.data && r->readout_w.rank == 2 ? r->readout_w.shape[1] : 0;
    a->scale = r->has_scale ? r->scale : 1 / sqrt((double)a->d_k);
    return check_axes(a, err) && check_options(a, err);
}

/* --- what a request has --- */

static bool has_softmax(const struct attention_request *r)
{
    return r->variant != VARIANT_LINEAR;
}

static bool has_softcap(const struct attention_request *r)
{
    return r->softcap > 0;
}

static bool has_bias(const struct attention_request *r)
{
    return r->mask.bias.data || r->mask.alibi;
}

static bool has_dropout(const struct attention_request *r)
{
    return r->has_dropout;
}

static bool has_head_keys(const struct attention_request *r)
{
    return !r->latent.on || !r->latent.absorbed;
}

static bool has_tiles(const struct attention_request *r)
{
    return r->tile_keys > 0;
}

static const struct {
    enum quantity_trait trait;
    bool (*met)(const struct attention_request *r);
    const char *lack;
} needs[] = {
    {NEEDS_SOFTMAX, has_softmax,
     "variant linear has no softmax, so only scores, scaled, weights, products and contributions"},
    {NEEDS_SOFTCAP, has_softcap, "softcap would bring it"},
    {NEEDS_BIAS, has_bias, "mask.bias or mask.alibi would bring it"},
    {NEEDS_DROPOUT, has_dropout, "dropout would bring it"},
    {NEEDS_HEAD_KEYS, has_head_keys,
     "the absorbed form of latent has no keys and values of heads; the expanded one has"},
    {NEEDS_TILES, has_tiles, "tiles would bring it"},
};

const char *attention_lacks(const struct attention *a, enum quantity quantity)
{
    unsigned traits = quantity_traits(quantity);
    for (size_t x = 0; x < sizeof needs / sizeof *needs; x++)
        if (traits & needs[x].trait && !needs[x].met(a->request))
            return needs[x].lack;
    return NULL;
}
