/* Tensors of a request: nested arrays that the document cut out, or packed objects. */
#ifndef API_OPERAND_H
#define API_OPERAND_H

#include "api/decode.h"

/* A fault of the array as such (ragged, empty, ...), told at the element where it is. True when there is none. */
bool operand_is_regular(struct decoder *d, const struct matrix *matrix, const struct place *at);

/* Fault at the element with that position. Returns false. */
bool operand_fault(struct decoder *d, struct tensor shape, size_t position, const struct place *at, const char *text);

/* Narrows dense doubles to floats where they lie; a finite one that would become infinite is a fault at its element. */
bool operand_narrow(struct decoder *d, struct tensor t, const struct place *at);

/* Reads `value` for `option` (OPTION_TENSOR, OPTION_BIAS or OPTION_ALLOW); on a fault `out` stays as it is. */
void operand_read(struct decoder *d, const struct option *option, const json_t *value, const struct place *at,
                  struct tensor *out);

#endif
