/* Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1): the cache keeps one vector c_j of d_c
 * numbers and a rotated key of d_r for all heads.
 *
 * Row vectors: c = norm(x W_dkv), k_R = rope(x W_kr), k_C = c W_uk, v = c W_uv, q = x W_q, or norm(x W_dq) W_uq, whose
 * last d_r features of a head are rotated. Expanded: s_ij = scale (q_C,i . k_C,j + q_R,i . k_R,j), o_i = sum_j w_ij
 * v_j. Absorbed: q~_i = q_C,i W_uk,h^T, s_ij = scale (q~_i . c_j + q_R,i . k_R,j), z_i = sum_j w_ij c_j, o_i = z_i
 * W_uv,h: the same numbers without any key or value of a head. norm: none, or x / sqrt(mean(x^2) + 1e-6) times a gain.
 */
#ifndef CORE_CACHE_LATENT_H
#define CORE_CACHE_LATENT_H

#include "core/tensor/arena.h"
#include "core/tensor/pool.h"
#include "core/tensor/tensor.h"

#include <stdbool.h>

struct attention;
struct attention_request;
struct rope_request;

#define LATENT_EPSILON 1e-6 /* of the norm */

struct latent_request {
    bool on;
    struct tensor w_dkv, w_kr;     /* [d_model][d_c], [d_model][d_r] */
    struct tensor w_uk, w_uv;      /* [d_c][h d_n], [d_c][h e] */
    struct tensor w_q, w_dq, w_uq; /* [d_model][h (d_n + d_r)], or [d_model][d_cq] and [d_cq][h (d_n + d_r)] */
    struct tensor gain_q, gain_kv; /* [d_cq], [d_c]; absent: 1 */
    bool rms, absorbed;
};

/* Widths, from the check; tensors, from the preparation: all of rank 4, [b][heads or 1][rows][width]. */
struct latent {
    size_t d_c, d_cq, d_n, d_r;
    struct tensor latent, rope_key;       /* all m rows, the past included */
    struct tensor query_latent;           /* with w_dq */
    struct tensor query_nope, query_rope; /* the two parts of q */
    struct tensor key_nope;               /* k_C, where keys are expanded */
    struct tensor query_absorbed;         /* q~ */
    struct tensor mixed_latent;           /* z, set by the run */
};

/* Sets sizes and widths of a request with `latent`; false with ERROR_INVALID where something does not fit. */
bool latent_check(struct attention *a, struct error *err);

/* Whether the request has a past, which is then of this kind; false with ERROR_INVALID when it does not fit. */
bool latent_check_past(struct attention *a, struct error *err);

/* What enters the scores: q and, expanded, k and v; absorbed, a->inner, which runs as one key/value head over c. */
bool latent_prepare(struct attention *a, struct arena *arena, struct pool *pool, struct error *err);

/* How its features are rotated: always, interleaved unless said. */
struct rope_request latent_rope(const struct attention *a);

/* k and v of an absorbed request, as the expanded form has them: for those who want to see them. */
bool latent_expand(struct attention *a, struct arena *arena, struct pool *pool, struct error *err);

/* output [b][n][h][e] = mixed_latent W_uv. ERROR_INVALID on overflow. */
bool latent_mix(const struct attention *a, void *output, struct pool *pool, struct error *err);

/* Numbers that it holds besides the tensors of the request, and operations of its projections. */
double latent_numbers(const struct attention *a);
double latent_flops(const struct attention *a);

#endif
