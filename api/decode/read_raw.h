/* Tensors of a request that come as bytes: little-endian, row-major, of any type of number. */
#ifndef API_DECODE_READ_RAW_H
#define API_DECODE_READ_RAW_H

#include "api/decode/decoder.h"

/* What the tensor is for. */
enum raw_use {
    RAW_NUMBERS, /* finite numbers */
    RAW_BIAS,    /* the same, and -infinity */
    RAW_ALLOW,   /* booleans: bytes, each 0 or 1 */
};

/* Makes a tensor of the request's dtype, or of booleans, of one beside the text: its bytes are used where they lie when
 * they are aligned and of that dtype, else they are converted into the arena. What it may not hold is a fault at its
 * element. */
bool read_raw(struct decoder *d, struct tensor beside, enum raw_use use, const struct json_path *at,
              struct tensor *out);

/* The same of a block of the arena, which is narrowed where it lies, or dropped. Its type has been checked. */
bool read_raw_owned(struct decoder *d, struct tensor t, enum raw_use use, const struct json_path *at,
                    struct tensor *out);

/* Finite numbers of any type as doubles in the arena, for lists. */
bool read_raw_doubles(struct decoder *d, struct tensor beside, const struct json_path *at, struct tensor *out);

#endif
