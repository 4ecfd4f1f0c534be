/* Names of what a reply may hold. */
#include "api/request/include.h"

#include "api/request/suggest.h"

#include <string.h>

struct include include_default(void)
{
    return (struct include){.part = {[PART_OUTPUT] = true, [PART_WEIGHTS] = true}};
}

static const struct result *row(size_t id)
{
    return result_row((enum result_id)id);
}

void include_each(include_visit *visit, void *context)
{
    for (size_t p = 0; p < PART_COUNT; p++)
        if (part_kind((enum part)p) != PART_IMPLIED)
            visit(context, part_name((enum part)p));
    for (size_t r = 0; r < RESULT_COUNT; r++)
        if (result_has_own_name(row(r)))
            visit(context, row(r)->path);
}

static void consider(void *suggestion, const char *name)
{
    suggest_consider(suggestion, name);
}

/* A bare "scores" wants "steps.scores"; otherwise the closest spelling. */
static const char *find_close(const char *name)
{
    struct suggestion suggestion = {.wanted = name};
    for (size_t r = 0; r < RESULT_COUNT; r++)
        if (result_has_own_name(row(r)) && strcmp(name, row(r)->name) == 0)
            return row(r)->path;
    include_each(consider, &suggestion);
    return suggestion.best;
}

bool include_add(struct include *include, const char *name, const char **suggestion)
{
    for (size_t p = 0; p < PART_COUNT; p++)
        if (part_kind((enum part)p) != PART_IMPLIED && strcmp(name, part_name((enum part)p)) == 0)
            return include->part[p] = true;
    for (size_t r = 0; r < RESULT_COUNT; r++)
        if (result_has_own_name(row(r)) && strcmp(name, row(r)->path) == 0)
            return include->result[r] = true;
    *suggestion = find_close(name);
    return false;
}

static bool is_brought_by_part(const struct include *include, enum result_id id)
{
    return include->part[row(id)->part] && !result_is_opt_in(row(id));
}

bool include_wants(const struct include *include, const struct attention *a, enum result_id id)
{
    return (is_brought_by_part(include, id) || include->result[id]) && !result_lacks(row(id), a);
}

const char *include_name(const struct include *include, enum result_id id)
{
    return is_brought_by_part(include, id) ? part_name(row(id)->part) : row(id)->path;
}

/* Why nothing of a part is there, or NULL when something is. */
static const char *part_lacks(enum part part, const struct attention *a)
{
    const char *first = NULL;
    for (size_t r = 0; r < RESULT_COUNT; r++) {
        const char *lack = row(r)->part == part ? result_lacks(row(r), a) : NULL;
        if (row(r)->part == part && !lack)
            return NULL;
        first = first ? first : lack;
    }
    return first;
}

static bool refuse(const char *name, const char *lack, struct error *err)
{
    return error_set(err, ERROR_INVALID, "include", "This request has no %s: %s.", name, lack);
}

bool include_check(const struct include *include, const struct attention *a, struct error *err)
{
    bool good = true;
    for (size_t p = 0; p < PART_COUNT; p++) {
        const char *lack = include->part[p] ? part_lacks((enum part)p, a) : NULL;
        if (lack)
            good = refuse(part_name((enum part)p), lack, err);
    }
    for (size_t r = 0; r < RESULT_COUNT; r++) {
        const char *lack = include->result[r] ? result_lacks(row(r), a) : NULL;
        if (lack)
            good = refuse(row(r)->path, lack, err);
    }
    return good;
}
