/* Lists of a request: integers, numbers, strings. */
#ifndef API_DECODE_READ_LIST_H
#define API_DECODE_READ_LIST_H

#include "api/decode/decoder.h"

/* Each reads `value` for `option` into its field; on a fault the field stays as it is. */
void read_list_integers(struct decoder *d, const struct option *option, const json_t *value, const struct json_path *at,
                        struct integers *out);
void read_list_reals(struct decoder *d, const struct option *option, const json_t *value, const struct json_path *at,
                     struct reals *out);
void read_list_strings(struct decoder *d, const struct option *option, const json_t *value, const struct json_path *at,
                       struct strings *out);

/* Words of rows: a string, a list of strings and nulls, or a list of such lists, equally long. */
void read_list_words(struct decoder *d, const struct option *option, const json_t *value, const struct json_path *at,
                     struct words *out);

#endif
