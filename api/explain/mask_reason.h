/* Why a key is hidden from a query. */
#ifndef API_EXPLAIN_MASK_REASON_H
#define API_EXPLAIN_MASK_REASON_H

#include "core/attention.h"

#define REASONS_MAX 6

/* The members of the mask that hide key j, each taken alone: "causal", "window", "key_lengths", "allow", "bias"; or
 * "documents", and then not causal and window, whose positions mean nothing across documents. Names go to `names`,
 * their number to *count. */
bool mask_reason_find(const struct attention *a, size_t b, size_t h, size_t i, size_t j, struct arena *arena,
                      const char *names[REASONS_MAX], size_t *count, struct error *err);

#endif
