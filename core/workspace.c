/* Scratch by slots. */
#include "core/workspace.h"

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

bool workspace_open(struct workspace *w, size_t bytes, size_t tasks, struct pool *pool, struct arena *arena,
                    struct error *err)
{
    size_t threads = pool_workers(pool) > 1 ? pool_workers(pool) : 1;
    w->bytes = (bytes + ARENA_ALIGNMENT - 1) / ARENA_ALIGNMENT * ARENA_ALIGNMENT;
    w->slots = smaller(threads, tasks > 0 ? tasks : 1);
    while (w->slots > 1 && w->bytes > arena_room(arena) / w->slots)
        w->slots--;
    w->pieces = arena_alloc(arena, w->slots * w->bytes, err);
    return w->pieces != NULL;
}

void workspace_close(struct workspace *w, struct arena *arena)
{
    arena_drop(arena, w->pieces);
    *w = (struct workspace){0};
}

void *workspace_piece(const struct workspace *w, size_t slot)
{
    return w->pieces + slot * w->bytes;
}
