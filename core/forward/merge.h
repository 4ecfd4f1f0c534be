/* Partial results over disjoint keys joined into the result over all keys, by their log-sum-exp.
 *
 * For each row with l_p = log sum_j exp(s_j) of part p: M = max_p l_p, S = sum_p e^(l_p - M), y = sum_p (e^(l_p - M) /
 * S) y_p, l = M + log S (the split softmax of Rabe and Staats 2021 and of FlashAttention). A part with l_p = -inf has
 * no key there and adds nothing, whatever its y_p; when all have none, y = 0 and l = -inf. */
#ifndef CORE_FORWARD_MERGE_H
#define CORE_FORWARD_MERGE_H

#include "core/tensor/error.h"
#include "core/tensor/tensor.h"

/* Dense tensors of the same dtype. Both ranks as attention returns them: output [n][e], [h][n][e] or [b][h][n][e] with
 * log_sum_exp [n], [h][n], [b][h][n]; or packed, [n][h e] or [b][n][h e] with [h][n], [b][h][n]. */
struct merge_part {
    struct tensor output, log_sum_exp;
};

/* How rows lie: row (b, h, i) of the output begins at ((b * n + i) * H + h) * e when packed, else at its place in
 * [b][h][n][e]. */
struct merge_layout {
    size_t batch, heads, queries, width;
    bool packed;
};

/* The layout that all parts share; refuses parts ("parts.1.output") that differ. */
bool merge_check(const struct merge_part *parts, size_t count, struct merge_layout *layout, struct error *err);

/* Computes in double, rounds once; nothing overflows. `output` and `log_sum_exp` are shaped as those of the parts;
 * `share` is room for `count` numbers. */
void merge_run(const struct merge_part *parts, size_t count, const struct merge_layout *layout, double *share,
               void *output, void *log_sum_exp);

#endif
