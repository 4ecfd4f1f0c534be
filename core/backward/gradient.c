/* Names and shapes of the gradients. */
#include "core/backward/gradient.h"

static const struct {
    const char *name;
    enum gradient_kind kind;
    const char *formula;
} table[GRADIENT_COUNT] = {
#define GRADIENT_ENTRY(id, name, kind, object, member, formula) {name, kind, formula},
    GRADIENTS(GRADIENT_ENTRY)
#undef GRADIENT_ENTRY
};

const char *gradient_name(enum gradient gradient)
{
    return table[gradient].name;
}

enum gradient_kind gradient_kind(enum gradient gradient)
{
    return table[gradient].kind;
}

const char *gradient_formula(enum gradient gradient)
{
    return table[gradient].formula;
}

static struct tensor latent_member(const struct attention_request *r, enum gradient gradient)
{
    switch (gradient) {
    case GRADIENT_PAST_LATENT:
        return r->past_latent;
    case GRADIENT_PAST_ROPE_KEY:
        return r->past_rope_key;
    case GRADIENT_W_DKV:
        return r->latent.w_dkv;
    case GRADIENT_W_KR:
        return r->latent.w_kr;
    case GRADIENT_W_UK:
        return r->latent.w_uk;
    case GRADIENT_W_UV:
        return r->latent.w_uv;
    case GRADIENT_W_DQ:
        return r->latent.w_dq;
    case GRADIENT_W_UQ:
        return r->latent.w_uq;
    case GRADIENT_GAIN_Q:
        return r->latent.gain_q;
    case GRADIENT_GAIN_KV:
        return r->latent.gain_kv;
    default:
        return (struct tensor){0};
    }
}

/* None where ids choose its rows. */
static struct tensor own_x(const struct attention_request *r)
{
    const struct tensor none = {0};
    return r->ids.values ? none : r->x;
}

struct tensor gradient_member(const struct attention *a, enum gradient gradient)
{
    const struct attention_request *r = a->request;
    switch (gradient) {
    case GRADIENT_READOUT_W:
        return r->readout_w;
    case GRADIENT_W_O:
        return r->w_o;
    case GRADIENT_B_O:
        return r->b_o;
    case GRADIENT_BIAS:
        return r->mask.bias;
    case GRADIENT_Q:
        return r->q;
    case GRADIENT_K:
        return r->k;
    case GRADIENT_V:
        return r->v;
    case GRADIENT_PAST_K:
        return r->past_k;
    case GRADIENT_PAST_V:
        return r->past_v;
    case GRADIENT_X:
        return own_x(r);
    case GRADIENT_EMBEDDING:
        return r->embedding;
    case GRADIENT_CONTEXT:
        return r->context;
    case GRADIENT_W_Q:
        return r->latent.on ? r->latent.w_q : r->w_q;
    case GRADIENT_W_K:
        return r->w_k;
    case GRADIENT_W_V:
        return r->w_v;
    case GRADIENT_B_Q:
        return r->b_q;
    case GRADIENT_B_K:
        return r->b_k;
    case GRADIENT_B_V:
        return r->b_v;
    default:
        return latent_member(r, gradient);
    }
}

/* A step of latent attention. */
static bool is_latent_step(enum gradient gradient)
{
    return gradient >= GRADIENT_QUERY_ROPE && gradient <= GRADIENT_MIXED_LATENT;
}

static const char *bringer_of(enum gradient gradient)
{
    if (is_latent_step(gradient) || (gradient >= GRADIENT_W_DKV && gradient <= GRADIENT_GAIN_KV))
        return "latent with that member would bring it";
    switch (gradient) {
    case GRADIENT_PAST_LATENT:
    case GRADIENT_PAST_ROPE_KEY:
        return "latent with a past would bring it";
    case GRADIENT_W_O:
        return "w_o would bring it";
    case GRADIENT_B_O:
        return "w_o with b_o would bring it";
    case GRADIENT_BIAS:
        return "mask.bias would bring it";
    case GRADIENT_Q:
    case GRADIENT_K:
    case GRADIENT_V:
        return "the form q, k, v would bring it; with x, inputs has them";
    case GRADIENT_PAST_K:
    case GRADIENT_PAST_V:
        return "past would bring it";
    case GRADIENT_CONTEXT:
        return "context would bring it";
    case GRADIENT_B_Q:
    case GRADIENT_B_K:
    case GRADIENT_B_V:
        return "a bias of that projection would bring it";
    case GRADIENT_EMBEDDING:
        return "ids with embedding would bring it";
    case GRADIENT_X:
        return "x would bring it; of ids it is embedding that has a gradient";
    default:
        return "x with w_q, w_k and w_v would bring it";
    }
}

static const char *lacks_step(const struct attention *a, enum gradient gradient)
{
    const struct attention_request *r = a->request;
    if (gradient == GRADIENT_CAPPED || gradient == GRADIENT_SOFTCAP)
        return r->softcap > 0 ? NULL : "softcap would bring it";
    if (gradient == GRADIENT_BIASED)
        return r->mask.bias.data || r->mask.alibi ? NULL : "mask.bias or mask.alibi would bring it";
    if (gradient == GRADIENT_ALIBI)
        return r->mask.alibi ? NULL : "mask.alibi would bring it";
    if (gradient == GRADIENT_SINKS)
        return r->sinks.values ? NULL : "sinks would bring it";
    if (gradient == GRADIENT_DROPPED)
        return r->has_dropout ? NULL : "dropout would bring it";
    return NULL;
}

static bool needs_softmax(enum gradient gradient)
{
    return gradient == GRADIENT_ROW_DOT || gradient == GRADIENT_MASKED || gradient == GRADIENT_JACOBIAN;
}

static const char *lacks_latent_step(const struct latent_request *l, enum gradient gradient)
{
    if (!l->on || (gradient == GRADIENT_QUERY_LATENT && !l->w_dq.data))
        return bringer_of(gradient);
    if (gradient == GRADIENT_KEY_NOPE && l->absorbed)
        return "the absorbed form never makes keys of heads";
    if ((gradient == GRADIENT_QUERY_ABSORBED || gradient == GRADIENT_MIXED_LATENT) && !l->absorbed)
        return "latent.form \"absorbed\" would bring it";
    return NULL;
}

const char *gradient_lacks(const struct attention *a, enum gradient gradient)
{
    if (!a->request->backward)
        return "backward would bring it";
    if (gradient == GRADIENT_READOUT_W && !a->request->has_target)
        return "backward.target would bring it";
    if (a->request->variant == VARIANT_LINEAR && needs_softmax(gradient))
        return "variant linear has no softmax, so it has no such step";
    if (gradient_kind(gradient) != GRADIENT_TENSOR || gradient == GRADIENT_ALIBI || gradient == GRADIENT_SINKS)
        return lacks_step(a, gradient);
    if (gradient == GRADIENT_OUTPUT || gradient == GRADIENT_INPUTS_Q || gradient == GRADIENT_INPUTS_K ||
        gradient == GRADIENT_INPUTS_V)
        return NULL;
    if (is_latent_step(gradient))
        return lacks_latent_step(&a->request->latent, gradient);
    return gradient_member(a, gradient).data ? NULL : bringer_of(gradient);
}

/* [b][h][rows][width] without the axes that the reply has not. */
static struct tensor split_shape(const struct attention *a, size_t heads, size_t rows, size_t width)
{
    const size_t full[4] = {a->batch, heads, rows, width};
    size_t shape[TENSOR_RANK_MAX];
    size_t rank = 0;
    for (size_t axis = 0; axis < 4; axis++)
        if ((axis != 0 || a->has_batch) && (axis != 1 || a->has_heads))
            shape[rank++] = full[axis];
    return tensor_dense(a->dtype, rank, shape, NULL);
}

static struct tensor output_shape(const struct attention *a)
{
    const size_t packed[3] = {a->batch, a->queries, a->d_out};
    if (!a->packed)
        return split_shape(a, a->heads, a->queries, a->d_v);
    return tensor_dense(a->dtype, 2U + a->has_batch, packed + !a->has_batch, NULL);
}

static struct tensor pair_shape(const struct attention *a, size_t width)
{
    struct tensor rows = split_shape(a, a->heads, a->queries, a->keys);
    rows.shape[rows.rank] = width;
    return tensor_dense(a->dtype, rows.rank + (width > 0), rows.shape, NULL);
}

/* Rows that all heads share. */
static struct tensor shared_shape(const struct attention *a, size_t rows, size_t width)
{
    const size_t shape[3] = {a->batch, rows, width};
    return tensor_dense(a->dtype, 2U + a->has_batch, shape + !a->has_batch, NULL);
}

static struct tensor latent_step_shape(const struct attention *a, enum gradient gradient)
{
    switch (gradient) {
    case GRADIENT_LATENT:
        return shared_shape(a, a->keys, a->latent.d_c);
    case GRADIENT_ROPE_KEY:
        return shared_shape(a, a->keys, a->latent.d_r);
    case GRADIENT_QUERY_LATENT:
        return shared_shape(a, a->queries, a->latent.d_cq);
    case GRADIENT_QUERY_NOPE:
        return split_shape(a, a->heads, a->queries, a->latent.d_n);
    case GRADIENT_QUERY_ROPE:
        return split_shape(a, a->heads, a->queries, a->latent.d_r);
    case GRADIENT_KEY_NOPE:
        return split_shape(a, a->heads, a->keys, a->latent.d_n);
    default: /* absorbed queries, mixed latent vectors */
        return split_shape(a, a->heads, a->queries, a->latent.d_c);
    }
}

struct tensor gradient_shape(const struct attention *a, enum gradient gradient)
{
    struct tensor t;
    if (is_latent_step(gradient))
        return latent_step_shape(a, gradient);
    switch (gradient) {
    case GRADIENT_OUTPUT:
        return output_shape(a);
    case GRADIENT_ALIBI:
    case GRADIENT_SINKS:
        return tensor_dense(a->dtype, 1, &a->heads, NULL);
    case GRADIENT_INPUTS_Q:
        return split_shape(a, a->heads, a->queries, a->d_k);
    case GRADIENT_INPUTS_K:
        return split_shape(a, a->kv_heads, a->keys, a->d_k);
    case GRADIENT_INPUTS_V:
        return split_shape(a, a->kv_heads, a->keys, a->d_v);
    case GRADIENT_ROW_DOT:
        t = split_shape(a, a->heads, a->queries, 1);
        return tensor_dense(a->dtype, t.rank - 1, t.shape, NULL);
    case GRADIENT_SOFTCAP:
    case GRADIENT_SCALE:
        return (struct tensor){.dtype = a->dtype};
    case GRADIENT_JACOBIAN:
        return pair_shape(a, a->keys);
    case GRADIENT_PRODUCTS:
        return pair_shape(a, a->d_k);
    default:
        t = gradient_member(a, gradient);
        return t.data ? tensor_dense(a->dtype, t.rank, t.shape, NULL) : pair_shape(a, 0);
    }
}

/* Of a tensor that broadcasts against [b][h][n][m], aligned at the right. */
static void name_broadcast(size_t rank, enum axis axes[TENSOR_RANK_MAX])
{
    static const enum axis full[4] = {AXIS_BATCH, AXIS_HEAD, AXIS_QUERY, AXIS_KEY};
    for (size_t x = 0; x < rank; x++)
        axes[x] = full[4 - rank + x];
}

/* [b][h][rows][feature] without the axes that are not there; packed: [b][rows][feature]. */
static void name_rows(const struct attention *a, size_t rank, enum axis rows, enum axis axes[TENSOR_RANK_MAX])
{
    for (size_t x = 0; x < rank; x++)
        axes[x] = AXIS_FEATURE_K;
    axes[rank - 2] = rows;
    if (rank > 2 && a->has_batch)
        axes[0] = AXIS_BATCH;
    if (rank > 2U + a->has_batch)
        axes[rank - 3] = AXIS_HEAD;
}

/* What each row of a tensor with rows and features stands for; AXIS_NONE: it has no such rows. */
static enum axis find_rows(enum gradient gradient)
{
    switch (gradient) {
    case GRADIENT_OUTPUT:
    case GRADIENT_INPUTS_Q:
    case GRADIENT_Q:
    case GRADIENT_X:
    case GRADIENT_QUERY_LATENT:
    case GRADIENT_QUERY_NOPE:
    case GRADIENT_QUERY_ROPE:
    case GRADIENT_QUERY_ABSORBED:
    case GRADIENT_MIXED_LATENT:
        return AXIS_QUERY;
    case GRADIENT_INPUTS_K:
    case GRADIENT_INPUTS_V:
    case GRADIENT_PAST_K:
    case GRADIENT_PAST_V:
    case GRADIENT_PAST_LATENT:
    case GRADIENT_PAST_ROPE_KEY:
    case GRADIENT_LATENT:
    case GRADIENT_ROPE_KEY:
    case GRADIENT_KEY_NOPE:
        return AXIS_KEY;
    case GRADIENT_K:
    case GRADIENT_V:
    case GRADIENT_CONTEXT:
        return AXIS_NEW_KEY;
    default:
        return AXIS_NONE;
    }
}

/* A step: batch, head, query and key as far as they are there, and what a term is of. */
static void name_step(const struct attention *a, enum gradient gradient, size_t rank, enum axis axes[TENSOR_RANK_MAX])
{
    static const enum axis full[4] = {AXIS_BATCH, AXIS_HEAD, AXIS_QUERY, AXIS_KEY};
    name_broadcast(4, axes);
    for (size_t x = 0, at = 0; x < 4; x++)
        if (attention_has_axis(a, full[x]))
            axes[at++] = full[x];
    if (gradient_kind(gradient) == GRADIENT_TERM)
        axes[rank - 1] = gradient == GRADIENT_JACOBIAN ? AXIS_KEY : AXIS_FEATURE_K;
}

static void name_features(enum gradient gradient, size_t rank, enum axis axes[TENSOR_RANK_MAX])
{
    for (size_t x = 0; x < rank; x++)
        axes[x] = AXIS_FEATURE_K;
    if (gradient == GRADIENT_READOUT_W)
        axes[1] = AXIS_WORD;
    if (gradient == GRADIENT_EMBEDDING)
        axes[0] = AXIS_WORD;
}

void gradient_axes(const struct attention *a, enum gradient gradient, enum axis axes[TENSOR_RANK_MAX])
{
    size_t rank = gradient_shape(a, gradient).rank;
    enum gradient_kind kind = gradient_kind(gradient);
    if (gradient == GRADIENT_BIAS)
        name_broadcast(rank, axes);
    else if (gradient == GRADIENT_ALIBI || gradient == GRADIENT_SINKS)
        axes[0] = AXIS_HEAD;
    else if (find_rows(gradient) != AXIS_NONE)
        name_rows(a, rank, find_rows(gradient), axes);
    else if (kind == GRADIENT_TENSOR || kind == GRADIENT_NUMBER)
        name_features(gradient, rank, axes);
    else
        name_step(a, gradient, rank, axes);
}

size_t gradient_count(const struct attention *a, enum gradient gradient)
{
    struct tensor t = gradient_shape(a, gradient);
    size_t count = 1;
    for (size_t axis = 0; axis < t.rank; axis++)
        if (!size_multiply(count, t.shape[axis], &count))
            return (size_t)-1;
    return count;
}
