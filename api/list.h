/* Lists of a request: integers, numbers, strings. */
#ifndef API_LIST_H
#define API_LIST_H

#include "api/decode.h"

/* Each reads `value` for `option` into its field; on a fault the field stays as it is. */
void list_integers(struct decoder *d, const struct option *option, const json_t *value, const struct place *at,
                   struct integers *out);
void list_reals(struct decoder *d, const struct option *option, const json_t *value, const struct place *at,
                struct reals *out);
void list_strings(struct decoder *d, const struct option *option, const json_t *value, const struct place *at,
                  struct strings *out);

/* A copy of a string in the arena, or NULL. */
const char *list_string(struct decoder *d, const json_t *value);

#endif
