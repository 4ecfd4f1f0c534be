/* POST /v1/attention/explain: one cell, query i and key j, told as arithmetic. */
#ifndef API_EXPLAIN_H
#define API_EXPLAIN_H

#include "api/job.h"
#include "api/options.h"
#include "core/arena.h"

/* Refuses a cell outside the shape. */
bool explain_check(const struct options *options, const struct attention *a, struct error *err);

/* Appends the reply, JSON or lines of text, for a request that attention_run has accepted. */
bool explain_write(const struct options *options, const struct attention *a, enum job_format format,
                   struct arena *arena, struct text *out, struct error *err);

#endif
