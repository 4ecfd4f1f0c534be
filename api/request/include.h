/* What a reply is asked to hold: the list `include`. */
#ifndef API_REQUEST_INCLUDE_H
#define API_REQUEST_INCLUDE_H

#include "core/attention.h"
#include "core/quantity.h"

#include <stdbool.h>
#include <stddef.h>

/* id, name, meaning; in the order in which they stand in a reply. */
#define INCLUDES(X) \
    X(OUTPUT, "output", "the result") \
    X(WEIGHTS, "weights", "after softmax; each row sums to 1 (0 when empty, less than 1 with a sink)") \
    X(LOG_SUM_EXP, "log_sum_exp", "natural logarithm of the row's sum of exponentials, per query") \
    X(PRESENT, "present", "past and new keys and values, rotated, split by heads") \
    X(INPUTS, "inputs", "q, k, v that entered the scores: projected, rotated, past included") \
    X(MASK, "mask", "the effective mask: allowed, and bias when there is one") \
    X(STATS, "stats", "entropy_bits, argmax_key, max_weight, weight_sum of each row of weights") \
    X(COST, "cost", \
      "the bill: operations of each step, bytes of scores and of the key/value cache, for this head layout and " \
      "others") \
    X(STEPS, "steps", "every step that the request has, but products and contributions")

enum include_part {
#define INCLUDE_ID(id, name, meaning) INCLUDE_##id,
    INCLUDES(INCLUDE_ID)
#undef INCLUDE_ID
        INCLUDE_PARTS
};

/* The quantities that are steps, in the order in which they happen. */
#define INCLUDE_STEP_COUNT 13
enum quantity include_step(size_t index);
bool include_is_opt_in(enum quantity step); /* products, contributions: by name only */

struct include {
    bool part[INCLUDE_PARTS];
    bool step[QUANTITY_COUNT]; /* asked for as steps.NAME */
};

const char *include_name(enum include_part part);
const char *include_meaning(enum include_part part);

/* The default: output and weights. */
struct include include_default(void);

/* Adds the one called `name` ("weights", "steps.scores"); naming one twice is the same as once. False when there is no
 * such name; *suggestion is then a close one or NULL. */
bool include_add(struct include *include, const char *name, const char **suggestion);

/* Whether the reply has this step of the request. */
bool include_wants_step(const struct include *include, const struct attention *a, enum quantity step);

/* ERROR_INVALID when a step is named that the request does not have. */
bool include_check(const struct include *include, const struct attention *a, struct error *err);

#endif
