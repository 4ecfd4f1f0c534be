/* Everything whose gradient the way back gives, by name, in the order of the flow back. */
#ifndef CORE_BACKWARD_GRADIENT_H
#define CORE_BACKWARD_GRADIENT_H

#include "core/attention.h"

/* What a gradient is laid out like. */
enum gradient_kind {
    GRADIENT_ROW,    /* per query: [b][h][n] */
    GRADIENT_PAIR,   /* per query and key: [b][h][n][m], made row by row */
    GRADIENT_TERM,   /* [b][h][n][m] times a width, made row by row; by name only */
    GRADIENT_TENSOR, /* the shape of what it is the gradient of */
    GRADIENT_NUMBER, /* one number */
};

/* id, name, kind, the object of a reply's gradients that it is a member of (or NULL) and its name there, formula. */
#define GRADIENTS(ROW) \
    ROW(READOUT_W, "readout_w", GRADIENT_TENSOR, NULL, "readout_w", \
        "d readout_w = output^T . (probability - 1 at the target)") \
    ROW(W_O, "w_o", GRADIENT_TENSOR, NULL, "w_o", "d w_o = mixed^T . d output") \
    ROW(B_O, "b_o", GRADIENT_TENSOR, NULL, "b_o", "d b_o = sum of d output over its rows") \
    ROW(OUTPUT, "output", GRADIENT_TENSOR, NULL, "output", "d output") \
    ROW(DROPPED, "dropped", GRADIENT_PAIR, NULL, "dropped", "d dropped = d output . v") \
    ROW(WEIGHTS, "weights", GRADIENT_PAIR, NULL, "weights", \
        "d weights = d output . v, where dropout kept a weight / (1 - p)") \
    ROW(ROW_DOT, "row_dot", GRADIENT_ROW, NULL, "row_dot", "row_dot = sum of weights * d weights = d output . output") \
    ROW(MASKED, "masked", GRADIENT_PAIR, NULL, "masked", "d masked = weights * (d weights - row_dot)") \
    ROW(BIASED, "biased", GRADIENT_PAIR, NULL, "biased", "d biased = d masked") \
    ROW(CAPPED, "capped", GRADIENT_PAIR, NULL, "capped", "d capped = d biased") \
    ROW(SCALED, "scaled", GRADIENT_PAIR, NULL, "scaled", "d scaled = d masked * the slope of the steps between") \
    ROW(SCORES, "scores", GRADIENT_PAIR, NULL, "scores", "d scores = scale * d scaled") \
    ROW(BIAS, "bias", GRADIENT_TENSOR, NULL, "bias", "d bias = d biased, summed where the bias repeats") \
    ROW(ALIBI, "alibi", GRADIENT_TENSOR, NULL, "alibi", "d slope = -sum of abs(i + offset - j) * d biased") \
    ROW(SINKS, "sinks", GRADIENT_TENSOR, NULL, "sinks", "d sink = -sum of the sink's weight * row_dot") \
    ROW(SOFTCAP, "softcap", GRADIENT_NUMBER, NULL, "softcap", "d softcap") \
    ROW(SCALE, "scale", GRADIENT_NUMBER, NULL, "scale", "d scale = sum of scores * d scaled") \
    ROW(INPUTS_Q, "inputs.q", GRADIENT_TENSOR, "inputs", "q", "d q, as it entered the scores = d scores . k") \
    ROW(INPUTS_K, "inputs.k", GRADIENT_TENSOR, "inputs", "k", "d k, as it entered the scores = d scores^T . q") \
    ROW(INPUTS_V, "inputs.v", GRADIENT_TENSOR, "inputs", "v", "d v, as it entered the mix = weights^T . d output") \
    ROW(Q, "q", GRADIENT_TENSOR, NULL, "q", "d q") \
    ROW(K, "k", GRADIENT_TENSOR, NULL, "k", "d k") \
    ROW(V, "v", GRADIENT_TENSOR, NULL, "v", "d v") \
    ROW(PAST_K, "past.k", GRADIENT_TENSOR, "past", "k", "d past.k") \
    ROW(PAST_V, "past.v", GRADIENT_TENSOR, "past", "v", "d past.v") \
    ROW(PAST_LATENT, "past.latent", GRADIENT_TENSOR, "past", "latent", "d past.latent") \
    ROW(PAST_ROPE_KEY, "past.rope_key", GRADIENT_TENSOR, "past", "rope_key", "d past.rope_key") \
    ROW(QUERY_ROPE, "query_rope", GRADIENT_TENSOR, NULL, "query_rope", "d query_rope = d q, its rotated features") \
    ROW(QUERY_NOPE, "query_nope", GRADIENT_TENSOR, NULL, "query_nope", "d query_nope = d q, its other features") \
    ROW(QUERY_LATENT, "query_latent", GRADIENT_TENSOR, NULL, "query_latent", "d query_latent = d q . w_uq^T") \
    ROW(KEY_NOPE, "key_nope", GRADIENT_TENSOR, NULL, "key_nope", "d key_nope = d k, its features without a position") \
    ROW(ROPE_KEY, "rope_key", GRADIENT_TENSOR, NULL, "rope_key", "d rope_key = sum of the heads' d k") \
    ROW(LATENT, "latent", GRADIENT_TENSOR, NULL, "latent", "d latent = d key_nope . w_uk^T + d v . w_uv^T") \
    ROW(QUERY_ABSORBED, "query_absorbed", GRADIENT_TENSOR, NULL, "query_absorbed", \
        "d query_absorbed = d scores . latent") \
    ROW(MIXED_LATENT, "mixed_latent", GRADIENT_TENSOR, NULL, "mixed_latent", "d mixed_latent = d output . w_uv^T") \
    ROW(X, "x", GRADIENT_TENSOR, NULL, "x", "d x, of all its uses") \
    ROW(CONTEXT, "context", GRADIENT_TENSOR, NULL, "context", "d context") \
    ROW(EMBEDDING, "embedding", GRADIENT_TENSOR, NULL, "embedding", "d embedding = d x, summed where an id repeats") \
    ROW(W_Q, "w_q", GRADIENT_TENSOR, NULL, "w_q", "d w_q = x^T . d q") \
    ROW(W_K, "w_k", GRADIENT_TENSOR, NULL, "w_k", "d w_k = x^T . d k") \
    ROW(W_V, "w_v", GRADIENT_TENSOR, NULL, "w_v", "d w_v = x^T . d v") \
    ROW(W_DKV, "w_dkv", GRADIENT_TENSOR, NULL, "w_dkv", "d w_dkv = x^T . d latent, before the norm") \
    ROW(W_KR, "w_kr", GRADIENT_TENSOR, NULL, "w_kr", "d w_kr = x^T . d rope_key, before the rotation") \
    ROW(W_UK, "w_uk", GRADIENT_TENSOR, NULL, "w_uk", "d w_uk = latent^T . d key_nope") \
    ROW(W_UV, "w_uv", GRADIENT_TENSOR, NULL, "w_uv", "d w_uv = latent^T . d v") \
    ROW(W_DQ, "w_dq", GRADIENT_TENSOR, NULL, "w_dq", "d w_dq = x^T . d query_latent, before the norm") \
    ROW(W_UQ, "w_uq", GRADIENT_TENSOR, NULL, "w_uq", "d w_uq = query_latent^T . d q") \
    ROW(GAIN_Q, "gain_q", GRADIENT_TENSOR, NULL, "gain_q", "d gain_q = sum of d query_latent * normed") \
    ROW(GAIN_KV, "gain_kv", GRADIENT_TENSOR, NULL, "gain_kv", "d gain_kv = sum of d latent * normed") \
    ROW(B_Q, "b_q", GRADIENT_TENSOR, NULL, "b_q", "d b_q = sum of d q over its rows") \
    ROW(B_K, "b_k", GRADIENT_TENSOR, NULL, "b_k", "d b_k = sum of d k over its rows") \
    ROW(B_V, "b_v", GRADIENT_TENSOR, NULL, "b_v", "d b_v = sum of d v over its rows") \
    ROW(JACOBIAN, "jacobian", GRADIENT_TERM, NULL, "jacobian", \
        "jacobian: d weights_j / d masked_l = w_j * ((j = l) - w_l)") \
    ROW(PRODUCTS, "products", GRADIENT_TERM, NULL, "products", "d products = d scores, for each feature")

enum gradient {
#define GRADIENT_ID(id, name, kind, object, member, formula) GRADIENT_##id,
    GRADIENTS(GRADIENT_ID)
#undef GRADIENT_ID
        GRADIENT_COUNT
};

const char *gradient_name(enum gradient gradient);
enum gradient_kind gradient_kind(enum gradient gradient);

/* Its formula in one line. */
const char *gradient_formula(enum gradient gradient);

/* Why this request has no such gradient ("softcap would bring it"), or NULL when it has it. */
const char *gradient_lacks(const struct attention *a, enum gradient gradient);

/* The member of the request that it is the gradient of; absent where that is none, or is not there. */
struct tensor gradient_member(const struct attention *a, enum gradient gradient);

/* Its shape, dense, without data; of the kinds that are made row by row too ([b][h][n][..], the axes that the reply has
 * not left out). A number has rank 0. The counts were priced before. */
struct tensor gradient_shape(const struct attention *a, enum gradient gradient);

/* Which axes these are; a name of an axis is all that counts of those of weights. */
void gradient_axes(const struct attention *a, enum gradient gradient, enum axis axes[TENSOR_RANK_MAX]);

/* The numbers of it, or SIZE_MAX where they are past counting. */
size_t gradient_count(const struct attention *a, enum gradient gradient);

#endif
