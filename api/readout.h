/* The readout: the last query's output row scored against a vocabulary. */
#ifndef API_READOUT_H
#define API_READOUT_H

#include "api/options.h"
#include "api/text.h"
#include "core/arena.h"
#include "core/attention.h"

/* Appends [{"token","logit","probability"}, ...], largest logit first, equal ones in the order of the vocabulary; a
 * list of such lists where there is a batch axis. logit = row . w, the heads of the row side by side; probability =
 * softmax of the logits. `output` is the result as returned. ERROR_INVALID when a logit overflows the dtype. */
bool readout_write(const struct options *options, const struct attention *a, const void *output, struct arena *arena,
                   struct text *out, struct error *err);

#endif
