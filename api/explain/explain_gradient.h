/* The way back through one cell: what its score does to L. */
#ifndef API_EXPLAIN_EXPLAIN_GRADIENT_H
#define API_EXPLAIN_EXPLAIN_GRADIENT_H

#include "api/numbers/buffer.h"
#include "core/backward/backward.h"

struct explain_gradient {
    bool there;   /* the request has backward */
    bool softmax; /* it has row_dot and d_masked */
    double d_weight, row_dot, d_masked, d_scaled, d_score;
};

/* Of query i and key j, of a way back that backward_run has accepted (NULL: none). False when
 * `owner`, the text that is written of it, has no room to lend. */
bool explain_gradient_read(struct explain_gradient *gradient, const struct backward *back, size_t b, size_t h, size_t i,
                           size_t j, struct buffer *owner);

/* Bytes that reading takes. */
size_t explain_gradient_room(const struct attention *a);

#endif
