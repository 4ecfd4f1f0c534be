/* Which arrays are matrices: their first leaf decides. */
#ifndef API_JSON_MATRIX_START_H
#define API_JSON_MATRIX_START_H

#include <stdbool.h>

/* Whether the array at `at` is a matrix: its first leaf, or the first that is not null, is a number, a boolean or one
 * that hides. *leaf is up to where earlier calls have looked, for brackets before it open no matrix; it moves on. */
bool matrix_starts(const char *at, const char *end, const char **leaf);

#endif
