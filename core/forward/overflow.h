/* Which requests may overflow, told before anything is computed from the largest numbers that go in: where none can,
 * no step needs a look, and where one can, every step gets it. */
#ifndef CORE_FORWARD_OVERFLOW_H
#define CORE_FORWARD_OVERFLOW_H

#include "core/attention.h"

/* Sets what struct attention says of overflow, for a request whose tensors and mask are ready. */
void overflow_foresee(struct attention *a, struct pool *pool);

#endif
