/* The JSON of a reply around its numbers. */
#ifndef API_REPLY_SKELETON_H
#define API_REPLY_SKELETON_H

#include "api/reply/section.h"
#include "core/tensor/arena.h"

/* What stands before and after the numbers of each section of a list. */
struct skeleton_text {
    const char *before, *after;
    size_t before_length, after_length;
};

struct skeleton {
    struct skeleton_text *at; /* in the arena */
};

struct reply;

/* Writes the texts of a computed reply into the arena: the head's members (id, dtype, shape, axes, labels, scale),
 * names, brackets of groups, documents. */
bool skeleton_write(struct reply *reply, struct arena *arena, struct error *err);

#endif
