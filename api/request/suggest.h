/* "Did you mean": the known name that is closest to a mistyped one. */
#ifndef API_REQUEST_SUGGEST_H
#define API_REQUEST_SUGGEST_H

#include <stddef.h>

/* Initialise with {.wanted = name}; after all candidates `best` is the closest, or NULL when none is close. */
struct suggestion {
    const char *wanted;
    const char *best;
    size_t distance;
};

/* Close: at most two edits (a letter more, less or other, or two neighbours swapped), and fewer than half of the longer
 * name's letters. The first of equally close ones stays. */
void suggest_consider(struct suggestion *suggestion, const char *candidate);

/* Edits between two names (Damerau 1964, in the restricted form without edits inside a swap); more than
 * SUGGEST_NAME_MAX bytes: (size_t)-1. 'A' and 'a' are equal. */
#define SUGGEST_NAME_MAX 32
size_t suggest_distance(const char *a, const char *b);

#endif
