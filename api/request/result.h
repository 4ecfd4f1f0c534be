/* What a reply may hold: one row for each member with numbers, or with a document of its own. What `include` takes, the
 * plan of a reply, its schema and its text follow from these rows. */
#ifndef API_REQUEST_RESULT_H
#define API_REQUEST_RESULT_H

#include "core/backward/gradient.h"

#include <stdbool.h>
#include <stddef.h>

enum part_kind {
    PART_ONE,           /* one result of the same name */
    PART_GROUP,         /* an object of results */
    PART_BY_NAME,       /* the same, and each may be asked for alone, as GROUP.NAME */
    PART_OPT_IN,        /* an object of results, each there only when it is asked for as GROUP.NAME */
    PART_IMPLIED,       /* one result, no name of `include`: there when the request gives what it is made of */
    PART_IMPLIED_GROUP, /* the same of an object of results */
};

/* id, name, kind, meaning; in the order in which they stand in a reply. */
#define PARTS(X) \
    X(OUTPUT, "output", PART_ONE, "the result") \
    X(WEIGHTS, "weights", PART_ONE, "after softmax; each row sums to 1 (0 when empty, less than 1 with a sink)") \
    X(LOG_SUM_EXP, "log_sum_exp", PART_ONE, "natural logarithm of the row's sum of exponentials, per query") \
    X(PRESENT, "present", PART_GROUP, "past and new keys and values, rotated, split by heads") \
    X(PRESENT_NEW, "present_new", PART_GROUP, "the rows of present that this request added") \
    X(INPUTS, "inputs", PART_GROUP, "q, k, v that entered the scores: projected, rotated, past included") \
    X(MASK, "mask", PART_GROUP, "the effective mask: allowed, and bias when there is one") \
    X(STATS, "stats", PART_GROUP, \
      "of each row: entropy_bits, argmax_key, max_weight, weight_sum of its weights; how much gradient its " \
      "softmax lets through; mean and variance of its scores") \
    X(COST, "cost", PART_ONE, \
      "the bill: operations of each step, bytes of scores and of the key/value cache, for this head layout and " \
      "others") \
    X(QUANTIZATION, "quantization", PART_GROUP, \
      "codes, scales and what they stand for, of k and of v; always there with quantize") \
    X(ERROR, "error", PART_GROUP, \
      "scores, weights and output beside those of the exact result; always there with quantize and precision") \
    X(EXACT, "exact", PART_OPT_IN, "what quantize and precision would have been without them") \
    X(ULP, "ulp", PART_IMPLIED, "with precision: the distance from 1 to the next number, by stage") \
    X(READOUT, "readout", PART_IMPLIED, "words by their probability") \
    X(STEPS, "steps", PART_BY_NAME, "every step that the request has, but products and contributions") \
    X(LOSS, "loss", PART_IMPLIED, "mean of row_loss over the rows that count") \
    X(ROW_LOSS, "row_loss", PART_IMPLIED, "-ln p(target), null where a row does not count") \
    X(GRADIENTS, "gradients", PART_BY_NAME, \
      "with backward: the gradient of L by everything that led to it, but jacobian and products") \
    X(UPDATED, "updated", PART_IMPLIED_GROUP, "value - rate * gradient, with step") \
    X(CHECKS, "checks", PART_IMPLIED, "with expect: whether each result is as expected, and how far off at most")

enum part {
#define PART_ID(id, name, kind, meaning) PART_##id,
    PARTS(PART_ID)
#undef PART_ID
        PART_COUNT
};

/* Lists of axes, as in core/quantity.h. */
#define OUTPUT_AXES (AXIS_BATCH, AXIS_OUTPUT_HEAD, AXIS_QUERY, AXIS_OUTPUT_FEATURE)
#define QUERY_AXES (AXIS_BATCH, AXIS_HEAD, AXIS_QUERY, AXIS_FEATURE_K)
#define KEY_AXES (AXIS_BATCH, AXIS_KV_HEAD, AXIS_KEY, AXIS_FEATURE_K)
#define VALUE_AXES (AXIS_BATCH, AXIS_KV_HEAD, AXIS_KEY, AXIS_FEATURE_V)
#define CODE_AXES (AXIS_BATCH, AXIS_KV_HEAD, AXIS_KEY, AXIS_FEATURE_K)
#define SCALE_AXES (AXIS_BATCH, AXIS_KV_HEAD, AXIS_SHARED_ROW, AXIS_SHARED_COLUMN)
#define NORM_AXES (AXIS_BATCH, AXIS_KV_HEAD, AXIS_KEY)
#define SQUARE_AXES (AXIS_FEATURE_K, AXIS_FEATURE_K)
#define LATENT_AXES(rows, features) (AXIS_BATCH, AXIS_NO_HEAD, rows, features)
#define LATENT_HEAD_AXES(rows, features) (AXIS_BATCH, AXIS_HEAD, rows, features)
#define NEW_KEY_AXES (AXIS_BATCH, AXIS_KV_HEAD, AXIS_NEW_KEY, AXIS_FEATURE_K)
#define NEW_VALUE_AXES (AXIS_BATCH, AXIS_KV_HEAD, AXIS_NEW_KEY, AXIS_FEATURE_V)
#define EMBEDDED_AXES (AXIS_BATCH, AXIS_QUERY, AXIS_MODEL_FEATURE)
#define HEAD_OUTPUT_AXES (AXIS_BATCH, AXIS_HEAD, AXIS_QUERY, AXIS_OUTPUT_FEATURE)

/* Quantities of core: id, part, name, quantity, axes. */
#define COMPUTED(X) \
    X(OUTPUT, OUTPUT, "output", OUTPUT, OUTPUT_AXES) \
    X(WEIGHTS, WEIGHTS, "weights", WEIGHTS, PER_PAIR) \
    X(LOG_SUM_EXP, LOG_SUM_EXP, "log_sum_exp", LOG_SUM_EXP, PER_QUERY)

/* Tensors of struct attention: id, part, name, which, axes, title in text. */
#define OPERANDS(X) \
    X(PRESENT_K, PRESENT, "k", kept_k, KEY_AXES, "present.k   (past and new)") \
    X(PRESENT_V, PRESENT, "v", kept_v, VALUE_AXES, "present.v   (past and new)") \
    X(PRESENT_LATENT, PRESENT, "latent", latent.latent, LATENT_AXES(AXIS_KEY, AXIS_FEATURE_LATENT), \
      "present.latent   (past and new)") \
    X(PRESENT_ROPE_KEY, PRESENT, "rope_key", latent.rope_key, LATENT_AXES(AXIS_KEY, AXIS_FEATURE_ROPE), \
      "present.rope_key   (past and new)") \
    X(INPUTS_Q, INPUTS, "q", q, QUERY_AXES, "inputs.q   (as it enters the scores)") \
    X(INPUTS_K, INPUTS, "k", k, KEY_AXES, "inputs.k   (as it enters the scores)") \
    X(INPUTS_V, INPUTS, "v", v, VALUE_AXES, "inputs.v   (as it enters the mix)")

/* The steps of latent attention, before the usual ones: id, name, which, axes, formula. */
#define LATENT_STEPS(X) \
    X(LATENT, "latent", latent, LATENT_AXES(AXIS_KEY, AXIS_FEATURE_LATENT), \
      "latent = norm(x . w_dkv), the past first") \
    X(QUERY_LATENT, "query_latent", query_latent, LATENT_AXES(AXIS_QUERY, AXIS_FEATURE_QUERY_LATENT), \
      "query_latent = norm(x . w_dq)") \
    X(ROPE_KEY, "rope_key", rope_key, LATENT_AXES(AXIS_KEY, AXIS_FEATURE_ROPE), \
      "rope_key = x . w_kr, rotated, one for all heads") \
    X(QUERY_NOPE, "query_nope", query_nope, LATENT_HEAD_AXES(AXIS_QUERY, AXIS_FEATURE_NOPE), \
      "query_nope = the features of q without a position") \
    X(QUERY_ROPE, "query_rope", query_rope, LATENT_HEAD_AXES(AXIS_QUERY, AXIS_FEATURE_ROPE), \
      "query_rope = the last features of q, rotated") \
    X(KEY_NOPE, "key_nope", key_nope, LATENT_HEAD_AXES(AXIS_KEY, AXIS_FEATURE_NOPE), "key_nope = latent . w_uk") \
    X(QUERY_ABSORBED, "query_absorbed", query_absorbed, LATENT_HEAD_AXES(AXIS_QUERY, AXIS_FEATURE_LATENT), \
      "query_absorbed = query_nope . w_uk^T: scores = query_absorbed . latent + query_rope . rope_key") \
    X(MIXED_LATENT, "mixed_latent", mixed_latent, LATENT_HEAD_AXES(AXIS_QUERY, AXIS_FEATURE_LATENT), \
      "mixed_latent = weights . latent: output = mixed_latent . w_uv")

/* Tensors of one side of a quantised cache, whose shapes they bring along: id, name, which, axes, JSON also where
 * tensors are base64, title. */
#define QUANTIZED(X, side, SIDE, letter) \
    X(side, SIDE, letter, CODES, "codes", codes, CODE_AXES, true, "codes of " letter) \
    X(side, SIDE, letter, SCALE, "scale", scale, SCALE_AXES, false, "scale of the codes of " letter) \
    X(side, SIDE, letter, ZERO, "zero", zero, SCALE_AXES, false, "zero of the codes of " letter) \
    X(side, SIDE, letter, NORM, "norm", norm, NORM_AXES, false, "norm of " letter) \
    X(side, SIDE, letter, RESIDUAL_NORM, "residual_norm", residual_norm, NORM_AXES, false, \
      "residual_norm: of what rounding the direction of " letter " lost") \
    X(side, SIDE, letter, SIGN, "sign", sign, CODE_AXES, true, "sign of the sketch of what was lost of " letter) \
    X(side, SIDE, letter, DEQUANTIZED, "dequantized", dequantized, CODE_AXES, false, \
      "dequantized: what the codes of " letter " stand for") \
    X(side, SIDE, letter, ROTATION, "rotation", rotation, SQUARE_AXES, false, "rotation of " letter) \
    X(side, SIDE, letter, SKETCH, "sketch", sketch, SQUARE_AXES, false, "sketch of " letter)
#define QUANTIZED_SIDES(X) QUANTIZED(X, quantized_k, K, "k") QUANTIZED(X, quantized_v, V, "v")

/* Its plain numbers: id, side, letter, name. */
#define QUANTIZED_FIGURES(X) \
    X(K_BITS, quantized_k, "k", "bits_per_number") \
    X(K_BYTES, quantized_k, "k", "bytes") \
    X(K_RATIO, quantized_k, "k", "ratio") \
    X(V_BITS, quantized_v, "v", "bits_per_number") \
    X(V_BYTES, quantized_v, "v", "bytes") \
    X(V_RATIO, quantized_v, "v", "ratio")

/* The comparison with the exact result. Plain numbers: id, object, name. Tensors: id, object, name, which, axes, title.
 */
#define ERROR_FIGURES(X) \
    X(SCORES_MAX, "scores", "max") \
    X(SCORES_RMS, "scores", "rms") \
    X(WEIGHTS_MAX, "weights", "max") \
    X(ARGMAX_CHANGED, "weights", "argmax_changed") \
    X(OUTPUT_MAX, "output", "max") \
    X(OUTPUT_RMS, "output", "rms")
#define COSINE_AXES (AXIS_BATCH, AXIS_OUTPUT_HEAD, AXIS_QUERY)
#define ERROR_TENSORS(X) \
    X(KL_BITS, "weights", "kl_bits", kl_bits, PER_QUERY, "error.weights.kl_bits = sum of w * log2(w / rounded w)") \
    X(COSINE, "output", "cosine", cosine, COSINE_AXES, "error.output.cosine   (1: the same direction)")

/* What a quantised request would have been without it: id, name, quantity, axes. */
#define EXACT_RESULTS(X) X(OUTPUT, "output", OUTPUT, OUTPUT_AXES) X(WEIGHTS, "weights", WEIGHTS, PER_PAIR)

/* What emulated precision did, in stats: id, object, name. */
#define PRECISION_FIGURES(X) X(SATURATED, "precision", "saturated") X(ZEROED, "precision", "zeroed")

/* Tensors that the reply makes of others: id, part, name, axes, title. */
#define VIEWS(X) \
    X(PRESENT_NEW_K, PRESENT_NEW, "k", NEW_KEY_AXES, "present_new.k   (of this request alone)") \
    X(PRESENT_NEW_V, PRESENT_NEW, "v", NEW_VALUE_AXES, "present_new.v   (of this request alone)") \
    X(PRESENT_NEW_LATENT, PRESENT_NEW, "latent", LATENT_AXES(AXIS_NEW_KEY, AXIS_FEATURE_LATENT), \
      "present_new.latent   (of this request alone)") \
    X(PRESENT_NEW_ROPE_KEY, PRESENT_NEW, "rope_key", LATENT_AXES(AXIS_NEW_KEY, AXIS_FEATURE_ROPE), \
      "present_new.rope_key   (of this request alone)") \
    X(STEPS_EMBEDDED, STEPS, "embedded", EMBEDDED_AXES, "embedded = x, of ids, with positions where they are given") \
    X(STEPS_HEAD_OUTPUTS, STEPS, "head_outputs", HEAD_OUTPUT_AXES, \
      "head_outputs = each head's output . its rows of w_o")

/* JSON of their own: id, part, name. */
#define DOCUMENTS(X) \
    X(ULP, ULP, "ulp") \
    X(COST, COST, "cost") \
    X(READOUT, READOUT, "readout") \
    X(LOSS, LOSS, "loss") \
    X(ROW_LOSS, ROW_LOSS, "row_loss") \
    X(CHECKS, CHECKS, "checks")

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
    X(W_DKV, "w_dkv") \
    X(W_KR, "w_kr") \
    X(W_UK, "w_uk") \
    X(W_UV, "w_uv") \
    X(W_DQ, "w_dq") \
    X(W_UQ, "w_uq") \
    X(GAIN_Q, "gain_q") \
    X(GAIN_KV, "gain_kv") \
    X(B_Q, "b_q") \
    X(B_K, "b_k") \
    X(B_V, "b_v")

enum result_id {
#define COMPUTED_ID(id, part, name, quantity, axes) RESULT_##id,
#define OPERAND_ID(id, part, name, tensor, axes, title) RESULT_##id,
#define DOCUMENT_ID(id, part, name) RESULT_##id,
#define VIEW_ID(id, part, name, axes, title) RESULT_##id,
#define MASK_ID(id, name, axes, traits, formula) RESULT_MASK_##id,
#define STATISTIC_ID(id, name, axes, traits, formula) RESULT_STATS_##id,
#define QUANTIZED_ID(side, SIDE, letter, id, name, tensor, axes, plain, title) RESULT_QUANTIZED_##SIDE##_##id,
#define FIGURE_ID(id, side, letter, name) RESULT_QUANTIZED_##id,
#define ERROR_ID(id, object, name) RESULT_ERROR_##id,
#define ERROR_TENSOR_ID(id, object, name, tensor, axes, title) RESULT_ERROR_##id,
#define LATENT_ID(id, name, tensor, axes, formula) RESULT_STEPS_##id,
#define STEP_ID(id, name, axes, traits, formula) RESULT_STEPS_##id,
#define TALLY_ID(id, object, name) RESULT_STATS_##id,
#define EXACT_ID(id, name, quantity, axes) RESULT_EXACT_##id,
#define GRADIENT_ID(id, name, kind, object, member, formula) RESULT_GRADIENTS_##id,
#define UPDATE_ID(id, name) RESULT_UPDATED_##id,
    COMPUTED(COMPUTED_ID) OPERANDS(OPERAND_ID) MASKS(MASK_ID) STATISTICS(STATISTIC_ID) PRECISION_FIGURES(TALLY_ID)
        QUANTIZED_SIDES(QUANTIZED_ID) QUANTIZED_FIGURES(FIGURE_ID) ERROR_FIGURES(ERROR_ID)
            ERROR_TENSORS(ERROR_TENSOR_ID) EXACT_RESULTS(EXACT_ID) DOCUMENTS(DOCUMENT_ID) VIEWS(VIEW_ID)
                LATENT_STEPS(LATENT_ID) STEPS(STEP_ID) GRADIENTS(GRADIENT_ID) UPDATES(UPDATE_ID)
#undef TALLY_ID
#undef EXACT_ID
#undef GRADIENT_ID
#undef UPDATE_ID
#undef COMPUTED_ID
#undef OPERAND_ID
#undef DOCUMENT_ID
#undef VIEW_ID
#undef MASK_ID
#undef STATISTIC_ID
#undef QUANTIZED_ID
#undef FIGURE_ID
#undef ERROR_ID
#undef ERROR_TENSOR_ID
#undef LATENT_ID
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

/* The tensor of struct attention that a result shows, with its shape as soon as it is checked where the result is one
 * of `quantization`, with its data when it is prepared; rank 0 for other results. */
struct tensor result_tensor(const struct attention *a, enum result_id id);

/* The shape of the tensor counts, not the extents of its axes. */
bool result_brings_shape(enum result_id id);

const struct result *result_rows(void); /* RESULT_COUNT of them */
const struct result *result_row(enum result_id id);

/* Why this request has no such result, or NULL when it has it. */
const char *result_lacks(enum result_id id, const struct attention *a);

/* "output", "steps.scores", "present.k", "gradients.inputs.q": its name in the whole reply. */
#define RESULT_NAME_MAX 64
const char *result_name(enum result_id id, char out[RESULT_NAME_MAX]);

/* The result of that name which `expect` takes, or RESULT_COUNT; calls `visit` for every such name. */
enum result_id result_expected(const char *name);
typedef void result_visit(void *context, const char *name);
void result_each_expected(result_visit *visit, void *context);

const char *part_name(enum part part);
const char *part_meaning(enum part part);
enum part_kind part_kind(enum part part);
bool part_has_name(enum part part); /* that `include` takes */
bool part_is_group(enum part part);

/* Whether `include` takes results[id] by a name of its own, "steps.scores". */
bool result_has_own_name(const struct result *result);

/* "gradients.inputs" where results[id] is a member of that object of a group, or NULL. */
const char *result_object_path(const struct result *result);
/* Whether both are members of one object inside a part. */
bool result_is_beside(const struct result *a, const struct result *b);

/* Large ones come only by that name. */
bool result_is_opt_in(const struct result *result);

#endif
