/* The way back through attention: from the gradient of some number L by the output to its gradient by everything that
 * the output was made of.
 *
 * With G = dL/d(output of a head), A the weights, A~ those after dropout, S the scaled scores:
 *   dA~ = G V^T         dV = A~^T G               (of the heads that share it, summed)
 *   dA = dA~ kept/(1-p) D_i = G_i . O_i           (= sum_j A_ij dA_ij)
 *   d masked_ij = A_ij (dA_ij - D_i)              exactly 0 where hidden
 *   d capped = d masked, d scaled = d capped (1 - tanh^2(S/c))
 *   dQ = scale d scaled K, dK = scale d scaled^T Q
 * then the rotation undone and the projections' transposes (Vaswani et al. 2017; the order of the tiles follows Dao,
 * FlashAttention-2, 2023, algorithm 2). Q (K^T V) has no softmax: d scaled = G V^T. */
#ifndef CORE_BACKWARD_BACKWARD_H
#define CORE_BACKWARD_BACKWARD_H

#include "core/backward/gradient.h"

/* What the way back starts from. The caller sets the first four; backward_prepare makes the rest. */
struct backward {
    const struct attention *a;
    const void *by_output;      /* dL/d output, dense, laid out like the output that is returned */
    const void *mixed;          /* OUTPUT of attention_run: before w_o */
    const double *log_sum_exp;  /* `log_sums` of attention_run */
    struct tensor g;            /* dL/d mixed as [b][H][n][e] */
    const double *row_dot;      /* D [b][h][n] */
    const unsigned char *empty; /* [b][h][n]: rows that mask_with_zero sets to 0 after their softmax; or NULL */
    bool wants[GRADIENT_COUNT]; /* those made row by row that will be asked for, so that they are judged now */
};

/* Where results go: dense arrays of the dtype in gradient_shape, numbers as the dtype too; NULL where not wanted. */
struct backward_results {
    void *of[GRADIENT_COUNT];
};

/* Makes g and row_dot; memory from the arena. */
bool backward_prepare(struct backward *back, struct pool *pool, struct arena *arena, struct error *err);

/* Computes what `results` wants of the kinds GRADIENT_TENSOR and GRADIENT_NUMBER (READOUT_W and OUTPUT are the
 * caller's), and judges the rows of what `wants` names. ERROR_INVALID, named "backward", for a gradient that overflows;
 * ERROR_CANCELLED when *cancel became true. Memory beside the results: O(n d), never O(n m) but where the bias has as
 * many numbers. The numbers depend on the request alone. Small heads add in the order of queries, keys and features, in
 * double. */
bool backward_run(const struct backward *back, const struct backward_results *results, struct pool *pool,
                  const atomic_bool *cancel, struct arena *arena, struct error *err);

/* The gradients by query and key of one block of rows (attention_block), of a way back that backward_run has accepted:
 * results->of[x] points at the block's own rows [count][m], or [count] for ROW_DOT. Any thread. The scratch has
 * backward_block_scratch bytes, at a multiple of ARENA_ALIGNMENT. */
size_t backward_block_scratch(const struct backward *back);
void backward_block_run(const struct backward *back, size_t block, const struct backward_results *results,
                        void *scratch);

/* Some keys j of row i of JACOBIAN: out[j][l] = d weights_j / d masked_l = w_j (delta_jl - w_l), where 1 - w_j is the
 * sum of the other weights and the sink's; after mask_after_softmax 0 for hidden j. The scratch has
 * backward_jacobian_scratch bytes, at a multiple of ARENA_ALIGNMENT. */
size_t backward_jacobian_scratch(const struct backward *back);
void backward_jacobian(const struct backward *back, struct attention_terms at, void *out, void *scratch);

/* The same of PRODUCTS, from row i of SCORES, of all keys: out[j][t] = d score_ij. */
void backward_products(const struct attention *a, struct attention_terms at, const void *scores, void *out);

#endif
