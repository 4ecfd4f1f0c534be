/* Everything that attention computes for a query, by name: results, steps, statistics. One row each: where a request
 * has it, its axes, its formula; replies, their schema and their text follow from it. */
#ifndef CORE_QUANTITY_H
#define CORE_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>

/* id, name in a reply, its extent as a member of struct attention, when a reply has the axis (`a` is the struct
 * attention). */
#define AXES(X) \
    X(BATCH, "batch", batch, a->has_batch) \
    X(HEAD, "head", heads, a->has_heads) \
    X(KV_HEAD, "head", kv_heads, a->has_heads) \
    X(OUTPUT_HEAD, "head", heads, a->has_heads && !a->packed) \
    X(QUERY, "query", queries, true) \
    X(KEY, "key", keys, true) \
    X(FEATURE_K, "feature", d_k, true) \
    X(FEATURE_V, "feature", d_v, true) \
    X(OUTPUT_FEATURE, "feature", d_out, true) \
    X(NEW_KEY, "key", keys - a->past, true) \
    X(WORD, "word", vocabulary, true) \
    X(NO_HEAD, "head", heads, false) \
    X(SHARED_ROW, "group", keys, true) \
    X(SHARED_COLUMN, "group", d_k, true) \
    X(FEATURE_LATENT, "feature", latent.d_c, true) \
    X(FEATURE_QUERY_LATENT, "feature", latent.d_cq, true) \
    X(FEATURE_NOPE, "feature", latent.d_n, true) \
    X(FEATURE_ROPE, "feature", latent.d_r, true) \
    X(TILE, "tile", tiles, true) \
    X(MODEL_FEATURE, "feature", d_model, true)

enum axis {
    AXIS_NONE,
#define AXIS_ID(id, name, extent, there) AXIS_##id,
    AXES(AXIS_ID)
#undef AXIS_ID
        AXIS_COUNT
};

#define AXES_MAX 5 /* of one quantity */

/* Lists of axes, outermost first; AXIS_NONE ends a short one. */
/* In brackets, so that a list stays one argument on its way through the tables; AXES_OF takes them off. */
#define AXES_OF(...) __VA_ARGS__
#define PER_QUERY (AXIS_BATCH, AXIS_HEAD, AXIS_QUERY)
#define PER_PAIR (AXIS_BATCH, AXIS_HEAD, AXIS_QUERY, AXIS_KEY)
#define PER_FEATURE (AXIS_BATCH, AXIS_HEAD, AXIS_QUERY, AXIS_FEATURE_V)
#define PER_TILE (AXIS_BATCH, AXIS_HEAD, AXIS_QUERY, AXIS_TILE)
#define PER_TILE_FEATURE_V (AXIS_BATCH, AXIS_HEAD, AXIS_QUERY, AXIS_TILE, AXIS_FEATURE_V)
#define PER_PAIR_FEATURE_K (AXIS_BATCH, AXIS_HEAD, AXIS_QUERY, AXIS_KEY, AXIS_FEATURE_K)
#define PER_PAIR_FEATURE_V (AXIS_BATCH, AXIS_HEAD, AXIS_QUERY, AXIS_KEY, AXIS_FEATURE_V)

/* What a request must have, and what is special about a quantity. */
enum quantity_trait {
    NEEDS_SOFTMAX = 1,
    NEEDS_SOFTCAP = 2,
    NEEDS_BIAS = 4,
    NEEDS_DROPOUT = 8,
    NEEDS_HEAD_KEYS = 512, /* keys and values of heads, which absorbed latent attention never makes */
    IS_OPT_IN = 16,        /* large: only by its own name */
    IS_BOOLEAN = 32,       /* bytes, 0 or 1, whatever the dtype */
    IS_INDEX = 64,         /* doubles, whatever the dtype: float32 does not hold every index */
    IS_TERMS = 128,        /* not computed with the rows: attention_products, attention_contributions */
    IS_FROM_RUN = 256,     /* from attention_run alone, never again from a block */
    NEEDS_TILES = 1024,
};

/* id, name, axes, traits, formula. Hidden cells: -inf in biased (where the bias hides), masked, shifted; 0 in exp and
 * weights. Rows without a visible key: row_max and log_sum_exp -inf, argmax_key NaN. */
#define OUTPUTS(X) \
    X(OUTPUT, "output", PER_FEATURE, IS_FROM_RUN, "output = weights . v") \
    X(LOG_SUM_EXP, "log_sum_exp", PER_QUERY, NEEDS_SOFTMAX | IS_FROM_RUN, "log_sum_exp = row_max + ln row_sum")

#define MASKS(X) \
    X(ALLOWED, "allowed", PER_PAIR, NEEDS_SOFTMAX | IS_BOOLEAN, "mask.allowed   (1 = may attend)") \
    X(BIAS, "bias", PER_PAIR, NEEDS_SOFTMAX | NEEDS_BIAS, "mask.bias   (added to the scores)")

#define STATISTICS(X) \
    X(ENTROPY_BITS, "entropy_bits", PER_QUERY, NEEDS_SOFTMAX, "entropy_bits = -sum of w * log2 w") \
    X(ARGMAX_KEY, "argmax_key", PER_QUERY, NEEDS_SOFTMAX | IS_INDEX, "argmax_key = the key of the largest weight") \
    X(MAX_WEIGHT, "max_weight", PER_QUERY, NEEDS_SOFTMAX, "max_weight = the largest weight") \
    X(WEIGHT_SUM, "weight_sum", PER_QUERY, NEEDS_SOFTMAX, "weight_sum = sum of the weights") \
    X(EFFECTIVE_KEYS, "effective_keys", PER_QUERY, NEEDS_SOFTMAX, "effective_keys = (sum of w)^2 / sum of w^2") \
    X(JACOBIAN_TRACE, "jacobian_trace", PER_QUERY, NEEDS_SOFTMAX, "jacobian_trace = sum of w * (1 - w)") \
    X(JACOBIAN_NORM, "jacobian_norm", PER_QUERY, NEEDS_SOFTMAX, "jacobian_norm = the size of diag(w) - w w^T") \
    X(SCORE_MEAN, "score_mean", PER_QUERY, NEEDS_SOFTMAX, "score_mean = mean of scaled over the visible keys") \
    X(SCORE_VARIANCE, "score_variance", PER_QUERY, NEEDS_SOFTMAX, "score_variance = their variance")

/* In the order in which they happen. */
#define STEPS(X) \
    X(PRODUCTS, "products", PER_PAIR_FEATURE_K, NEEDS_HEAD_KEYS | IS_OPT_IN | IS_TERMS, \
      "products = q_t * k_t, feature by feature") \
    X(SCORES, "scores", PER_PAIR, 0, "scores = q . k") \
    X(SCALED, "scaled", PER_PAIR, 0, "scaled = scores * scale") \
    X(CAPPED, "capped", PER_PAIR, NEEDS_SOFTMAX | NEEDS_SOFTCAP, "capped = softcap * tanh(scaled / softcap)") \
    X(BIASED, "biased", PER_PAIR, NEEDS_SOFTMAX | NEEDS_BIAS, "biased = capped + bias") \
    X(MASKED, "masked", PER_PAIR, NEEDS_SOFTMAX, "masked = biased, hidden keys -inf") \
    X(EXP_UNSHIFTED, "exp_unshifted", PER_PAIR, NEEDS_SOFTMAX | IS_OPT_IN, "exp_unshifted = e^masked") \
    X(ROW_SUM_UNSHIFTED, "row_sum_unshifted", PER_QUERY, NEEDS_SOFTMAX | IS_OPT_IN, \
      "row_sum_unshifted = sum of exp_unshifted") \
    X(ROW_MAX, "row_max", PER_QUERY, NEEDS_SOFTMAX, "row_max = the largest of the row") \
    X(SHIFTED, "shifted", PER_PAIR, NEEDS_SOFTMAX, "shifted = masked - row_max") \
    X(EXP, "exp", PER_PAIR, NEEDS_SOFTMAX, "exp = e^shifted") \
    X(ROW_SUM, "row_sum", PER_QUERY, NEEDS_SOFTMAX, "row_sum = sum of exp") \
    X(WEIGHTS, "weights", PER_PAIR, 0, "weights = exp / row_sum") \
    X(DROPPED, "dropped", PER_PAIR, NEEDS_SOFTMAX | NEEDS_DROPOUT, "dropped = weights, some 0, the others / (1 - p)") \
    X(CONTRIBUTIONS, "contributions", PER_PAIR_FEATURE_V, IS_OPT_IN | IS_TERMS, "contributions = weight * v") \
    X(CONTRIBUTION_NORMS, "contribution_norms", PER_PAIR, NEEDS_HEAD_KEYS | IS_OPT_IN, \
      "contribution_norms = the length of weight * v, through w_o where there is one") \
    X(TILE_MAX, "tile_max", PER_TILE, NEEDS_TILES, "tile_max = the largest masked score of the tile") \
    X(RUNNING_MAX, "running_max", PER_TILE, NEEDS_TILES, "running_max = the largest so far") \
    X(RESCALE, "rescale", PER_TILE, NEEDS_TILES, "rescale = e^(old running_max - new)") \
    X(TILE_EXP, "tile_exp", PER_PAIR, NEEDS_TILES, "tile_exp = e^(masked - running_max)") \
    X(TILE_SUM, "tile_sum", PER_TILE, NEEDS_TILES, "tile_sum = sum of tile_exp in the tile") \
    X(RUNNING_SUM, "running_sum", PER_TILE, NEEDS_TILES, "running_sum = running_sum * rescale + tile_sum") \
    X(ACCUMULATOR, "accumulator", PER_TILE_FEATURE_V, NEEDS_TILES, "accumulator = accumulator * rescale + tile_exp . v")

#define QUANTITIES(X) OUTPUTS(X) MASKS(X) STATISTICS(X) STEPS(X)

enum quantity {
#define QUANTITY_ID(id, name, axes, traits, formula) QUANTITY_##id,
    QUANTITIES(QUANTITY_ID)
#undef QUANTITY_ID
        QUANTITY_COUNT
};

const char *axis_name(enum axis axis);

const char *quantity_name(enum quantity quantity);
const enum axis *quantity_axes(enum quantity quantity); /* AXES_MAX of them */
bool quantity_has_axis(enum quantity quantity, enum axis axis);
unsigned quantity_traits(enum quantity quantity); /* bits of enum quantity_trait */
bool quantity_is(enum quantity quantity, enum quantity_trait trait);

/* Its formula in one line; text for people may put the numbers of a request into it. */
const char *quantity_formula(enum quantity quantity);

#endif
