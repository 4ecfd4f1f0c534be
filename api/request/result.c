/* The rows of results and of their parts. */
#include "api/request/result.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    enum part_kind kind;
    const char *meaning;
} parts[PART_COUNT] = {
#define PART_ROW(id, name, kind, meaning) {name, kind, meaning},
    PARTS(PART_ROW)
#undef PART_ROW
};

/* In the order of enum result_id. */
static const struct result results[RESULT_COUNT] = {
#define COMPUTED_ROW(id, part, name, quantity, axes) \
    {PART_##part, name, name, QUANTITY_##quantity, {AXES_OF axes}, NULL, false, false, NULL, GRADIENT_COUNT},
#define OPERAND_ROW(id, part, name, tensor, axes, title) \
    {PART_##part, name, NULL, QUANTITY_COUNT, {AXES_OF axes}, title, false, false, NULL, GRADIENT_COUNT},
#define DOCUMENT_ROW(id, part, name) \
    {PART_##part, name, name, QUANTITY_COUNT, {AXIS_NONE}, NULL, false, true, NULL, GRADIENT_COUNT},
#define VIEW_ROW(id, part, name, axes, title) \
    {PART_##part, name, "steps." name, QUANTITY_COUNT, {AXES_OF axes}, title, false, false, NULL, GRADIENT_COUNT},
#define MASK_ROW(id, name, axes, traits, formula) \
    {PART_MASK, name, "mask." name, QUANTITY_##id, {AXES_OF axes}, NULL, true, false, NULL, GRADIENT_COUNT},
#define STATISTIC_ROW(id, name, axes, traits, formula) \
    {PART_STATS, name, "stats." name, QUANTITY_##id, {AXES_OF axes}, NULL, true, false, NULL, GRADIENT_COUNT},
#define QUANTIZED_ROW(side, SIDE, letter, id, name, tensor, axes, plain, title) \
    {PART_QUANTIZATION, name, NULL, QUANTITY_COUNT, {AXES_OF axes}, title, plain, false, letter, GRADIENT_COUNT},
#define FIGURE_ROW(id, side, letter, name) \
    {PART_QUANTIZATION, name, NULL, QUANTITY_COUNT, {AXIS_NONE}, NULL, true, true, letter, GRADIENT_COUNT},
#define ERROR_ROW(id, object, name) \
    {PART_ERROR, name, NULL, QUANTITY_COUNT, {AXIS_NONE}, NULL, true, true, object, GRADIENT_COUNT},
#define ERROR_TENSOR_ROW(id, object, name, tensor, axes, title) \
    {PART_ERROR, name, NULL, QUANTITY_COUNT, {AXES_OF axes}, title, true, false, object, GRADIENT_COUNT},
#define LATENT_ROW(id, name, tensor, axes, formula) \
    {PART_STEPS, name, "steps." name, QUANTITY_COUNT, {AXES_OF axes}, formula, false, false, NULL, GRADIENT_COUNT},
#define STEP_ROW(id, name, axes, traits, formula) \
    {PART_STEPS, name, "steps." name, QUANTITY_##id, {AXES_OF axes}, NULL, false, false, NULL, GRADIENT_COUNT},
#define TALLY_ROW(id, object, name) \
    {PART_STATS, name, "stats." object "." name, QUANTITY_COUNT, {AXIS_NONE}, NULL, true, true, object, GRADIENT_COUNT},
#define EXACT_ROW(id, name, quantity, axes) \
    {PART_EXACT, name,  "exact." name, QUANTITY_##quantity, {AXES_OF axes}, "exact." name, \
     false,      false, NULL,          GRADIENT_COUNT},
#define GRADIENT_ROW_OF(id, name, kind, object, member, formula) \
    {PART_GRADIENTS, member, "gradients." name,       QUANTITY_COUNT, {AXIS_NONE}, \
     formula,        false,  kind == GRADIENT_NUMBER, object,         GRADIENT_##id},
#define UPDATE_ROW(id, name) \
    {PART_UPDATED, name, NULL, QUANTITY_COUNT, {AXIS_NONE}, "updated." name, false, false, NULL, GRADIENT_##id},
    COMPUTED(COMPUTED_ROW) OPERANDS(OPERAND_ROW) MASKS(MASK_ROW) STATISTICS(STATISTIC_ROW) PRECISION_FIGURES(TALLY_ROW)
        QUANTIZED_SIDES(QUANTIZED_ROW) QUANTIZED_FIGURES(FIGURE_ROW) ERROR_FIGURES(ERROR_ROW)
            ERROR_TENSORS(ERROR_TENSOR_ROW) EXACT_RESULTS(EXACT_ROW) DOCUMENTS(DOCUMENT_ROW) VIEWS(VIEW_ROW)
                LATENT_STEPS(LATENT_ROW) STEPS(STEP_ROW) GRADIENTS(GRADIENT_ROW_OF) UPDATES(UPDATE_ROW)
#undef GRADIENT_ROW_OF
#undef UPDATE_ROW
#undef EXACT_ROW
#undef TALLY_ROW
#undef COMPUTED_ROW
#undef OPERAND_ROW
#undef DOCUMENT_ROW
#undef VIEW_ROW
#undef MASK_ROW
#undef STATISTIC_ROW
#undef QUANTIZED_ROW
#undef FIGURE_ROW
#undef ERROR_ROW
#undef ERROR_TENSOR_ROW
#undef LATENT_ROW
#undef STEP_ROW
};

const struct result *result_rows(void)
{
    return results;
}

const struct result *result_row(enum result_id id)
{
    return &results[id];
}

struct tensor result_tensor(const struct attention *a, enum result_id id)
{
    switch (id) {
#define OPERAND_TENSOR(operand, part, name, tensor, axes, title) \
    case RESULT_##operand: \
        return a->tensor;
#define LATENT_TENSOR(step, name, tensor, axes, formula) \
    case RESULT_STEPS_##step: \
        return a->latent.tensor;
#define QUANTIZED_TENSOR(side, SIDE, letter, which, name, tensor, axes, plain, title) \
    case RESULT_QUANTIZED_##SIDE##_##which: \
        return a->side.tensor;
        OPERANDS(OPERAND_TENSOR)
        LATENT_STEPS(LATENT_TENSOR)
        QUANTIZED_SIDES(QUANTIZED_TENSOR)
#undef OPERAND_TENSOR
#undef LATENT_TENSOR
#undef QUANTIZED_TENSOR
    default:
        return (struct tensor){0};
    }
}

bool result_brings_shape(enum result_id id)
{
    return results[id].part == PART_QUANTIZATION && !results[id].document;
}

/* --- what a request has --- */

static const char *quantized_lacks(enum result_id id, const struct attention *a)
{
    const struct quantized *side = results[id].object[0] == 'k' ? &a->quantized_k : &a->quantized_v;
    if (!side->side)
        return results[id].object[0] == 'k' ? "quantize.k would bring it" : "quantize.v would bring it";
    /* `scale` of axis tensor has rank 2, and all that a method lacks has rank 0 */
    return results[id].document || result_tensor(a, id).rank > 0 ? NULL : "the method has none";
}

static const char *latent_lacks(enum result_id id, const struct attention *a)
{
    const struct latent_request *l = &a->request->latent;
    if (!l->on)
        return "latent would bring it";
    if (id == RESULT_STEPS_QUERY_LATENT && !l->w_dq.data)
        return "latent.w_dq would bring it";
    if (id == RESULT_STEPS_KEY_NOPE && l->absorbed)
        return "the absorbed form never makes keys of heads";
    if ((id == RESULT_STEPS_QUERY_ABSORBED || id == RESULT_STEPS_MIXED_LATENT) && !l->absorbed)
        return "latent.form \"absorbed\" would bring it";
    return NULL;
}

static const char *present_lacks(enum result_id id, const struct attention *a)
{
    bool of_latent = id == RESULT_PRESENT_LATENT || id == RESULT_PRESENT_ROPE_KEY || id == RESULT_PRESENT_NEW_LATENT ||
                     id == RESULT_PRESENT_NEW_ROPE_KEY;
    return of_latent == a->request->latent.on ? NULL : "it is of another form";
}

const char *result_lacks(enum result_id id, const struct attention *a)
{
    const struct result *result = &results[id];
    if (result->gradient != GRADIENT_COUNT)
        return gradient_lacks(a, result->gradient);
    if (id == RESULT_STEPS_EMBEDDED)
        return a->request->ids.values || a->request->sinusoidal ? NULL
                                                                : "ids with embedding, or positions, would bring it";
    if (id == RESULT_STEPS_HEAD_OUTPUTS)
        return a->request->w_o.data ? NULL : "w_o would bring it";
    if (result->part == PART_PRESENT || result->part == PART_PRESENT_NEW)
        return present_lacks(id, a);
    if (result->part == PART_QUANTIZATION)
        return quantized_lacks(id, a);
    if ((result->part == PART_ERROR || result->part == PART_EXACT) && !a->request->quantize.on && !a->precision.on)
        return "quantize or precision would bring it";
    if ((id == RESULT_STATS_SATURATED || id == RESULT_STATS_ZEROED) && !a->precision.on)
        return "precision would bring it";
    if (id >= RESULT_STEPS_LATENT && id <= RESULT_STEPS_MIXED_LATENT)
        return latent_lacks(id, a);
    return result->quantity == QUANTITY_COUNT ? NULL : attention_lacks(a, result->quantity);
}

/* --- names --- */

const char *result_name(enum result_id id, char out[RESULT_NAME_MAX])
{
    const struct result *result = &results[id];
    if (!part_is_group(result->part))
        snprintf(out, RESULT_NAME_MAX, "%s", result->name);
    else
        snprintf(out, RESULT_NAME_MAX, "%s.%s%s%s", parts[result->part].name, result->object ? result->object : "",
                 result->object ? "." : "", result->name);
    return out;
}

/* Numbers of the dtype: neither booleans nor codes, nor what is compared already. */
static bool may_be_expected(const struct result *result)
{
    static const bool takes[PART_COUNT] = {
        [PART_OUTPUT] = true,  [PART_WEIGHTS] = true,     [PART_LOG_SUM_EXP] = true, [PART_PRESENT] = true,
        [PART_INPUTS] = true,  [PART_PRESENT_NEW] = true, [PART_STATS] = true,       [PART_STEPS] = true,
        [PART_UPDATED] = true, [PART_GRADIENTS] = true,
    };
    return takes[result->part] && (!result->document || result->part == PART_GRADIENTS);
}

enum result_id result_expected(const char *name)
{
    char own[RESULT_NAME_MAX];
    for (size_t r = 0; r < RESULT_COUNT; r++)
        if (may_be_expected(&results[r]) && strcmp(result_name((enum result_id)r, own), name) == 0)
            return (enum result_id)r;
    return RESULT_COUNT;
}

void result_each_expected(result_visit *visit, void *context)
{
    char own[RESULT_NAME_MAX];
    for (size_t r = 0; r < RESULT_COUNT; r++)
        if (may_be_expected(&results[r]))
            visit(context, result_name((enum result_id)r, own));
}

const char *part_name(enum part part)
{
    return parts[part].name;
}

const char *part_meaning(enum part part)
{
    return parts[part].meaning;
}

enum part_kind part_kind(enum part part)
{
    return parts[part].kind;
}

bool part_has_name(enum part part)
{
    return parts[part].kind == PART_ONE || parts[part].kind == PART_GROUP || parts[part].kind == PART_BY_NAME;
}

bool part_is_group(enum part part)
{
    return parts[part].kind == PART_GROUP || parts[part].kind == PART_BY_NAME || parts[part].kind == PART_OPT_IN ||
           parts[part].kind == PART_IMPLIED_GROUP;
}

bool result_has_own_name(const struct result *result)
{
    return parts[result->part].kind == PART_BY_NAME || parts[result->part].kind == PART_OPT_IN;
}

const char *result_object_path(const struct result *result)
{
    static const char *const paths[GRADIENT_COUNT] = {
        [GRADIENT_INPUTS_Q] = "gradients.inputs",    [GRADIENT_INPUTS_K] = "gradients.inputs",
        [GRADIENT_INPUTS_V] = "gradients.inputs",    [GRADIENT_PAST_K] = "gradients.past",
        [GRADIENT_PAST_V] = "gradients.past",        [GRADIENT_PAST_LATENT] = "gradients.past",
        [GRADIENT_PAST_ROPE_KEY] = "gradients.past",
    };
    return result->object && result->gradient != GRADIENT_COUNT ? paths[result->gradient] : NULL;
}

bool result_is_opt_in(const struct result *result)
{
    if (result->part == PART_GRADIENTS)
        return gradient_kind(result->gradient) == GRADIENT_TERM;
    return parts[result->part].kind == PART_OPT_IN || result == &results[RESULT_STEPS_HEAD_OUTPUTS] ||
           (result->quantity != QUANTITY_COUNT && quantity_is(result->quantity, IS_OPT_IN));
}

bool result_is_beside(const struct result *a, const struct result *b)
{
    return a->part == b->part && a->object && b->object && strcmp(a->object, b->object) == 0;
}
