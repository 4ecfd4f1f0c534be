/* Packed tensors: {"dtype":"float32","shape":[2,4],"base64":".."}, little-endian, row-major. */
#ifndef API_DECODE_READ_PACKED_H
#define API_DECODE_READ_PACKED_H

#include "api/decode/decoder.h"
#include "api/decode/read_raw.h"
#include "api/decode/read_value.h"

/* The members, as their table reads them. */
struct packed {
    unsigned type; /* which of the dtypes that it names */
    struct integers shape;
    struct document_bytes bytes;
};
const struct option_table *read_packed_table(void);

/* Reads the member "base64" (struct document_bytes). */
read_value read_packed_bytes;

/* Makes a tensor of the request's dtype, or of booleans, of them. Other numbers, or numbers too large for the request's
 * dtype, are faults at their element. */
bool read_packed(struct decoder *d, const struct packed *packed, const struct json_path *at, enum raw_use use,
                 struct tensor *out);

#endif
