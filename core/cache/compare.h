/* What rounding costs: scores, weights and output beside those of the exact result. */
#ifndef CORE_CACHE_COMPARE_H
#define CORE_CACHE_COMPARE_H

#include "core/attention.h"

/* The same request without its quantised cache or emulated precision: what `a`, prepared, is held against. */
bool compare_exact(const struct attention *a, struct attention *exact, struct arena *arena, struct pool *pool,
                   struct error *err);

/* Differences are absolute; scores and weights count in visible cells. The sink is one more key of a row's weights. */
struct comparison {
    double scores_max, scores_rms; /* of the step scores */
    double weights_max;
    size_t argmax_changed; /* rows whose first largest key is another */
    double output_max, output_rms;
    struct tensor kl_bits; /* [b][h][n]: sum_j w_j log2(w_j / w^_j), w exact; NaN where w^_j = 0 < w_j */
    struct tensor cosine;  /* per row of the output: [b][n] when packed, else [b][h][n]; NaN where a row is 0 */
};

/* Bytes that compare_run takes for itself at least. */
size_t compare_room(const struct attention *a);

/* Both are prepared; both outputs are as returned, rows of d_out numbers, in the dtype of their attention. Every block
 * of rows is computed again, twice. */
bool compare_run(const struct attention *a, const struct attention *exact, const void *output, const void *exact_output,
                 struct comparison *comparison, struct pool *pool, const atomic_bool *cancel, struct arena *arena,
                 struct error *err);

#endif
