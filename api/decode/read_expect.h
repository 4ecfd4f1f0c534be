/* What results should be: tensors under names of results. */
#ifndef API_DECODE_READ_EXPECT_H
#define API_DECODE_READ_EXPECT_H

#include "api/decode/read_value.h"

/* Reads `value` for an OPTION_EXPECT; each tensor by `read`, as one that may hide. */
void read_expect(struct decoder *d, const struct option *option, const json_t *value, const struct json_path *at,
                 struct read_value_target target, read_value *read);

#endif
