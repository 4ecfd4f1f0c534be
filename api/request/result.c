/* The rows of results and of their parts. */
#include "api/request/result.h"

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
    {PART_##part, name, name, QUANTITY_##quantity, axes, NULL, false, false, NULL, GRADIENT_COUNT},
#define OPERAND_ROW(id, part, name, tensor, axes, title) \
    {PART_##part, name, NULL, QUANTITY_COUNT, axes, title, false, false, NULL, GRADIENT_COUNT},
#define DOCUMENT_ROW(id, part, name) \
    {PART_##part, name, name, QUANTITY_COUNT, NO_AXES, NULL, false, true, NULL, GRADIENT_COUNT},
#define MASK_ROW(id, name, axes, traits, formula) \
    {PART_MASK, name, "mask." name, QUANTITY_##id, axes, NULL, true, false, NULL, GRADIENT_COUNT},
#define STATISTIC_ROW(id, name, axes, traits, formula) \
    {PART_STATS, name, "stats." name, QUANTITY_##id, axes, NULL, true, false, NULL, GRADIENT_COUNT},
#define STEP_ROW(id, name, axes, traits, formula) \
    {PART_STEPS, name, "steps." name, QUANTITY_##id, axes, NULL, false, false, NULL, GRADIENT_COUNT},
#define GRADIENT_ROW_OF(id, name, kind, object, member, formula) \
    {PART_GRADIENTS, member, "gradients." name,       QUANTITY_COUNT, NO_AXES, \
     formula,        false,  kind == GRADIENT_NUMBER, object,         GRADIENT_##id},
#define UPDATE_ROW(id, name) \
    {PART_UPDATED, name, NULL, QUANTITY_COUNT, NO_AXES, "updated." name, false, false, NULL, GRADIENT_##id},
    COMPUTED(COMPUTED_ROW) OPERANDS(OPERAND_ROW) MASKS(MASK_ROW) STATISTICS(STATISTIC_ROW) DOCUMENTS(DOCUMENT_ROW)
        STEPS(STEP_ROW) GRADIENTS(GRADIENT_ROW_OF) UPDATES(UPDATE_ROW)
#undef GRADIENT_ROW_OF
#undef UPDATE_ROW
#undef COMPUTED_ROW
#undef OPERAND_ROW
#undef DOCUMENT_ROW
#undef MASK_ROW
#undef STATISTIC_ROW
#undef STEP_ROW
};

const struct result *result_row(enum result_id id)
{
    return &results[id];
}

const char *result_lacks(const struct result *result, const struct attention *a)
{
    if (result->gradient != GRADIENT_COUNT)
        return gradient_lacks(a, result->gradient);
    return result->quantity == QUANTITY_COUNT ? NULL : attention_lacks(a, result->quantity);
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

bool part_is_group(enum part part)
{
    return parts[part].kind == PART_GROUP || parts[part].kind == PART_BY_NAME || parts[part].kind == PART_IMPLIED_GROUP;
}

bool result_has_own_name(const struct result *result)
{
    return parts[result->part].kind == PART_BY_NAME;
}

const char *result_object_path(const struct result *result)
{
    static const char *const paths[GRADIENT_COUNT] = {
        [GRADIENT_INPUTS_Q] = "gradients.inputs", [GRADIENT_INPUTS_K] = "gradients.inputs",
        [GRADIENT_INPUTS_V] = "gradients.inputs", [GRADIENT_PAST_K] = "gradients.past",
        [GRADIENT_PAST_V] = "gradients.past",
    };
    return result->object ? paths[result->gradient] : NULL;
}

bool result_is_opt_in(const struct result *result)
{
    if (result->part == PART_GRADIENTS)
        return gradient_kind(result->gradient) == GRADIENT_TERM;
    return result->quantity != QUANTITY_COUNT && quantity_is(result->quantity, IS_OPT_IN);
}
