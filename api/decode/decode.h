/* From JSON to the structs that option tables describe. */
#ifndef API_DECODE_DECODE_H
#define API_DECODE_DECODE_H

#include "api/decode/decoder.h"

/* Reads the members of `value`, which has to be an object, into the struct that the table fills; unknown, missing and
 * wrong ones are faults at `at`. */
void decode_object(struct decoder *d, const struct option_table *table, const json_t *value, const struct json_path *at,
                   void *into);

#endif
