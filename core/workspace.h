/* Scratch of the tasks of one run, of the request's arena: a piece for each slot of pool_run_few. Where the arena has
 * no room for all, fewer slots run at a time, one at least. */
#ifndef CORE_WORKSPACE_H
#define CORE_WORKSPACE_H

#include "core/tensor/arena.h"
#include "core/tensor/pool.h"

/* Zero-initialise. */
struct workspace {
    char *pieces;
    size_t bytes, slots; /* of a piece; how many there are */
};

/* Pieces of `bytes` for a run of `tasks` tasks. ERROR_TOO_LARGE when not even one fits. */
bool workspace_open(struct workspace *w, size_t bytes, size_t tasks, struct pool *pool, struct arena *arena,
                    struct error *err);
void workspace_close(struct workspace *w, struct arena *arena);

/* The piece of a slot, at a multiple of ARENA_ALIGNMENT. */
void *workspace_piece(const struct workspace *w, size_t slot);

#endif
