/* The text of a reply around its numbers. */
#ifndef API_FRAME_H
#define API_FRAME_H

#include "api/readout.h"
#include "api/section.h"
#include "core/arena.h"

/* Writes lead and trail of every section into the arena: the head's members (id, dtype, shape, axes, labels, scale),
 * names, brackets of groups, the bill, the readout. */
bool frame_write(struct section_list *sections, const struct options *options, const struct attention *a,
                 const struct readout *readout, struct arena *arena, struct error *err);

#endif
