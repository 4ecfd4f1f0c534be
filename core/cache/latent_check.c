/* Widths that chain, members that exclude one another. */
#include "core/attention.h"
#include "core/cache/latent.h"
#include "core/inputs_check.h"
#include "core/tensor/shape_error.h"

#include <stdio.h>

static bool refuse(const char *name, const char *text, struct error *err)
{
    return error_set(err, ERROR_INVALID, name, "%s", text);
}

/* --- members of the other forms --- */

static bool check_others(const struct attention_request *r, struct error *err)
{
    const struct {
        const char *name, *why;
        bool given;
    } others[] = {
        {"q", "q belongs to the form q, k, v; latent projects x instead: leave q out.", r->q.data != NULL},
        {"k", "k belongs to the form q, k, v; latent makes keys of x: leave k out.", r->k.data != NULL},
        {"v", "v belongs to the form q, k, v; latent makes values of x: leave v out.", r->v.data != NULL},
        {"w_q", "w_q and latent do not go together: its projection of queries is latent.w_q.", r->w_q.data != NULL},
        {"w_k", "w_k and latent do not go together: keys come from latent.w_dkv and latent.w_uk.", r->w_k.data != NULL},
        {"w_v", "w_v and latent do not go together: values come from latent.w_dkv and latent.w_uv.",
         r->w_v.data != NULL},
        {"b_q", "b_q and latent do not go together: its projections have no bias.", r->b_q.data != NULL},
        {"b_k", "b_k and latent do not go together: its projections have no bias.", r->b_k.data != NULL},
        {"b_v", "b_v and latent do not go together: its projections have no bias.", r->b_v.data != NULL},
        {"kv_heads", "kv_heads and latent do not go together: all heads share one latent vector.", r->kv_heads > 0},
        {"rope.dims", "latent rotates all d_r features, the columns of latent.w_kr: leave dims out.", r->rope.dims > 0},
        {"quantize", "quantize and latent do not go together: it takes keys and values of heads.", r->quantize.on},
    };
    bool good = true;
    for (size_t x = 0; x < sizeof others / sizeof *others; x++)
        if (others[x].given)
            good = refuse(others[x].name, others[x].why, err);
    return good;
}

/* w_q alone, or w_dq and w_uq; gains where there is something to scale. */
static bool check_choice(const struct latent_request *l, struct error *err)
{
    bool good = true;
    if (l->w_q.data && (l->w_dq.data || l->w_uq.data))
        good =
            refuse("latent.w_q", "w_q projects queries in one step, w_dq and w_uq in two: give one or the other.", err);
    else if (!l->w_q.data && !l->w_dq.data)
        good = refuse(l->w_uq.data ? "latent.w_dq" : "latent.w_q",
                      l->w_uq.data ? "w_uq needs w_dq, which makes the latent vector of the queries."
                                   : "w_q is missing, or w_dq and w_uq.",
                      err);
    else if (!l->w_q.data && !l->w_uq.data)
        good = refuse("latent.w_uq", "w_dq needs w_uq, which makes queries of their latent vector.", err);
    if (l->gain_kv.data && !l->rms)
        good = refuse("latent.gain_kv", "gain_kv means nothing without norm \"rms\".", err);
    if (l->gain_q.data && !l->rms)
        good = refuse("latent.gain_q", "gain_q means nothing without norm \"rms\".", err);
    else if (l->gain_q.data && !l->w_dq.data)
        good = refuse("latent.gain_q", "gain_q scales the latent vector of the queries: it needs w_dq.", err);
    return good;
}

/* --- widths --- */

static bool is_matrix(struct named_tensor w, struct error *err)
{
    if (!shape_error_present(w, "latent needs w_dkv, w_kr, w_uk and w_uv", err))
        return false;
    return w.t.rank == 2 || shape_error_refuse(w, "a weight is a matrix [inputs][outputs]", err);
}

/* `inner` are the columns of `from`, which the rows of w take in. */
static bool chains(struct named_tensor from, size_t inner, struct named_tensor w, struct error *err)
{
    return shape_error_same_extent(from, inner, w, w.t.shape[0],
                                   "the input width (columns of the one, rows of the next)", err);
}

static bool divides(struct named_tensor w, size_t heads, size_t *width, struct error *err)
{
    *width = w.t.shape[1] / heads;
    return w.t.shape[1] % heads == 0 ||
           error_set(err, ERROR_INVALID, w.name, "%s has %zu columns, which do not divide into %zu heads.", w.name,
                     w.t.shape[1], heads);
}

static bool check_gain(struct named_tensor gain, struct named_tensor of, struct error *err)
{
    if (!gain.t.data)
        return true;
    if (gain.t.rank != 1)
        return shape_error_refuse(gain, "a gain is a list, one number per feature of the latent vector", err);
    return shape_error_same_extent(of, of.t.shape[1], gain, gain.t.shape[0], "the width", err);
}

static bool check_keys(struct attention *a, struct named_tensor c, struct error *err)
{
    const struct latent_request *l = &a->request->latent;
    const struct named_tensor w_dkv = {"latent.w_dkv", l->w_dkv};
    const struct named_tensor w_kr = {"latent.w_kr", l->w_kr};
    const struct named_tensor w_uk = {"latent.w_uk", l->w_uk};
    const struct named_tensor w_uv = {"latent.w_uv", l->w_uv};
    bool good = is_matrix(w_dkv, err);
    good &= is_matrix(w_kr, err);
    good &= is_matrix(w_uk, err);
    if (!(good & is_matrix(w_uv, err)))
        return false;
    size_t width = c.t.shape[c.t.rank - 1];
    good = chains(c, width, w_dkv, err);
    good &= chains(c, width, w_kr, err);
    good &= chains(w_dkv, w_dkv.t.shape[1], w_uk, err);
    good &= chains(w_dkv, w_dkv.t.shape[1], w_uv, err);
    good &= divides(w_uk, a->heads, &a->latent.d_n, err);
    good &= divides(w_uv, a->heads, &a->d_v, err);
    good &= check_gain((struct named_tensor){"latent.gain_kv", l->gain_kv}, w_dkv, err);
    a->latent.d_c = w_dkv.t.shape[1];
    a->latent.d_r = w_kr.t.shape[1];
    if (a->latent.d_r % 2)
        good = error_set(err, ERROR_INVALID, w_kr.name,
                         "Rotary embedding turns pairs of numbers; %s has %zu columns, which is odd.", w_kr.name,
                         a->latent.d_r);
    return good;
}

static bool check_queries(struct attention *a, struct named_tensor x, struct error *err)
{
    const struct latent_request *l = &a->request->latent;
    const struct named_tensor w_dq = {"latent.w_dq", l->w_dq};
    const struct named_tensor last = {l->w_dq.data ? "latent.w_uq" : "latent.w_q", l->w_dq.data ? l->w_uq : l->w_q};
    size_t width = x.t.shape[x.t.rank - 1];
    struct named_tensor from = x;
    if (l->w_dq.data) {
        if (!is_matrix(w_dq, err) || !chains(x, width, w_dq, err))
            return false;
        width = a->latent.d_cq = w_dq.t.shape[1];
        from = w_dq;
        if (!check_gain((struct named_tensor){"latent.gain_q", l->gain_q}, w_dq, err))
            return false;
    }
    if (!is_matrix(last, err) || !chains(from, width, last, err))
        return false;
    a->d_k = a->latent.d_n + a->latent.d_r;
    return last.t.shape[1] == a->heads * a->d_k ||
           error_set(err, ERROR_INVALID, last.name,
                     "%s has %zu columns; %zu heads of %zu features without and %zu with a position need %zu.",
                     last.name, last.t.shape[1], a->heads, a->latent.d_n, a->latent.d_r, a->heads * a->d_k);
}

static bool check_rows(struct attention *a, struct named_tensor x, struct named_tensor c, struct error *err)
{
    if (!inputs_check_rank(x, 2, 3, err) || !inputs_check_rank(c, 2, 3, err) ||
        !shape_error_same_extent(x, x.t.rank, c, c.t.rank, "rank", err))
        return false;
    a->packed = true;
    a->has_heads = a->request->heads != 0;
    a->has_batch = x.t.rank == 3;
    a->batch = a->has_batch ? x.t.shape[0] : 1;
    a->heads = a->request->heads ? a->request->heads : 1;
    a->kv_heads = a->heads;
    a->queries = a->q.shape[2] = x.t.shape[x.t.rank - 2];
    a->k.shape[2] = a->v.shape[2] = c.t.shape[c.t.rank - 2];
    return !a->has_batch || shape_error_same_extent(x, a->batch, c, c.t.shape[0], "the batch", err);
}

bool latent_check(struct attention *a, struct error *err)
{
    const struct attention_request *r = a->request;
    const struct named_tensor x = {"x", r->x};
    const struct named_tensor c = {r->context.data ? "context" : "x", r->context.data ? r->context : r->x};
    bool good = check_others(r, err);
    good &= check_choice(&r->latent, err);
    good &= shape_error_present(x, "latent needs an x to project", err);
    return good && check_rows(a, x, c, err) && check_keys(a, c, err) && check_queries(a, x, err) &&
           inputs_check_output(a, err);
}

/* --- past --- */

static bool check_past_one(const struct attention *a, struct named_tensor past, size_t width, struct error *err)
{
    size_t rank = 2U + a->has_batch;
    char found[SHAPE_ERROR_TEXT];
    char batch[32] = "";
    if (a->has_batch)
        snprintf(batch, sizeof batch, "[b=%zu]", a->batch);
    bool good =
        past.t.rank == rank && past.t.shape[rank - 1] == width && (!a->has_batch || past.t.shape[0] == a->batch);
    return good || error_set(err, ERROR_INVALID, past.name, "It has shape %s; this past of latent is %s[p][%zu].",
                             tensor_shape_text(past.t, found, sizeof found), batch, width);
}

bool latent_check_past(struct attention *a, struct error *err)
{
    const struct attention_request *r = a->request;
    const struct named_tensor latent = {"past.latent", r->past_latent};
    const struct named_tensor rope_key = {"past.rope_key", r->past_rope_key};
    static const char *const why = "the past of latent is latent and rope_key, as its present returns them";
    bool good = true;
    if (r->past_k.data)
        good = error_set(err, ERROR_INVALID, "past.k", "k is the past of another form: %s.", why);
    if (r->past_v.data)
        good = error_set(err, ERROR_INVALID, "past.v", "v is the past of another form: %s.", why);
    if (!good || (!r->has_past && !latent.t.data && !rope_key.t.data))
        return good;
    good = shape_error_present(latent, why, err);
    if (!(good & shape_error_present(rope_key, why, err)))
        return false;
    good = check_past_one(a, latent, a->latent.d_c, err);
    if (!(good & check_past_one(a, rope_key, a->latent.d_r, err)))
        return false;
    a->past = latent.t.shape[latent.t.rank - 2];
    return shape_error_same_extent(latent, a->past, rope_key, rope_key.t.shape[rope_key.t.rank - 2], "the length", err);
}
