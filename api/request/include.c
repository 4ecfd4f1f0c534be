/* Names of what a reply may hold. */
#include "api/request/include.h"

#include "api/request/suggest.h"

#include <string.h>

#define PREFIX "steps."

static const struct {
    const char *name;
    const char *meaning;
} parts[INCLUDE_PARTS] = {
#define INCLUDE_ROW(id, name, meaning) {name, meaning},
    INCLUDES(INCLUDE_ROW)
#undef INCLUDE_ROW
};

static const enum quantity steps[INCLUDE_STEP_COUNT] = {
    QUANTITY_PRODUCTS, QUANTITY_SCORES,  QUANTITY_SCALED,        QUANTITY_CAPPED, QUANTITY_BIASED,
    QUANTITY_MASKED,   QUANTITY_ROW_MAX, QUANTITY_SHIFTED,       QUANTITY_EXP,    QUANTITY_ROW_SUM,
    QUANTITY_WEIGHTS,  QUANTITY_DROPPED, QUANTITY_CONTRIBUTIONS,
};

enum quantity include_step(size_t index)
{
    return steps[index];
}

bool include_is_opt_in(enum quantity step)
{
    return step == QUANTITY_PRODUCTS || step == QUANTITY_CONTRIBUTIONS;
}

const char *include_name(enum include_part part)
{
    return parts[part].name;
}

const char *include_meaning(enum include_part part)
{
    return parts[part].meaning;
}

struct include include_default(void)
{
    return (struct include){.part = {[INCLUDE_OUTPUT] = true, [INCLUDE_WEIGHTS] = true}};
}

static bool add_step(struct include *include, const char *name)
{
    for (size_t s = 0; s < INCLUDE_STEP_COUNT; s++)
        if (strcmp(name, quantity_name(steps[s])) == 0)
            return include->step[steps[s]] = true;
    return false;
}

/* A full name of a step, from a table: the suggestion outlives this call. */
static const char *step_name(enum quantity step)
{
    static const char *const names[QUANTITY_COUNT] = {
#define STEP_NAME(id, name, axis) PREFIX name,
        QUANTITIES(STEP_NAME)
#undef STEP_NAME
    };
    return names[step];
}

/* A bare "scores" wants "steps.scores"; otherwise the closest spelling. */
static const char *find_close(const char *name)
{
    struct suggestion suggestion = {.wanted = name};
    for (size_t s = 0; s < INCLUDE_STEP_COUNT; s++)
        if (strcmp(name, quantity_name(steps[s])) == 0)
            return step_name(steps[s]);
    for (size_t p = 0; p < INCLUDE_PARTS; p++)
        suggest_consider(&suggestion, parts[p].name);
    for (size_t s = 0; s < INCLUDE_STEP_COUNT; s++)
        suggest_consider(&suggestion, step_name(steps[s]));
    return suggestion.best;
}

bool include_add(struct include *include, const char *name, const char **suggestion)
{
    for (size_t p = 0; p < INCLUDE_PARTS; p++)
        if (strcmp(name, parts[p].name) == 0)
            return include->part[p] = true;
    if (strncmp(name, PREFIX, strlen(PREFIX)) == 0 && add_step(include, name + strlen(PREFIX)))
        return true;
    *suggestion = find_close(name);
    return false;
}

bool include_wants_step(const struct include *include, const struct attention *a, enum quantity step)
{
    bool by_group = include->part[INCLUDE_STEPS] && !include_is_opt_in(step);
    return (by_group || include->step[step]) && !attention_lacks(a, step);
}

static bool check_part(const struct include *include, enum include_part part, const struct attention *a,
                       enum quantity quantity, struct error *err)
{
    const char *lack = include->part[part] ? attention_lacks(a, quantity) : NULL;
    return !lack || error_set(err, ERROR_INVALID, "include", "This request has no %s: %s.", parts[part].name, lack);
}

bool include_check(const struct include *include, const struct attention *a, struct error *err)
{
    bool good = check_part(include, INCLUDE_LOG_SUM_EXP, a, QUANTITY_LOG_SUM_EXP, err);
    good &= check_part(include, INCLUDE_MASK, a, QUANTITY_ALLOWED, err);
    good &= check_part(include, INCLUDE_STATS, a, QUANTITY_ENTROPY_BITS, err);
    for (size_t s = 0; s < INCLUDE_STEP_COUNT; s++) {
        const char *lack = include->step[steps[s]] ? attention_lacks(a, steps[s]) : NULL;
        if (lack)
            good = error_set(err, ERROR_INVALID, "include", "This request has no %s: %s.", step_name(steps[s]), lack);
    }
    return good;
}
