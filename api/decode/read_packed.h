/* Packed tensors: {"dtype":"float32","shape":[2,4],"base64":".."}, little-endian, row-major. */
#ifndef API_DECODE_READ_PACKED_H
#define API_DECODE_READ_PACKED_H

#include "api/decode/decoder.h"
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

/* What the tensor is for. */
enum packed_use {
    PACKED_NUMBERS, /* finite numbers: "uint8" is refused */
    PACKED_BIAS,    /* the same, and -infinity */
    PACKED_ALLOW,   /* "uint8", each 0 or 1 */
};

/* Makes a tensor of the request's dtype, or of booleans, of them. Other numbers, or numbers too large for the request's
 * dtype, are faults at their element. */
bool read_packed(struct decoder *d, const struct packed *packed, const struct json_path *at, enum packed_use use,
                 struct tensor *out);

#endif
