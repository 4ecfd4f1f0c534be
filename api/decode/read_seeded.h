/* Tensors of seeded normal numbers: {"normal":{"seed":7},"shape":[64,128]} (core/tensor/normal.h). */
#ifndef API_DECODE_READ_SEEDED_H
#define API_DECODE_READ_SEEDED_H

#include "api/decode/decoder.h"
#include "api/request/option.h"

/* The members, as their table reads them. */
struct seeded {
    int64_t seed;
    struct integers shape;
};
const struct option_table *read_seeded_table(void);

/* Makes a tensor of the request's dtype of them: counted before it is allocated, drawn in float64 and then rounded. */
bool read_seeded(struct decoder *d, const struct seeded *seeded, const struct json_path *at, struct tensor *out);

#endif
