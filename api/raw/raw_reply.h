/* A reply as raw tensors: each section of the plan that has rows is one, named, typed and shaped as the plan says. */
#ifndef API_RAW_RAW_REPLY_H
#define API_RAW_RAW_REPLY_H

#include "api/numbers/buffer.h"
#include "api/reply/reply.h"

/* How a protocol writes a reply. After reply_plan it walks reply->sections and takes what raw_reply_is_tensor says:
 * result_name(section->id) is its name in the contract ("steps.scores"), section->t its dtype, rank and shape, and
 * raw_reply_bytes its size. Then it says how many blocks of its own the reply has (raw_reply_blocks for each tensor,
 * and what stands between them), and after reply_compute any thread writes any of them, in any order: memory does not
 * depend on the size of the tensor. Bytes are little-endian and row-major, nothing between the rows. `dtype` is the
 * section's own, or another that its numbers are rounded to. */

bool raw_reply_is_tensor(const struct section *section);

/* Bytes of the whole tensor. */
size_t raw_reply_bytes(const struct section *section, enum dtype dtype);

/* How many blocks it has, from 1; and the bytes of the largest, without what is computed again for it
 * (section_rows_room). */
size_t raw_reply_blocks(const struct section *section, enum dtype dtype);
size_t raw_reply_room(const struct reply *reply, const struct section *section, enum dtype dtype);

/* Appends block `local`; false when there is no room: what is computed again for it is lent by `out`. */
bool raw_reply_block(const struct reply *reply, const struct section *section, enum dtype dtype, size_t local,
                     struct buffer *out);

/* The *bytes of block `local` where they were computed, to be sent from there, or NULL: they have to be written. */
const void *raw_reply_view(const struct section *section, enum dtype dtype, size_t local, size_t *bytes);

#endif
