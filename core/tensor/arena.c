/* Memory of one exchange: small blocks share chunks, each large block is a mapping of its own. */
#include "core/tensor/arena.h"

#include "core/tensor/tensor.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Past this a block gets pages of its own: it then grows and shrinks by mremap, without a copy, and goes back to the
 * system the moment it is dropped. Below it a system call would cost more than the block is worth. */
#define SMALL_MAX ((size_t)16 * 1024)
#define CHUNK_BYTES ((size_t)64 * 1024)
/* From here on a block asks for huge pages: a fault for every 4 KiB costs as much as reading a number for each 512. */
#define HUGE_MIN ((size_t)4 * 1024 * 1024)

struct chunk {
    _Alignas(ARENA_ALIGNMENT) struct chunk *next;
    size_t used;  /* bytes of `room` */
    size_t live;  /* blocks in it that were not dropped */
    size_t begin; /* where the first of them may stand: in the oldest chunk, behind the arena itself */
    _Alignas(ARENA_ALIGNMENT) unsigned char room[];
};

/* Stands in the ARENA_ALIGNMENT bytes before each block. */
struct header {
    _Alignas(ARENA_ALIGNMENT) size_t bytes; /* room for the caller's bytes and this header */
    struct chunk *chunk;                    /* NULL: a mapping of its own, linked below */
    struct header *previous, *next;
};

/* Memory that was made elsewhere; stands in a block of the arena. */
struct adopted {
    struct adopted *next;
    void *data;
};

struct arena {
    size_t limit, held;
    struct chunk *chunks; /* the newest, from which small blocks are cut, first */
    struct header *mappings;
    struct adopted *adopted;
};

_Static_assert(sizeof(struct arena) <= ARENA_ALIGNMENT, "the arena fits before the first block");

static struct chunk *make_chunk(struct chunk *next, size_t begin)
{
    struct chunk *chunk = aligned_alloc(ARENA_ALIGNMENT, sizeof *chunk + CHUNK_BYTES);
    if (chunk)
        *chunk = (struct chunk){.next = next, .used = begin, .begin = begin};
    return chunk;
}

/* It stands in its own first chunk: a small request takes one allocation. */
struct arena *arena_new(size_t limit)
{
    struct chunk *chunk = make_chunk(NULL, ARENA_ALIGNMENT);
    if (!chunk)
        return NULL;
    struct arena *arena = (struct arena *)(void *)chunk->room;
    *arena = (struct arena){.limit = limit, .chunks = chunk};
    return arena;
}

void arena_free(struct arena *arena)
{
    if (!arena)
        return;
    for (const struct adopted *adopted = arena->adopted; adopted; adopted = adopted->next)
        free(adopted->data);
    while (arena->mappings) {
        struct header *next = arena->mappings->next;
        munmap(arena->mappings, arena->mappings->bytes);
        arena->mappings = next;
    }
    for (struct chunk *chunk = arena->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
}

size_t arena_held(const struct arena *arena)
{
    return arena->held;
}

size_t arena_room(const struct arena *arena)
{
    size_t room = (arena->limit - arena->held) / ARENA_ALIGNMENT * ARENA_ALIGNMENT;
    return room > sizeof(struct header) ? room - sizeof(struct header) : 0;
}

/* The header included, so that a million tiny blocks are not free of charge. False past the limit, before anything
 * can overflow. */
static bool price(const struct arena *arena, size_t size, size_t freed, size_t *bytes, struct error *err)
{
    size_t room = arena->limit - (arena->held - freed);
    *bytes = (size / ARENA_ALIGNMENT + (size % ARENA_ALIGNMENT != 0)) * ARENA_ALIGNMENT + sizeof(struct header);
    if (size <= SIZE_MAX - 4 * sizeof(struct header) && *bytes <= room)
        return true;
    return error_set(
        err, ERROR_TOO_LARGE, "",
        "this request needs a block of %zu bytes, which with the %zu bytes it holds passes the limit of %zu", size,
        arena->held - freed, arena->limit);
}

static void *report_memory(size_t size, struct error *err)
{
    error_set(err, ERROR_MEMORY, "", "the system has no %zu bytes of memory left", size);
    return NULL;
}

static bool add_chunk(struct arena *arena)
{
    struct chunk *chunk = make_chunk(arena->chunks, 0);
    if (chunk)
        arena->chunks = chunk;
    return chunk != NULL;
}

static struct header *cut_small(struct arena *arena, size_t bytes)
{
    if (CHUNK_BYTES - arena->chunks->used < bytes && !add_chunk(arena))
        return NULL;
    struct chunk *chunk = arena->chunks;
    struct header *header = (struct header *)(void *)(chunk->room + chunk->used);
    *header = (struct header){.bytes = bytes, .chunk = chunk};
    chunk->used += bytes;
    chunk->live++;
    return header;
}

static void link_mapping(struct arena *arena, struct header *header)
{
    header->previous = NULL;
    header->next = arena->mappings;
    if (header->next)
        header->next->previous = header;
    arena->mappings = header;
}

static void unlink_mapping(struct arena *arena, struct header *header)
{
    if (header->next)
        header->next->previous = header->previous;
    if (header->previous)
        header->previous->next = header->next;
    else
        arena->mappings = header->next;
}

/* A wish: either answer is fine. */
static void ask_for_huge_pages(void *mapping, size_t bytes)
{
    if (bytes >= HUGE_MIN)
        madvise(mapping, bytes, MADV_HUGEPAGE);
}

static struct header *map_large(struct arena *arena, size_t bytes)
{
    struct header *header = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (header == MAP_FAILED)
        return NULL;
    ask_for_huge_pages(header, bytes);
    header->bytes = bytes;
    header->chunk = NULL;
    link_mapping(arena, header);
    return header;
}

void *arena_alloc(struct arena *arena, size_t size, struct error *err)
{
    size_t bytes;
    if (!price(arena, size, 0, &bytes, err))
        return NULL;
    struct header *header = bytes <= SMALL_MAX ? cut_small(arena, bytes) : map_large(arena, bytes);
    if (!header)
        return report_memory(size, err);
    arena->held += bytes;
    return header + 1;
}

void *arena_calloc(struct arena *arena, size_t count, size_t size, struct error *err)
{
    size_t total;
    if (!size_multiply(count, size, &total))
        total = SIZE_MAX; /* past any limit: arena_alloc says so */
    void *block = arena_alloc(arena, total, err);
    if (block && ((struct header *)block - 1)->chunk)
        memset(block, 0, total); /* mappings come cleared */
    return block;
}

bool arena_adopt(struct arena *arena, void *data, size_t size, struct error *err)
{
    size_t bytes;
    if (!price(arena, size, 0, &bytes, err))
        return false;
    arena->held += size;
    struct adopted *adopted = arena_alloc(arena, sizeof *adopted, err);
    if (!adopted) {
        arena->held -= size;
        return false;
    }
    *adopted = (struct adopted){arena->adopted, data};
    arena->adopted = adopted;
    return true;
}

/* A chunk's room comes back when the last block in it ends, or from its end. */
static void drop_small(struct arena *arena, struct header *header)
{
    struct chunk *chunk = header->chunk;
    bool last = (unsigned char *)header + header->bytes == chunk->room + chunk->used;
    size_t freed = --chunk->live == 0 ? chunk->used - chunk->begin : last ? header->bytes : 0;
    chunk->used -= freed;
    arena->held -= freed;
    if (chunk->live > 0 || chunk == arena->chunks || chunk->begin > 0)
        return;
    struct chunk *before = arena->chunks;
    while (before->next != chunk)
        before = before->next;
    before->next = chunk->next;
    free(chunk);
}

void arena_drop(struct arena *arena, void *block)
{
    if (!block)
        return;
    struct header *header = (struct header *)block - 1;
    if (header->chunk) {
        drop_small(arena, header);
        return;
    }
    unlink_mapping(arena, header);
    arena->held -= header->bytes;
    munmap(header, header->bytes);
}

/* The block is out of the list while it moves: its neighbours point at it. */
static struct header *remap(struct arena *arena, struct header *header, size_t bytes)
{
    unlink_mapping(arena, header);
    struct header *moved = mremap(header, header->bytes, bytes, MREMAP_MAYMOVE);
    bool good = moved != MAP_FAILED;
    if (good) {
        ask_for_huge_pages(moved, bytes);
        arena->held = arena->held - moved->bytes + bytes;
        moved->bytes = bytes;
    }
    link_mapping(arena, good ? moved : header);
    return good ? moved : NULL;
}

static void *move_small(struct arena *arena, struct header *header, size_t size, struct error *err)
{
    void *block = arena_alloc(arena, size, err);
    if (!block)
        return NULL;
    size_t kept = header->bytes - sizeof *header;
    memcpy(block, header + 1, kept < size ? kept : size);
    drop_small(arena, header);
    return block;
}

void *arena_resize(struct arena *arena, void *old, size_t size, struct error *err)
{
    if (!old)
        return arena_alloc(arena, size, err);
    struct header *header = (struct header *)old - 1;
    size_t bytes;
    if (!price(arena, size, header->bytes, &bytes, err))
        return NULL;
    if (!header->chunk) {
        struct header *moved = remap(arena, header, bytes);
        return moved ? moved + 1 : report_memory(size, err);
    }
    return bytes <= header->bytes ? old : move_small(arena, header, size, err);
}
