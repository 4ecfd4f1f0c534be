/* A reply as image/svg+xml: a matrix for each step, in the colours of the explorer. */
#ifndef API_PICTURE_PICTURE_H
#define API_PICTURE_PICTURE_H

#include "api/reply/reply.h"

#define PICTURE_CELLS 16384 /* in one picture, at most */

/* Of a planned reply: ERROR_INVALID when it would have more cells, or none. */
bool picture_check(const struct reply *reply, struct error *err);

/* Bytes that writing it takes at most. */
double picture_room(const struct reply *reply);

/* The picture whole, of a computed reply; false when there is no memory. */
bool picture_write(const struct reply *reply, struct buffer *out);

#endif
