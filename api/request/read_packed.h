/* Packed tensors: {"dtype":"float32","shape":[2,4],"base64":".."}, little-endian, row-major. */
#ifndef API_REQUEST_READ_PACKED_H
#define API_REQUEST_READ_PACKED_H

#include "api/request/decoder.h"

/* The members, as their table reads them. */
struct packed {
    enum dtype dtype;
    struct integers shape;
    const char *base64;
};
const struct option_table *read_packed_table(void);

/* Makes a tensor of the request's dtype of them. -infinity is let through when `hides`; other numbers that are not
 * finite, or too large for the request's dtype, are faults at their element. */
bool read_packed(struct decoder *d, const struct packed *packed, const struct json_path *at, bool hides,
                 struct tensor *out);

#endif
