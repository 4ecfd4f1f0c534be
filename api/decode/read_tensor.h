/* Tensors of a request: nested arrays that the document cut out. */
#ifndef API_DECODE_READ_TENSOR_H
#define API_DECODE_READ_TENSOR_H

#include "api/decode/decoder.h"

/* Reads `value` for `option` (OPTION_TENSOR, OPTION_BIAS or OPTION_ALLOW); on a fault `out` stays as it is. */
void read_tensor(struct decoder *d, const struct option *option, const json_t *value, const struct json_path *at,
                 struct tensor *out);

#endif
