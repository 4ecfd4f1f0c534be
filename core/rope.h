/* Rotary position embedding (Su et al. 2021): pairs of features turned by an angle that grows with the position. */
#ifndef CORE_ROPE_H
#define CORE_ROPE_H

#include "core/request.h"

/* Turns t [b][heads][rows][d] in place: with r = dims (or d), angle(p, t) = p theta^(-2t/r) for t < r/2, pairs (t, t +
 * r/2), or (2t, 2t + 1) when interleaved: x1' = cos x1 - sin x2, x2' = sin x1 + cos x2; features past r stay. Angles
 * and turns are computed in double. Positions: `list` ([rows] or [b][rows]), or first, first + 1, ... */
void rope_apply(const struct rope_request *rope, struct tensor t, struct integers list, size_t first);

/* The turn back, by -p: what a gradient goes through, for a rotation's transpose is its inverse. */
void rope_undo(const struct rope_request *rope, struct tensor t, struct integers list, size_t first);

#endif
