/* The two forms of a request: q, k, v; or x, weights and what they are projected to. */
#ifndef CORE_INPUTS_CHECK_H
#define CORE_INPUTS_CHECK_H

#include "core/attention.h"
#include "core/tensor/shape_error.h"

/* Sets batch, heads, widths and views from the tensors of the request's form; false with ERROR_INVALID where the
 * tensors do not fit one another. */
bool inputs_check(struct attention *a, struct error *err);

/* Parts of it: the rank of an input; w_o and b_o, and with them d_out, for heads and d_v that are set. */
bool inputs_check_rank(struct named_tensor input, size_t least, size_t most, struct error *err);
bool inputs_check_output(struct attention *a, struct error *err);

#endif
