/* What a request for attention may ask: inputs and options as they were given, nothing resolved, nothing owned. */
#ifndef CORE_REQUEST_H
#define CORE_REQUEST_H

#include "core/cache/latent.h"
#include "core/cache/precision.h"
#include "core/cache/quantize.h"
#include "core/tensor/tensor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Lists. values == NULL: absent. */
struct integers {
    const int64_t *values; /* row-major when rows > 0 */
    size_t count;
    size_t rows; /* 0: one flat list; otherwise [rows][count / rows] */
    bool scalar; /* given as a bare number */
};

struct reals {
    const double *values;
    size_t count;
};

#define WINDOW_UNLIMITED INT64_MAX

/* Visibility of key j to query i; every member applies together with the others. P(i) and R(j) are the positions of a
 * query and a key (mask.h). Broadcast: right-aligned against [b][h][n][m], an axis of size 1 repeats. */
struct mask_request {
    bool causal; /* R(j) <= P(i) */
    struct integers
        query_offset; /* position of query 0 among the keys, one or one per batch; default: the past's length */
    bool align_end;   /* offset m - n */
    bool has_window;
    int64_t left, right; /* P(i) - left <= R(j) <= P(i) + right, or WINDOW_UNLIMITED */
    bool has_prefix;
    int64_t prefix;                                 /* R(j) < prefix is visible to every query; needs causal */
    struct integers query_documents, key_documents; /* [n], [m]: only equal ids see each other */
    struct integers key_lengths;                    /* [b]: keys at or past it are hidden */
    struct tensor allow;                            /* DTYPE_BOOL, rank 2..4 */
    struct tensor bias;                             /* request's dtype, rank 2..4; -inf hides */
    bool alibi;
    struct reals alibi_slopes; /* [h]; absent: the standard slopes */
    bool empty_rows_zero;      /* a query without a visible key: zeros instead of an error */
};

struct rope_request {
    bool on;
    double theta;
    size_t dims; /* 0: d_k */
    bool interleaved, has_interleaved;
    struct integers query_positions, key_positions; /* [n], [new keys], or with a leading [b] */
};

enum variant {
    VARIANT_SOFTMAX,
    VARIANT_LINEAR,             /* Q (K^T V), no softmax */
    VARIANT_MASK_AFTER_SOFTMAX, /* hidden weights zeroed after a softmax over all keys */
    VARIANT_MASK_WITH_ZERO,     /* hidden scores become 0, not -infinity, and go through the softmax */
};

/* Form A is q, k, v; form B is x (and context) with weights; form C x (and context) with `latent`. Shapes as in the
 * contract; all tensors are dense and of `dtype`. */
struct attention_request {
    enum dtype dtype; /* DTYPE_FLOAT64 or DTYPE_FLOAT32: of the arithmetic */
    struct tensor q, k, v;
    struct tensor x, context, w_q, w_k, w_v, b_q, b_k, b_v, w_o, b_o;
    size_t heads, kv_heads; /* 0: not given */
    struct mask_request mask;
    bool has_scale;
    double scale;
    double softcap; /* 0: off */
    struct reals sinks;
    bool has_dropout;
    double dropout_p;
    int64_t dropout_seed;
    struct rope_request rope;
    bool has_past;
    struct tensor past_k, past_v;
    struct tensor past_latent, past_rope_key; /* of `latent`: [p][d_c], [p][d_r], or with a leading [b] */
    enum variant variant;
    struct latent_request latent;
    struct quantize_request quantize;
    struct precision_request precision;
    struct tensor readout_w;
    struct integers ids;     /* [n] or [b][n]: rows of `embedding` that make x (embedding.h) */
    struct tensor embedding; /* [vocabulary][d_model] */
    size_t tile_keys;        /* keys of a tile, in small heads; 0: none */
    bool sinusoidal;         /* positions are added to x */
    bool backward;           /* the way back is asked for (backward.h); it starts from a loss when has_target */
    bool has_target;
};

#endif
