/* What every reader of a request works with. */
#ifndef API_DECODE_DECODER_H
#define API_DECODE_DECODER_H

#include "api/json/document.h"
#include "api/request/json_path.h"
#include "api/request/option.h"
#include "core/request.h"
#include "core/tensor/arena.h"

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

/* Counts the numbers of one more tensor: ERROR_TOO_LARGE past the limit. */
bool decoder_count(struct decoder *d, size_t count);

/* A fault of an array as such (ragged, empty, ...), told at the element where it is. True when there is none. */
bool decoder_is_regular(struct decoder *d, const struct matrix *matrix, const struct json_path *at);

/* Fault at the element with that position. Returns false. */
bool decoder_fault_at(struct decoder *d, struct tensor shape, size_t position, const struct json_path *at,
                      const char *text);

#define DECODER_TOO_LARGE "is too large for float32 (at most 3.4028235e38); dtype float64 holds it."

/* Narrows dense doubles to floats where they lie; a finite one that would become infinite is a fault at its element. */
bool decoder_narrow(struct decoder *d, struct tensor t, const struct json_path *at);

#endif
