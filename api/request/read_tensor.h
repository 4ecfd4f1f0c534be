/* Tensors of a request: nested arrays that the document cut out, or packed objects. */
#ifndef API_REQUEST_READ_TENSOR_H
#define API_REQUEST_READ_TENSOR_H

#include "api/request/decode.h"

/* A fault of the array as such (ragged, empty, ...), told at the element where it is. True when there is none. */
bool read_tensor_is_regular(struct decoder *d, const struct matrix *matrix, const struct json_path *at);

/* Fault at the element with that position. Returns false. */
bool read_tensor_fault(struct decoder *d, struct tensor shape, size_t position, const struct json_path *at,
                       const char *text);

/* Narrows dense doubles to floats where they lie; a finite one that would become infinite is a fault at its element. */
bool read_tensor_narrow(struct decoder *d, struct tensor t, const struct json_path *at);

/* Reads `value` for `option` (OPTION_TENSOR, OPTION_BIAS or OPTION_ALLOW); on a fault `out` stays as it is. */
void read_tensor(struct decoder *d, const struct option *option, const json_t *value, const struct json_path *at,
                 struct tensor *out);

#endif
