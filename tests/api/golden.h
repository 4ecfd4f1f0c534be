/* Holding a reply against one that was made elsewhere: the same members and no others, numbers within rounding. */
#ifndef TESTS_API_GOLDEN_H
#define TESTS_API_GOLDEN_H

#include <jansson.h>
#include <stddef.h>

/* Fails the test, naming `name` and the place, where `found` is not `expected`: structure, strings, nulls and booleans
 * exactly; the numbers of an array, or of a tensor packed as base64, within `tolerance` of the largest among them.
 * Members called "dtype" have to be `dtype`, whatever the golden says: one golden serves both precisions. */
void golden_compare(const char *name, const json_t *found, const json_t *expected, const char *dtype, double tolerance);

#endif
