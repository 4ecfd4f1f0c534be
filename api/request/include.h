/* What a reply is asked to hold: the list `include`. */
#ifndef API_REQUEST_INCLUDE_H
#define API_REQUEST_INCLUDE_H

#include "api/request/result.h"

#include <stdbool.h>
#include <stddef.h>

struct include {
    bool part[PART_COUNT];
    bool result[RESULT_COUNT];                           /* asked for by a name of its own, steps.NAME */
    size_t part_at[PART_COUNT], result_at[RESULT_COUNT]; /* where in the list */
};

/* The default: output and weights. */
struct include include_default(void);

/* Adds the one called `name` ("weights", "steps.scores"), entry `at` of the list; naming one twice is the same as once.
 * False when there is no such name; *suggestion is then a close one or NULL. */
bool include_add(struct include *include, const char *name, size_t at, const char **suggestion);

/* Calls `visit` for every name that include_add takes. */
typedef void include_visit(void *context, const char *name);
void include_each(include_visit *visit, void *context);

/* Whether the reply has this result of the request. */
bool include_wants(const struct include *include, const struct attention *a, enum result_id id);

/* The name that brought it: "weights", "steps", "steps.scores". */
const char *include_name(const struct include *include, enum result_id id);

/* ERROR_INVALID when something is named that the request does not have. */
bool include_check(const struct include *include, const struct attention *a, struct error *err);

#endif
