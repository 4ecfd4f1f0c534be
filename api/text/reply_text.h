/* A reply as text/plain: aligned tables, one per step, and the arithmetic written out. */
#ifndef API_TEXT_REPLY_TEXT_H
#define API_TEXT_REPLY_TEXT_H

#include "api/reply/reply.h"

/* Writes the whole text from a computed reply, at most some pages of it: what is left out is counted in words. False
 * when there is no memory. */
bool reply_text_write(const struct reply *reply, struct buffer *out);

#endif
