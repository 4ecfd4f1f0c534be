/* Attention: O = softmax(softcap(scale Q K^T) + bias | mask) V, for every head, with every step open to view.
 *
 * b batch, h query head of H, g key/value head of G (g = h / (H/G)), i query of n, j key of m (m counts the past),
 * d = d_k, e = d_v. Vaswani et al. 2017; the order of the steps is that of QUANTITIES. */
#ifndef CORE_ATTENTION_H
#define CORE_ATTENTION_H

#include "core/cache/latent.h"
#include "core/cache/quantize.h"
#include "core/mask.h"
#include "core/quantity.h"
#include "core/request.h"
#include "core/tensor/arena.h"
#include "core/tensor/pool.h"

#include <stdatomic.h>

/* A request, resolved. Filled by attention_check, the tensors by attention_prepare; read-only for others. */
struct attention {
    const struct attention_request *request;
    enum dtype dtype;
    size_t batch, heads, kv_heads, queries, keys, past, d_k, d_v;
    size_t d_out;              /* width of an output row as returned: d_v, heads * d_v (packed) or the columns of w_o */
    size_t tiles;              /* of the request's `tile_keys` keys each; 0: no tiles */
    const double *norms;       /* attention_norms; NULL: none */
    size_t d_model;            /* columns of x, 0 without one */
    size_t vocabulary;         /* columns of readout_w */
    bool has_batch, has_heads; /* the reply has these axes */
    bool packed;               /* output is [b][n][heads * d_v] */
    double scale;
    struct mask mask;
    struct tensor q, k, v; /* rank 4, [b][H][n][d], [b][G][m][d], [b][G][m][e]: what enters the scores; last stride 1; k
                              and v without data where they are decoded by tiles: attention_keys, attention_values */
    bool
        scores_may_overflow; /* some number of the chain up to `biased` may be too large for the dtype: one whose ... */
    double sure_product;     /* ... max |q_i| max |k_j| is above this (overflow.h) */
    bool output_may_overflow;                  /* some sum of the output may: one with a term ... */
    double sure_term;                          /* ... above this */
    struct tensor kept_q, kept_k, kept_v;      /* before they were rounded: what `present` holds */
    struct quantized quantized_k, quantized_v; /* side NULL: that side is exact */
    struct latent latent;
    struct precision precision;
    struct attention *inner;   /* what runs in place of an absorbed `latent`, or NULL */
    const atomic_bool *cancel; /* stops attention_prepare and projections; set after the check, or NULL */
};

/* Checks shapes and options. Allocates nothing. */
bool attention_check(struct attention *a, const struct attention_request *request, struct error *err);

/* Why this request has no such quantity ("capped needs softcap"), or NULL when it has it. */
const char *attention_lacks(const struct attention *a, enum quantity quantity);

/* How long an axis is, and whether a reply has it. */
size_t attention_extent(const struct attention *a, enum axis axis);
bool attention_has_axis(const struct attention *a, enum axis axis);

/* Numbers that a quantity has per query, and in all; their dtype. */
size_t attention_width(const struct attention *a, enum quantity quantity);
size_t attention_count(const struct attention *a, enum quantity quantity);
enum dtype attention_dtype(const struct attention *a, enum quantity quantity);

/* Projections, rotary embedding, the past put in front, the mask made ready. A projection that overflows, or a query or
 * key that does when it is rotated, is ERROR_INVALID; ERROR_CANCELLED when *cancel is true. */
bool attention_prepare(struct attention *a, struct arena *arena, struct pool *pool, struct error *err);

/* Where results go: dense [b][h][n][width] arrays of attention_dtype (OUTPUT: [b][n][h][e] when packed), NULL where not
 * wanted. PRODUCTS and CONTRIBUTIONS are not computed here. */
struct attention_results {
    void *of[QUANTITY_COUNT];
    double *log_sums; /* [b][h][n]: LOG_SUM_EXP before it is rounded to the dtype; or NULL */
};

/* Computes all rows. OUTPUT must be wanted. ERROR_INVALID for rows without a visible key (unless zeros were asked for),
 * and for rows where a visible number of the chain overflows (a term of q.k or of the output counts), with the name of
 * the step; ERROR_CANCELLED when *cancel became true. The numbers depend on the request alone: not on what is wanted,
 * not on the pool. Whether a request is refused does not depend on OpenBLAS's kernel either. */
bool attention_run(const struct attention *a, const struct attention_results *results, struct pool *pool,
                   const atomic_bool *cancel, struct arena *arena, struct error *err);

/* Bytes that attention_run takes for itself at least: states, parts of split keys, scratch of one worker. */
size_t attention_run_room(const struct attention *a);

#define ROWS_PER_BLOCK 64 /* at most; fewer where the rows are long */

/* The computation is cut into blocks of rows: block t is some rows of one head, in the order [b][h][n]. */
struct attention_rows {
    size_t b, h, first, count;
};
size_t attention_blocks(const struct attention *a);
struct attention_rows attention_block(const struct attention *a, size_t block);

/* One block again, of a request that attention_run has accepted: results->of[x] points at the block's own rows
 * [count][width] (OUTPUT and LOG_SUM_EXP are ignored: attention_run has them). Any thread. The scratch has
 * attention_block_scratch bytes, at a multiple of ARENA_ALIGNMENT. */
size_t attention_block_scratch(const struct attention *a);
void attention_block_run(const struct attention *a, size_t block, const struct attention_results *results,
                         void *scratch);

/* Some keys of one key/value head. */
struct attention_span {
    size_t b, g, first, count;
};

/* Keys, and values, of a span: where they stand, or decoded into `room`. Rows are k.stride[2], and v.stride[2], numbers
 * apart. A room for `count` keys has attention_keys_room bytes (0 where they stand anyway), at a multiple of
 * ARENA_ALIGNMENT; the same for values. */
size_t attention_keys_room(const struct attention *a, size_t count);
size_t attention_values_room(const struct attention *a, size_t count);
const void *attention_keys(const struct attention *a, struct attention_span span, void *room);
const void *attention_values(const struct attention *a, struct attention_span span, void *room);

/* Operations of all that decoding by tiles: of the run, and of every block of rows once. */
double attention_decode_flops(const struct attention *a);

/* Some keys of one query. */
struct attention_terms {
    size_t b, h, i;
    size_t first, count; /* keys */
};

/* The terms of row i: out[count][d_k] = q_it k_jt, and out[count][e] = weights[j] v_jt (0 where the weight is 0).
 * `weights` is row i of DROPPED where there is dropout, of WEIGHTS otherwise: of all keys. The room is for one key, or
 * one value. */
void attention_products(const struct attention *a, struct attention_terms at, void *out, void *room);
void attention_contributions(const struct attention *a, struct attention_terms at, const void *weights, void *out,
                             void *room);

/* Makes CONTRIBUTION_NORMS possible: a->norms [b][H][m] becomes the length of each value as head h sees it, through its
 * rows of w_o where there is one. */
bool attention_norms(struct attention *a, struct arena *arena, struct error *err);

/* out[b][H][n][d_out] = each head's output through its rows of w_o, before the sum over heads. */
void attention_head_outputs(const struct attention *a, const void *merged, void *out);

/* [b][n][d_out] = [b][n][h][e] W_o + b_o. `merged` and `out` are dense. ERROR_INVALID on overflow, ERROR_CANCELLED when
 * *cancel is true. */
bool attention_project_output(const struct attention *a, const void *merged, void *out, struct pool *pool,
                              struct error *err);

#endif
