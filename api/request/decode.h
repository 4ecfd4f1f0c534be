/* From JSON to the structs that option tables describe. */
#ifndef API_REQUEST_DECODE_H
#define API_REQUEST_DECODE_H

#include "api/json/document.h"
#include "api/request/json_path.h"
#include "api/request/option.h"
#include "core/arena.h"
#include "core/request.h"

#include <jansson.h>

/* One decoding. Faults are collected in *err; what was at fault stays absent. */
struct decoder {
    const struct document *document;
    struct arena *arena;
    const enum dtype *dtype; /* of the tensors: read first, so it comes first in a table */
    size_t elements;         /* numbers in tensors so far */
    size_t elements_max;
    struct error *err;
};

/* Reads the members of `value`, which has to be an object, into the struct that the table fills; unknown, missing and
 * wrong ones are faults at `at`. */
void decode_object(struct decoder *d, const struct option_table *table, const json_t *value, const struct json_path *at,
                   void *into);

/* Counts the numbers of one more tensor: ERROR_TOO_LARGE past the limit. */
bool decode_count(struct decoder *d, size_t count);

#endif
