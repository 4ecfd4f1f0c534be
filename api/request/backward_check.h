/* What `backward` and `step` must fulfil beside their types. */
#ifndef API_REQUEST_BACKWARD_CHECK_H
#define API_REQUEST_BACKWARD_CHECK_H

#include "api/request/options.h"
#include "core/attention.h"

/* After attention_check: exactly one start, its shape and range, words that are tokens, a step that has a way back. */
bool backward_check(const struct options *options, const struct attention *a, struct error *err);

/* The column of each row's target (core/backward/loss.h) of a checked request. */
void backward_targets(const struct options *options, size_t rows, size_t *target);

#endif
