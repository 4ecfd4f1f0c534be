/* The text of a reply around its numbers. */
#ifndef API_REPLY_SKELETON_H
#define API_REPLY_SKELETON_H

#include "api/reply/readout.h"
#include "api/reply/section.h"
#include "core/arena.h"

/* Writes lead and trail of every section into the arena: the head's members (id, dtype, shape, axes, labels, scale),
 * names, brackets of groups, the bill, the readout. */
bool skeleton_write(struct section_list *sections, const struct options *options, const struct attention *a,
                    const struct readout *readout, struct arena *arena, struct error *err);

#endif
