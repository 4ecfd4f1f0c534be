/* One tile of the way back: some query rows of one head times some keys. */
#ifndef CORE_BACKWARD_BACKWARD_TILE_H
#define CORE_BACKWARD_BACKWARD_TILE_H

#include "core/backward/backward.h"
#include "core/forward/rows.h"
#include "core/simd/simd.h"

#define BACKWARD_ROWS 128 /* of a tile of a large head */
#define BACKWARD_KEYS 256

/* What tiles add to: whole heads, not scaled yet. In small heads of double, in large ones of the dtype. */
struct backward_sums {
    void *q;           /* d scaled K: [n][d] of the tile's head, or NULL when not wanted */
    void *k, *v;       /* d scaled^T Q and A~^T G: [m][d], [m][e] of its group, or NULL */
    double cap, slope; /* of softcap, and of the head's ALiBi slope */
};

struct backward_tile {
    const struct backward *back;
    const struct simd *simd;
    struct attention_rows at;
    size_t from, to;            /* keys */
    struct backward_sums *sums; /* or NULL */
    void *of[GRADIENT_COUNT];   /* where the tile's gradients are shown, [count][to - from]; or NULL */
    void *weights;              /* where its softmax's weights are shown, the same, or NULL */
    const bool *judges;         /* which gradients are looked at for overflow; or NULL */
    unsigned char *state;       /* with judges: per row, 0 or 1 + the gradient that overflows */
};

/* Bytes of scratch for tiles of so many rows and keys. */
size_t backward_scratch(const struct attention *a, size_t rows, size_t keys);

void backward_tile_run(const struct backward_tile *tile, void *scratch);
void backward_tile_run_float64(const struct backward_tile *tile, void *scratch); /* of one type */
void backward_tile_run_float32(const struct backward_tile *tile, void *scratch);

#endif
