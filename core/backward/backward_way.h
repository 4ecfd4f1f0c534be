/* One run of the way back: what its files share. */
#ifndef CORE_BACKWARD_BACKWARD_WAY_H
#define CORE_BACKWARD_BACKWARD_WAY_H

#include "core/backward/backward_tile.h"
#include "core/workspace.h"

#define BACKWARD_SPLITS_MAX 8

/* Parts that the keys of a large head are cut into. */
size_t backward_splits(const struct attention *a);

struct backward_way {
    const struct backward *back;
    const struct backward_results *results;
    struct pool *pool;
    const atomic_bool *cancel;
    struct arena *arena;
    const struct simd *simd;
    size_t splits;               /* parts that the keys of a large head are cut into */
    void *q, *k, *v;             /* sums: [splits][b][H][n][d], [b][G][m][d], [b][G][m][e]; NULL when not needed */
    double *cap, *slope, *scale; /* [splits][b][H], [splits][b][H], [b][H]: parts of sums */
    unsigned char *state;        /* [splits][b][H][n] */
    double *bias;                /* as many numbers as the request's bias */
    struct tensor inputs[3];     /* what backward_inputs makes: the gradients of q, k, v as they entered the scores */
    void *by_x;                  /* d x, for the result or for the embedding */
    struct workspace scratch;
};

/* Whether a result is wanted, and whether one that needs this input (0 q, 1 k, 2 v) is. */
bool backward_wants(const struct backward_way *way, enum gradient gradient);
bool backward_needs(const struct backward_way *way, size_t input);

/* Where the gradient goes when it is wanted, else room in the arena. */
void *backward_room(const struct backward_way *way, enum gradient gradient, size_t count, struct error *err);

/* Whether the run is to stop. */
bool backward_is_cancelled(const struct backward_way *way);

/* The tiles of all heads, their sums brought together: inputs[], SCALE, SOFTCAP, ALIBI, the states. */
bool backward_heads(struct backward_way *way, struct error *err);

/* BIAS, SINKS; bytes that BIAS takes for itself at least. */
size_t backward_bias_room(const struct attention *a);
bool backward_bias(struct backward_way *way, struct error *err);
void backward_sinks(struct backward_way *way);

/* From inputs[] to the request's members: rotation, past, projections; and W_O, B_O. */
bool backward_members(struct backward_way *way, struct error *err);

#endif
