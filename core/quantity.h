/* Everything that attention computes for a query, by name: results, steps, statistics. */
#ifndef CORE_QUANTITY_H
#define CORE_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>

/* How many numbers a query has of it. */
enum quantity_axis {
    AXIS_QUERY,         /* one */
    AXIS_KEY,           /* m */
    AXIS_FEATURE,       /* d_v */
    AXIS_KEY_FEATURE_K, /* m x d_k */
    AXIS_KEY_FEATURE_V, /* m x d_v */
};

/* id, name, axis. The steps stand in the order in which they happen, `products` first in that order but opt-in like
 * `contributions`. Hidden cells: -inf in biased (where the bias hides), masked, shifted; 0 in exp and weights.
 * Rows without a visible key: row_max and log_sum_exp -inf, argmax_key NaN. */
#define QUANTITIES(X) \
    X(OUTPUT, "output", AXIS_FEATURE) \
    X(WEIGHTS, "weights", AXIS_KEY) \
    X(LOG_SUM_EXP, "log_sum_exp", AXIS_QUERY) \
    X(ALLOWED, "allowed", AXIS_KEY) \
    X(BIAS, "bias", AXIS_KEY) \
    X(ENTROPY_BITS, "entropy_bits", AXIS_QUERY) \
    X(ARGMAX_KEY, "argmax_key", AXIS_QUERY) \
    X(MAX_WEIGHT, "max_weight", AXIS_QUERY) \
    X(WEIGHT_SUM, "weight_sum", AXIS_QUERY) \
    X(SCORES, "scores", AXIS_KEY) \
    X(SCALED, "scaled", AXIS_KEY) \
    X(CAPPED, "capped", AXIS_KEY) \
    X(BIASED, "biased", AXIS_KEY) \
    X(MASKED, "masked", AXIS_KEY) \
    X(ROW_MAX, "row_max", AXIS_QUERY) \
    X(SHIFTED, "shifted", AXIS_KEY) \
    X(EXP, "exp", AXIS_KEY) \
    X(ROW_SUM, "row_sum", AXIS_QUERY) \
    X(DROPPED, "dropped", AXIS_KEY) \
    X(PRODUCTS, "products", AXIS_KEY_FEATURE_K) \
    X(CONTRIBUTIONS, "contributions", AXIS_KEY_FEATURE_V)

enum quantity {
#define QUANTITY_ID(id, name, axis) QUANTITY_##id,
    QUANTITIES(QUANTITY_ID)
#undef QUANTITY_ID
        QUANTITY_COUNT
};

const char *quantity_name(enum quantity quantity);
enum quantity_axis quantity_axis(enum quantity quantity);

#endif
