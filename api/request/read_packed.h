/* Packed tensors: {"dtype":"float32","shape":[2,4],"base64":".."}, little-endian, row-major. */
#ifndef API_REQUEST_READ_PACKED_H
#define API_REQUEST_READ_PACKED_H

#include "api/request/decode.h"

/* Reads a packed object into a tensor of the request's dtype. -infinity is let through when `hides`; other numbers that
 * are not finite, or too large for the request's dtype, are faults at their element. */
bool read_packed(struct decoder *d, const json_t *value, const struct json_path *at, bool hides, struct tensor *out);

/* The members, for the schema. */
const struct option_table *read_packed_table(void);

#endif
