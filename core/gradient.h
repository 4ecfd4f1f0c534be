/* Everything whose gradient the way back gives, by name, in the order of the flow back. */
#ifndef CORE_GRADIENT_H
#define CORE_GRADIENT_H

#include "core/attention.h"

/* What a gradient is laid out like. */
enum gradient_kind {
    GRADIENT_ROW,    /* per query: [b][h][n] */
    GRADIENT_PAIR,   /* per query and key: [b][h][n][m], made row by row */
    GRADIENT_TERM,   /* [b][h][n][m] times a width, made row by row; by name only */
    GRADIENT_TENSOR, /* the shape of what it is the gradient of */
    GRADIENT_NUMBER, /* one number */
};

/* id, name, kind. */
#define GRADIENTS(ROW) \
    ROW(READOUT_W, "readout_w", GRADIENT_TENSOR) \
    ROW(W_O, "w_o", GRADIENT_TENSOR) \
    ROW(B_O, "b_o", GRADIENT_TENSOR) \
    ROW(OUTPUT, "output", GRADIENT_TENSOR) \
    ROW(DROPPED, "dropped", GRADIENT_PAIR) \
    ROW(WEIGHTS, "weights", GRADIENT_PAIR) \
    ROW(ROW_DOT, "row_dot", GRADIENT_ROW) \
    ROW(MASKED, "masked", GRADIENT_PAIR) \
    ROW(BIASED, "biased", GRADIENT_PAIR) \
    ROW(CAPPED, "capped", GRADIENT_PAIR) \
    ROW(SCALED, "scaled", GRADIENT_PAIR) \
    ROW(SCORES, "scores", GRADIENT_PAIR) \
    ROW(BIAS, "bias", GRADIENT_TENSOR) \
    ROW(ALIBI, "alibi", GRADIENT_TENSOR) \
    ROW(SINKS, "sinks", GRADIENT_TENSOR) \
    ROW(SOFTCAP, "softcap", GRADIENT_NUMBER) \
    ROW(SCALE, "scale", GRADIENT_NUMBER) \
    ROW(INPUTS_Q, "inputs.q", GRADIENT_TENSOR) \
    ROW(INPUTS_K, "inputs.k", GRADIENT_TENSOR) \
    ROW(INPUTS_V, "inputs.v", GRADIENT_TENSOR) \
    ROW(Q, "q", GRADIENT_TENSOR) \
    ROW(K, "k", GRADIENT_TENSOR) \
    ROW(V, "v", GRADIENT_TENSOR) \
    ROW(PAST_K, "past.k", GRADIENT_TENSOR) \
    ROW(PAST_V, "past.v", GRADIENT_TENSOR) \
    ROW(X, "x", GRADIENT_TENSOR) \
    ROW(CONTEXT, "context", GRADIENT_TENSOR) \
    ROW(W_Q, "w_q", GRADIENT_TENSOR) \
    ROW(W_K, "w_k", GRADIENT_TENSOR) \
    ROW(W_V, "w_v", GRADIENT_TENSOR) \
    ROW(B_Q, "b_q", GRADIENT_TENSOR) \
    ROW(B_K, "b_k", GRADIENT_TENSOR) \
    ROW(B_V, "b_v", GRADIENT_TENSOR) \
    ROW(JACOBIAN, "jacobian", GRADIENT_TERM) \
    ROW(PRODUCTS, "products", GRADIENT_TERM)

enum gradient {
#define GRADIENT_ID(id, name, kind) GRADIENT_##id,
    GRADIENTS(GRADIENT_ID)
#undef GRADIENT_ID
        GRADIENT_COUNT
};

const char *gradient_name(enum gradient gradient);
enum gradient_kind gradient_kind(enum gradient gradient);

/* Why this request has no such gradient ("softcap would bring it"), or NULL when it has it. READOUT_W is for the caller
 * to know: only a target brings it. */
const char *gradient_lacks(const struct attention *a, enum gradient gradient);

/* Its shape, dense, without data; of the kinds that are made row by row too ([b][h][n][..], the axes that the reply has
 * not left out). A number has rank 0. The counts were priced before. */
struct tensor gradient_shape(const struct attention *a, enum gradient gradient);

/* The numbers of it, or SIZE_MAX where they are past counting. */
size_t gradient_count(const struct attention *a, enum gradient gradient);

#endif
