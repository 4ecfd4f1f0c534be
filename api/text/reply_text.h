/* A reply as text/plain: aligned tables, one per step, and the arithmetic written out. */
#ifndef API_TEXT_REPLY_TEXT_H
#define API_TEXT_REPLY_TEXT_H

#include "api/reply/reply.h"

/* How the cells of tables look. */
enum reply_text_look { REPLY_TEXT_PLAIN, REPLY_TEXT_SHADED };

/* Writes the whole text from a computed reply, at most some pages of it: what is left out is counted in words. False
 * when there is no memory. */
bool reply_text_write(const struct reply *reply, enum reply_text_look look, struct buffer *out);

/* Bytes that colours add to it at most. */
double reply_text_shade_room(const struct reply *reply);

#endif
