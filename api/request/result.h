/* What a reply may hold: one row for each member with numbers, or with a document of its own. What `include` takes, the
 * plan of a reply, its schema and its text follow from these rows. */
#ifndef API_REQUEST_RESULT_H
#define API_REQUEST_RESULT_H

#include "core/gradient.h"

#include <stdbool.h>
#include <stddef.h>

enum part_kind {
    PART_ONE,           /* one result of the same name */
    PART_GROUP,         /* an object of results */
    PART_BY_NAME,       /* the same, and each may be asked for alone, as GROUP.NAME */
    PART_IMPLIED,       /* one result, no name of `include`: there when the request gives what it is made of */
    PART_IMPLIED_GROUP, /* the same of an object of results */
};

/* id, name, kind, meaning; in the order in which they stand in a reply. */
#define PARTS(X) \
    X(OUTPUT, "output", PART_ONE, "the result") \
    X(WEIGHTS, "weights", PART_ONE, "after softmax; each row sums to 1 (0 when empty, less than 1 with a sink)") \
    X(LOG_SUM_EXP, "log_sum_exp", PART_ONE, "natural logarithm of the row's sum of exponentials, per query") \
    X(PRESENT, "present", PART_GROUP, "past and new keys and values, rotated, split by heads") \
    X(INPUTS, "inputs", PART_GROUP, "q, k, v that entered the scores: projected, rotated, past included") \
    X(MASK, "mask", PART_GROUP, "the effective mask: allowed, and bias when there is one") \
    X(STATS, "stats", PART_GROUP, "entropy_bits, argmax_key, max_weight, weight_sum of each row of weights") \
    X(COST, "cost", PART_ONE, \
      "the bill: operations of each step, bytes of scores and of the key/value cache, for this head layout and " \
      "others") \
    X(READOUT, "readout", PART_IMPLIED, "words by their probability") \
    X(STEPS, "steps", PART_BY_NAME, "every step that the request has, but products and contributions") \
    X(LOSS, "loss", PART_IMPLIED, "mean of row_loss over the rows that count") \
    X(ROW_LOSS, "row_loss", PART_IMPLIED, "-ln p(target), null where a row does not count") \
    X(GRADIENTS, "gradients", PART_BY_NAME, \
      "with backward: the gradient of L by everything that led to it, but jacobian and products") \
    X(UPDATED, "updated", PART_IMPLIED_GROUP, "value - rate * gradient, with step")

enum part {
#define PART_ID(id, name, kind, meaning) PART_##id,
    PARTS(PART_ID)
#undef PART_ID
        PART_COUNT
};

/* Lists of axes, as in core/quantity.h. */
#define OUTPUT_AXES \
    { \
        AXIS_BATCH, AXIS_OUTPUT_HEAD, AXIS_QUERY, AXIS_OUTPUT_FEATURE \
    }
#define QUERY_AXES \
    { \
        AXIS_BATCH, AXIS_HEAD, AXIS_QUERY, AXIS_FEATURE_K \
    }
#define KEY_AXES \
    { \
        AXIS_BATCH, AXIS_KV_HEAD, AXIS_KEY, AXIS_FEATURE_K \
    }
#define VALUE_AXES \
    { \
        AXIS_BATCH, AXIS_KV_HEAD, AXIS_KEY, AXIS_FEATURE_V \
    }
#define NO_AXES \
    { \
        AXIS_NONE \
    }

/* Quantities of core: id, part, name, quantity, axes. */
#define COMPUTED(X) \
    X(OUTPUT, OUTPUT, "output", OUTPUT, OUTPUT_AXES) \
    X(WEIGHTS, WEIGHTS, "weights", WEIGHTS, PER_PAIR) \
    X(LOG_SUM_EXP, LOG_SUM_EXP, "log_sum_exp", LOG_SUM_EXP, PER_QUERY)

/* Tensors of struct attention: id, part, name, which, axes, title in text. */
#define OPERANDS(X) \
    X(PRESENT_K, PRESENT, "k", k, KEY_AXES, "present.k   (past and new)") \
    X(PRESENT_V, PRESENT, "v", v, VALUE_AXES, "present.v   (past and new)") \
    X(INPUTS_Q, INPUTS, "q", q, QUERY_AXES, "inputs.q   (as it enters the scores)") \
    X(INPUTS_K, INPUTS, "k", k, KEY_AXES, "inputs.k   (as it enters the scores)") \
    X(INPUTS_V, INPUTS, "v", v, VALUE_AXES, "inputs.v   (as it enters the mix)")

/* JSON of their own: id, part, name. */
#define DOCUMENTS(X) \
    X(COST, COST, "cost") \
    X(READOUT, READOUT, "readout") \
    X(LOSS, LOSS, "loss") \
    X(ROW_LOSS, ROW_LOSS, "row_loss")

/* What a step changes: id of the gradient, name. */
#define UPDATES(X) \
    X(READOUT_W, "readout_w") \
    X(W_O, "w_o") \
    X(B_O, "b_o") \
    X(Q, "q") \
    X(K, "k") \
    X(V, "v") \
    X(EMBEDDING, "embedding") \
    X(W_Q, "w_q") \
    X(W_K, "w_k") \
    X(W_V, "w_v") \
    X(B_Q, "b_q") \
    X(B_K, "b_k") \
    X(B_V, "b_v")

enum result_id {
#define COMPUTED_ID(id, part, name, quantity, axes) RESULT_##id,
#define OPERAND_ID(id, part, name, tensor, axes, title) RESULT_##id,
#define DOCUMENT_ID(id, part, name) RESULT_##id,
#define MASK_ID(id, name, axes, traits, formula) RESULT_MASK_##id,
#define STATISTIC_ID(id, name, axes, traits, formula) RESULT_STATS_##id,
#define STEP_ID(id, name, axes, traits, formula) RESULT_STEPS_##id,
#define GRADIENT_ID(id, name, kind, object, member, formula) RESULT_GRADIENTS_##id,
#define UPDATE_ID(id, name) RESULT_UPDATED_##id,
    COMPUTED(COMPUTED_ID) OPERANDS(OPERAND_ID) MASKS(MASK_ID) STATISTICS(STATISTIC_ID) DOCUMENTS(DOCUMENT_ID)
        STEPS(STEP_ID) GRADIENTS(GRADIENT_ID) UPDATES(UPDATE_ID)
#undef GRADIENT_ID
#undef UPDATE_ID
#undef COMPUTED_ID
#undef OPERAND_ID
#undef DOCUMENT_ID
#undef MASK_ID
#undef STATISTIC_ID
#undef STEP_ID
            RESULT_COUNT
};

struct result {
    enum part part;
    const char *name;         /* of the member, inside its group where there is one */
    const char *path;         /* "weights", "steps.scores" */
    enum quantity quantity;   /* QUANTITY_COUNT: none of core's */
    enum axis axes[AXES_MAX]; /* AXIS_NONE ends them */
    const char *title;        /* in text, where it is no quantity */
    bool plain;               /* nested arrays also where tensors are base64 */
    bool document;            /* no tensor: JSON of its own */
    const char *object;       /* inside its group, the object that it is a member of; or NULL */
    enum gradient gradient;   /* what it is, or what a step takes; GRADIENT_COUNT: neither */
};

const struct result *result_row(enum result_id id);

/* Why this request has no such result, or NULL when it has it. */
const char *result_lacks(const struct result *result, const struct attention *a);

const char *part_name(enum part part);
const char *part_meaning(enum part part);
enum part_kind part_kind(enum part part);
bool part_is_group(enum part part);

/* Whether `include` takes results[id] by a name of its own, "steps.scores". */
bool result_has_own_name(const struct result *result);

/* "gradients.inputs" where results[id] is a member of that object of a group, or NULL. */
const char *result_object_path(const struct result *result);

/* Large ones come only by that name. */
bool result_is_opt_in(const struct result *result);

#endif
