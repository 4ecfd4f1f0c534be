/* Where a value stands in a request, and faults that say so. */
#ifndef API_PLACE_H
#define API_PLACE_H

#include "core/error.h"

#include <stdbool.h>
#include <stddef.h>

/* A member of an object, or an element of a (nested) array; made on the stack while decoding goes down. */
struct place {
    const struct place *parent; /* NULL: the request itself is */
    const char *name;           /* a member; NULL: an element */
    const size_t *index;        /* of an element: one index per level */
    size_t rank;
};

#define PLACE_TEXT 200

/* "mask.bias.0.2" for error_set, or with brackets "mask.bias[0][2]" for a sentence. NULL: the request. */
char *place_name(const struct place *at, char out[PLACE_TEXT]);
char *place_words(const struct place *at, char out[PLACE_TEXT]);

/* ERROR_INVALID at this place: the sentence is its words and then the format ("%s must be ..."). Returns false. */
bool place_fault(struct error *err, const struct place *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ERROR_INVALID for a member that is not known. The name is the client's: it is shown short, printable and quoted. */
bool place_unknown(struct error *err, const struct place *object, const char *member, const char *suggestion);

#endif
