/* Names of what a reply may hold. */
#include "api/request/include.h"

#include "api/request/suggest.h"

#include <stdio.h>
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
        if (part_has_name((enum part)p))
            visit(context, part_name((enum part)p));
    const char *last = "";
    for (size_t r = 0; r < RESULT_COUNT; r++) {
        const char *object = result_object_path(row(r));
        if (result_has_own_name(row(r)) && (!object || strcmp(object, last) != 0))
            visit(context, object ? object : row(r)->path);
        last = object ? object : "";
    }
}

static void consider(void *suggestion, const char *name)
{
    suggest_consider(suggestion, name);
}

/* A bare "scores" wants "steps.scores", a bare "exact" one of its results; otherwise the closest spelling. */
static const char *find_close(const char *name)
{
    struct suggestion suggestion = {.wanted = name};
    for (size_t r = 0; r < RESULT_COUNT; r++)
        if (result_has_own_name(row(r)) &&
            (strcmp(name, row(r)->name) == 0 || strcmp(name, part_name(row(r)->part)) == 0))
            return row(r)->path;
    include_each(consider, &suggestion);
    return suggestion.best;
}

static bool add_part(struct include *include, const char *name, size_t at)
{
    for (size_t p = 0; p < PART_COUNT; p++)
        if (part_has_name((enum part)p) && strcmp(name, part_name((enum part)p)) == 0) {
            include->part_at[p] = include->part[p] ? include->part_at[p] : at;
            return include->part[p] = true;
        }
    return false;
}

/* A name of its own, or that of the object which it is a member of. */
static bool is_called(const struct result *result, const char *name)
{
    const char *object = result_object_path(result);
    return result_has_own_name(result) && strcmp(name, object ? object : result->path) == 0;
}

bool include_add(struct include *include, const char *name, size_t at, const char **suggestion)
{
    bool found = false;
    if (add_part(include, name, at))
        return true;
    for (size_t r = 0; r < RESULT_COUNT; r++)
        if (is_called(row(r), name)) {
            include->result_at[r] = include->result[r] ? include->result_at[r] : at;
            found = include->result[r] = true;
        }
    if (!found)
        *suggestion = find_close(name);
    return found;
}

static bool is_brought_by_part(const struct include *include, enum result_id id)
{
    const struct result *result = row(id);
    return include->part[result->part] && !result_is_opt_in(result);
}

bool include_wants(const struct include *include, const struct attention *a, enum result_id id)
{
    return (include->result[id] || is_brought_by_part(include, id)) && !result_lacks(id, a);
}

const char *include_name(const struct include *include, enum result_id id)
{
    return is_brought_by_part(include, id) ? part_name(row(id)->part) : row(id)->path;
}

/* Why nothing of a part is there, or NULL when something is. */
static const char *part_lacks(enum part part, const struct attention *a)
{
    const char *first = NULL;
    const struct result *rows = result_rows();
    for (size_t r = 0; r < RESULT_COUNT; r++) {
        if (rows[r].part != part)
            continue;
        const char *lack = result_lacks((enum result_id)r, a);
        if (!lack)
            return NULL;
        first = first ? first : lack;
    }
    return first;
}

/* Gradients are refused at the entry that names them. */
static bool refuse(enum part part, const char *name, size_t at, const char *lack, struct error *err)
{
    char pointer[40] = "include";
    if (part == PART_GRADIENTS)
        snprintf(pointer, sizeof pointer, "include.%zu", at);
    return error_set(err, ERROR_INVALID, pointer, "This request has no %s: %s.", name, lack);
}

/* Another member of the same object is there: its name asked for what the request has of it. */
static bool has_sibling(size_t id, const struct attention *a)
{
    const char *object = result_object_path(row(id));
    for (size_t r = 0; object && r < RESULT_COUNT; r++) {
        const char *other = result_object_path(row(r));
        if (other && strcmp(other, object) == 0 && !result_lacks((enum result_id)r, a))
            return true;
    }
    return false;
}

bool include_check(const struct include *include, const struct attention *a, struct error *err)
{
    bool good = true;
    for (size_t p = 0; p < PART_COUNT; p++) {
        const char *lack = include->part[p] ? part_lacks((enum part)p, a) : NULL;
        if (lack)
            good = refuse((enum part)p, part_name((enum part)p), include->part_at[p], lack, err);
    }
    static const struct include nothing;
    if (memcmp(include->result, nothing.result, sizeof nothing.result) == 0)
        return good;
    for (size_t r = 0; r < RESULT_COUNT; r++) {
        const char *lack = include->result[r] ? result_lacks((enum result_id)r, a) : NULL;
        if (lack && !has_sibling(r, a))
            good = refuse(row(r)->part, row(r)->path, include->result_at[r], lack, err);
    }
    return good;
}
