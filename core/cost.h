/* The bill of a request: operations of each step, the score matrix that a fused kernel does not keep, the key/value
 * cache.
 *
 * A multiplication, an addition, a comparison, an exponential and a hyperbolic tangent are one operation each; hidden
 * cells count. With P = b H n m pairs: scores 2 P d, scaled P, capped 3 P, biased P for a bias and 3 P for ALiBi,
 * row_max, shifted, exp, row_sum and weights P each, dropped P, output 2 P e; a projection 2 rows in out; rotary 3 r
 * per row and head. The linear variant has no pairs: b H (2 m d e + 2 n d e) and b H n e for the scale. Cache, numbers
 * per token and layer: 2 H d for multi-head, 2 G d for G groups (Ainslie et al. 2023), 2 d for one (Shazeer 2019), with
 * d + e for 2 d where values are e wide; latent attention keeps one vector of d_c = 4 d and a rotary key of d_R = d /
 * 2, rounded up, for all heads (DeepSeek-V2 2024, section 2.1: d_c + d_R), and, its projections absorbed, scores and
 * mixes that latent vector: 2 P (d_c + d_R) and 2 P d_c; the projections themselves are counted as for one key/value
 * head. */
#ifndef CORE_COST_H
#define CORE_COST_H

#include "core/attention.h"

#define COST_LATENT_PER_WIDTH 4

/* In the order in which they happen. */
#define COST_STEPS(X) \
    X(PROJECTIONS, "projections") \
    X(ROPE, "rope") \
    X(SCORES, "scores") \
    X(SCALED, "scaled") \
    X(CAPPED, "capped") \
    X(BIASED, "biased") \
    X(ROW_MAX, "row_max") \
    X(SHIFTED, "shifted") \
    X(EXP, "exp") \
    X(ROW_SUM, "row_sum") \
    X(WEIGHTS, "weights") \
    X(DROPPED, "dropped") \
    X(OUTPUT, "output") \
    X(OUTPUT_PROJECTION, "output_projection")

enum cost_step {
#define COST_STEP(id, name) COST_##id,
    COST_STEPS(COST_STEP)
#undef COST_STEP
        COST_STEP_COUNT
};

const char *cost_step_name(enum cost_step step);

/* How queries share keys and values. latent > 0: one latent vector of that width and a rotary key for all heads; where
 * it is expanded, scores and mixes are those of heads. single: one head as wide as all of them. */
struct cost_layout {
    size_t kv_heads;
    size_t latent, rotary;
    bool expanded, single;
    const char *formula; /* of the numbers kept for a token and layer */
};

/* What a cache costs in a model: all its layers, tokens of context, sequences. */
struct cost_plan {
    bool on;
    size_t layers, context, sequences; /* 0: not given: 1, the keys of the request, 1 */
    double bytes_per_number;           /* 0: not given: 2 */
    double memory_bytes;               /* 0: not given */
};

struct cost_cache {
    double bytes_per_token, bytes, sequences_that_fit; /* of all layers; of all sequences */
};

/* The request's own layout, and others beside it. Grouped: its own kv_heads where those are groups (1 < G < H), else
 * the largest divisor of H that is not above its square root. */
struct cost_layout cost_own(const struct attention *a);
struct cost_layout cost_multi_head(const struct attention *a);
struct cost_layout cost_grouped_query(const struct attention *a);
struct cost_layout cost_multi_query(void);
struct cost_layout cost_single_head(void);
struct cost_layout cost_latent(const struct attention *a);

/* Counts are whole numbers; in double, so that none overflows. */
struct cost {
    double flops[COST_STEP_COUNT]; /* 0: the request has no such step */
    double total;
    double scores;                 /* numbers in the score matrices (linear: it needs none, and 0) */
    double cache_per_token, cache; /* numbers kept for a token, and for all m tokens of all batches */
};

struct cost cost_count(const struct attention *a, struct cost_layout layout);

/* The cache of a layout in a model. */
struct cost_cache cost_plan_cache(const struct attention *a, struct cost cost, const struct cost_plan *plan);

#endif
