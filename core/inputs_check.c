/* Layouts and sizes. */
#include "core/inputs_check.h"

#include "core/cache/latent.h"

#include <stdio.h>

/* --- form A: q, k, v --- */

bool inputs_check_rank(struct named_tensor input, size_t least, size_t most, struct error *err)
{
    if (input.t.rank == 1)
        return shape_error_refuse(input, "a single row is written with two brackets: wrap it: [[1,0]]", err);
    if (input.t.rank >= least && input.t.rank <= most)
        return true;
    char why[96];
    snprintf(why, sizeof why, "its rank must be %zu to %zu", least, most);
    return shape_error_refuse(input, why, err);
}

static bool check_given_heads(const struct attention_request *r, size_t rank, struct error *err)
{
    if (r->kv_heads && !r->heads)
        return error_set(err, ERROR_INVALID, "kv_heads", "kv_heads means nothing without heads.");
    if (r->heads && rank == 4)
        return error_set(err, ERROR_INVALID, "heads", "q has rank 4 and so has its heads already: leave heads out.");
    return true;
}

/* heads and kv_heads are set: one must be a multiple of the other. */
static bool check_groups(const struct attention *a, const char *name, struct error *err)
{
    return a->heads % a->kv_heads == 0 ||
           error_set(err, ERROR_INVALID, name,
                     "There are %zu query heads and %zu key/value heads; the first must be a multiple of the second.",
                     a->heads, a->kv_heads);
}

static bool split_width(struct named_tensor input, size_t heads, size_t *width, struct error *err)
{
    size_t columns = input.t.shape[input.t.rank - 1];
    *width = columns / heads;
    return columns % heads == 0 ||
           error_set(err, ERROR_INVALID, input.name, "%s has %zu columns, which do not divide into %zu heads.",
                     input.name, columns, heads);
}

static bool check_packed(struct attention *a, const struct named_tensor in[3], struct error *err)
{
    const struct attention_request *r = a->request;
    size_t d_of_k = 0;
    a->packed = true;
    a->has_heads = true;
    a->has_batch = in[0].t.rank == 3;
    a->batch = a->has_batch ? in[0].t.shape[0] : 1;
    a->heads = r->heads;
    a->kv_heads = r->kv_heads ? r->kv_heads : r->heads;
    bool good = check_groups(a, r->kv_heads ? "kv_heads" : "heads", err);
    good &= split_width(in[0], a->heads, &a->d_k, err);
    good &= split_width(in[1], a->kv_heads, &d_of_k, err);
    good &= split_width(in[2], a->kv_heads, &a->d_v, err);
    return good && shape_error_same_extent(in[0], a->d_k, in[1], d_of_k, "the head width", err);
}

static bool check_split(struct attention *a, const struct named_tensor in[3], struct error *err)
{
    size_t rank = in[0].t.rank;
    a->has_batch = rank == 4;
    a->has_heads = rank >= 3;
    a->batch = a->has_batch ? in[0].t.shape[0] : 1;
    a->heads = a->has_heads ? in[0].t.shape[rank - 3] : 1;
    a->kv_heads = a->has_heads ? in[1].t.shape[rank - 3] : 1;
    a->d_k = in[0].t.shape[rank - 1];
    a->d_v = in[2].t.shape[rank - 1];
    bool good = shape_error_same_extent(in[0], a->d_k, in[1], in[1].t.shape[rank - 1], "the width", err);
    if (a->has_heads)
        good &= shape_error_same_extent(in[1], a->kv_heads, in[2], in[2].t.shape[rank - 3], "the number of heads", err);
    return good && check_groups(a, "k", err);
}

/* Views of the inputs as [b][heads][rows][width]. */
static struct tensor split_view(const struct attention *a, struct tensor t, size_t heads, size_t width)
{
    size_t rows = t.shape[t.rank - 2];
    struct tensor view = {.data = t.data, .dtype = t.dtype, .rank = 4, .shape = {a->batch, heads, rows, width}};
    view.stride[3] = 1;
    view.stride[2] = t.shape[t.rank - 1];
    view.stride[1] = a->packed ? width : rows * view.stride[2];
    view.stride[0] = a->packed ? rows * view.stride[2] : heads * view.stride[1];
    return view;
}

static bool check_form_a(struct attention *a, struct error *err)
{
    const struct attention_request *r = a->request;
    const struct named_tensor in[3] = {{"q", r->q}, {"k", r->k}, {"v", r->v}};
    bool good = true;
    for (size_t x = 0; x < 3; x++)
        good &= shape_error_present(in[x], "give q, k and v, or x with w_q, w_k and w_v", err);
    for (size_t x = 0; good && x < 3; x++)
        good &= inputs_check_rank(in[x], 2, 4, err);
    if (!good || !check_given_heads(r, r->q.rank, err))
        return false;
    good = shape_error_same_extent(in[0], r->q.rank, in[1], r->k.rank, "the rank", err);
    good &= shape_error_same_extent(in[0], r->q.rank, in[2], r->v.rank, "the rank", err);
    if (!good)
        return false;
    good = r->heads ? check_packed(a, in, err) : check_split(a, in, err);
    good &= shape_error_same_extent(in[1], r->k.shape[r->k.rank - 2], in[2], r->v.shape[r->v.rank - 2],
                                    "the number of rows (there is one value for each key)", err);
    if (a->has_batch) {
        good &= shape_error_same_extent(in[0], a->batch, in[1], r->k.shape[0], "the batch", err);
        good &= shape_error_same_extent(in[0], a->batch, in[2], r->v.shape[0], "the batch", err);
    }
    a->q = split_view(a, r->q, a->heads, a->d_k);
    a->k = split_view(a, r->k, a->kv_heads, a->d_k);
    a->v = split_view(a, r->v, a->kv_heads, a->d_v);
    a->d_out = a->packed ? a->heads * a->d_v : a->d_v;
    return good;
}

/* --- form B: x (and context) with weights --- */

static bool check_weight(struct named_tensor input, struct named_tensor weight, struct named_tensor bias,
                         struct error *err)
{
    if (weight.t.rank != 2)
        return shape_error_refuse(weight, "a weight is a matrix [inputs][outputs]", err);
    bool good = shape_error_same_extent(input, input.t.shape[input.t.rank - 1], weight, weight.t.shape[0],
                                        "the input width (columns of the input, rows of the weight)", err);
    if (!bias.t.data)
        return good;
    if (bias.t.rank != 1)
        return shape_error_refuse(bias, "a bias is a list, one number per column of its weight", err);
    return good & shape_error_same_extent(weight, weight.t.shape[1], bias, bias.t.shape[0], "the output width", err);
}

static bool check_projections(const struct attention_request *r, struct named_tensor x, struct named_tensor c,
                              struct error *err)
{
    bool good = check_weight(x, (struct named_tensor){"w_q", r->w_q}, (struct named_tensor){"b_q", r->b_q}, err);
    good &= check_weight(c, (struct named_tensor){"w_k", r->w_k}, (struct named_tensor){"b_k", r->b_k}, err);
    return good & check_weight(c, (struct named_tensor){"w_v", r->w_v}, (struct named_tensor){"b_v", r->b_v}, err);
}

bool inputs_check_output(struct attention *a, struct error *err)
{
    const struct attention_request *r = a->request;
    a->d_out = a->heads * a->d_v;
    if (r->b_o.data && !r->w_o.data)
        return error_set(err, ERROR_INVALID, "b_o", "b_o means nothing without w_o.");
    if (!r->w_o.data)
        return true;
    const struct named_tensor merged = {"the output of the heads",
                                        {.rank = 2, .shape = {a->queries, a->d_out}, .dtype = a->dtype}};
    if (!check_weight(merged, (struct named_tensor){"w_o", r->w_o}, (struct named_tensor){"b_o", r->b_o}, err))
        return false;
    a->d_out = r->w_o.shape[1];
    return true;
}

static bool check_form_b(struct attention *a, struct error *err)
{
    const struct attention_request *r = a->request;
    const struct named_tensor x = {"x", r->x};
    const struct named_tensor c = {r->context.data ? "context" : "x", r->context.data ? r->context : r->x};
    const struct named_tensor weights[] = {{"w_q", r->w_q}, {"w_k", r->w_k}, {"w_v", r->w_v}};
    bool good = shape_error_present(x, "the weights need an x to project", err);
    for (size_t w = 0; w < 3; w++)
        good &= shape_error_present(weights[w], "x needs w_q, w_k and w_v", err);
    if (!good || !inputs_check_rank(x, 2, 3, err) || !inputs_check_rank(c, 2, 3, err))
        return false;
    if (!shape_error_same_extent(x, x.t.rank, c, c.t.rank, "the rank", err) || !check_projections(r, x, c, err))
        return false;
    if (!check_given_heads(r, x.t.rank, err))
        return false;
    size_t d_of_k = 0;
    a->packed = true;
    a->has_heads = r->heads != 0;
    a->has_batch = x.t.rank == 3;
    a->batch = a->has_batch ? x.t.shape[0] : 1;
    a->heads = r->heads ? r->heads : 1;
    a->kv_heads = r->kv_heads ? r->kv_heads : a->heads;
    a->q.shape[2] = x.t.shape[x.t.rank - 2];
    a->k.shape[2] = c.t.shape[c.t.rank - 2];
    a->v.shape[2] = a->k.shape[2];
    good = !a->has_batch || shape_error_same_extent(x, a->batch, c, c.t.shape[0], "the batch", err);
    good &= check_groups(a, r->kv_heads ? "kv_heads" : "heads", err);
    good &= split_width(weights[0], a->heads, &a->d_k, err);
    good &= split_width(weights[1], a->kv_heads, &d_of_k, err);
    good &= split_width(weights[2], a->kv_heads, &a->d_v, err);
    good = good && shape_error_same_extent(weights[0], a->d_k, weights[1], d_of_k, "the head width", err);
    a->queries = a->q.shape[2];
    return good && inputs_check_output(a, err);
}

static bool any_of_form_b(const struct attention_request *r)
{
    return r->x.data || r->context.data || r->w_q.data || r->w_k.data || r->w_v.data || r->b_q.data || r->b_k.data ||
           r->b_v.data || r->w_o.data || r->b_o.data;
}

bool inputs_check(struct attention *a, struct error *err)
{
    const struct attention_request *r = a->request;
    if (r->latent.on)
        return latent_check(a, err);
    if (!any_of_form_b(r))
        return check_form_a(a, err);
    const struct named_tensor form_a[] = {{"q", r->q}, {"k", r->k}, {"v", r->v}};
    for (size_t x = 0; x < 3; x++)
        if (form_a[x].t.data)
            return error_set(err, ERROR_INVALID, form_a[x].name,
                             "%s belongs to the form q, k, v; it cannot be mixed with x and weights.", form_a[x].name);
    return check_form_b(a, err);
}
