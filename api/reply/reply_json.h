/* A reply as JSON: the texts of the skeleton, and the rows of each section between them. */
#ifndef API_REPLY_REPLY_JSON_H
#define API_REPLY_REPLY_JSON_H

#include "api/reply/reply.h"

/* Writes what stands between the numbers of a computed reply: then blocks may be encoded. */
bool reply_json_prepare(struct reply *reply, struct arena *arena, struct error *err);

/* At most how many bytes a block has; before reply_json_prepare without what stands between the numbers. */
size_t reply_json_room(const struct reply *reply);

/* One of reply->blocks pieces; false when there is no memory. Any thread. */
bool reply_json_block(const struct reply *reply, size_t index, struct buffer *out);

#endif
