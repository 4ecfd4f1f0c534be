/* A reply as text/plain: aligned tables, one per step, and the arithmetic written out. */
#ifndef API_TABLES_H
#define API_TABLES_H

#include "api/reply.h"

/* Writes the whole text from a computed reply, at most some pages of it: what is left out is counted in words. False
 * when there is no memory. */
bool tables_write(const struct reply *reply, struct text *out);

#endif
