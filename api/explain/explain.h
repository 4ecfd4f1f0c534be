/* POST /v1/attention/explain: one cell, query i and key j, told as arithmetic. */
#ifndef API_EXPLAIN_EXPLAIN_H
#define API_EXPLAIN_EXPLAIN_H

#include "api/request/limits.h"
#include "api/request/options.h"
#include "core/backward/backward.h"
#include "core/tensor/arena.h"

/* Refuses a cell outside the shape. */
bool explain_check(const struct options *options, const struct attention *a, struct error *err);

/* Appends the reply, JSON or (with `text`) lines of text, for a request that attention_run has accepted; `back`
 * is its way back, or NULL. */
bool explain_write(const struct options *options, const struct attention *a, const struct backward *back, bool text,
                   struct arena *arena, struct buffer *out, struct error *err);

#endif
