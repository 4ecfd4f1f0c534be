/* Memory of one exchange: everything allocated from an arena dies with it. Not for several threads at once. */
#ifndef CORE_TENSOR_ARENA_H
#define CORE_TENSOR_ARENA_H

#include "core/tensor/error.h"

#include <stdbool.h>
#include <stddef.h>

#define ARENA_ALIGNMENT 64

struct arena;

/* An arena that never holds more than `limit` bytes; NULL when there is no memory. */
struct arena *arena_new(size_t limit);
void arena_free(struct arena *arena); /* NULL is fine */

/* `size` bytes at a multiple of ARENA_ALIGNMENT, not cleared. NULL and an error (ERROR_TOO_LARGE past the limit, with
 * the numbers; ERROR_MEMORY when the system has none). size 0 gives a valid pointer. */
void *arena_alloc(struct arena *arena, size_t size, struct error *err);

/* Like arena_alloc, cleared; count * size is checked for overflow. */
void *arena_calloc(struct arena *arena, size_t count, size_t size, struct error *err);

/* Grows or shrinks `old` (from this arena, or NULL), contents kept up to the smaller size; it may move. Large blocks
 * move without a copy where the system can. On failure `old` stays as it is. */
void *arena_resize(struct arena *arena, void *old, size_t size, struct error *err);

/* Takes over `size` bytes that malloc gave, freed with the arena; only the whole arena ends them. On failure they stay
 * the caller's. */
bool arena_adopt(struct arena *arena, void *data, size_t size, struct error *err);

/* Gives one block back early. */
void arena_drop(struct arena *arena, void *block);

/* Bytes held now, and the size of the largest block that there is room for within the limit. */
size_t arena_held(const struct arena *arena);
size_t arena_room(const struct arena *arena);

#endif
