/* Rotary position embedding (Su et al. 2021): pairs of features turned by an angle that grows with the position. */
#ifndef CORE_ROPE_H
#define CORE_ROPE_H

#include "core/request.h"
#include "core/tensor/pool.h"

#include <stdatomic.h>

/* Turns t [b][heads][rows][d] in place: with r = dims (or d), angle(p, t) = p theta^(-2t/r) for t < r/2, pairs (t, t +
 * r/2), or (2t, 2t + 1) when interleaved: x1' = cos x1 - sin x2, x2' = sin x1 + cos x2; features past r stay. Turns are
 * computed in double, with angles that are exact at every position below 2^53. Positions: `list` ([rows] or [b][rows]),
 * or first, first + 1, ... On the pool (or NULL); what is left is left undone when *cancel (or NULL) becomes true. */
void rope_apply(const struct rope_request *rope, struct tensor t, struct integers list, size_t first, struct pool *pool,
                const atomic_bool *cancel);

/* The turn back, by -p: what a gradient goes through, for a rotation's transpose is its inverse. */
void rope_undo(const struct rope_request *rope, struct tensor t, struct integers list, size_t first, struct pool *pool,
               const atomic_bool *cancel);

#endif
