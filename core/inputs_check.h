/* The two forms of a request: q, k, v; or x, weights and what they are projected to. */
#ifndef CORE_INPUTS_CHECK_H
#define CORE_INPUTS_CHECK_H

#include "core/attention.h"

/* Sets batch, heads, widths and views from the tensors of the request's form; false with ERROR_INVALID where the
 * tensors do not fit one another. */
bool inputs_check(struct attention *a, struct error *err);

#endif
