/* Keys or values of a cache, kept in few bits: codes, what they stand for, and what that costs.
 *
 * affine (KIVI, arXiv 2402.02750): scale = (max - min) / (2^b - 1) of the numbers that share it, code = (x - min) /
 * scale rounded, x^ = code scale + min. symmetric: scale = max|x| / (2^(b - 1) - 1), x^ = code scale. float8: scale =
 * max|x| over the largest number of the format, x^ = scale round(x / scale). turboquant (arXiv 2504.19874): nu = |x|, y
 * = R x / nu, every number of y goes to the nearest centroid, x^ = nu R^T y^. With residual qjl (arXiv 2406.03482) one
 * of the bits: r = y - y^, gamma = |r|, z = sign(S r), r^ = sqrt(pi / 2) / d gamma S^T z is added to y^. Everything is
 * done in double, ties to even; a scale of 0 gives code 0, a vector of zeros norm 0. */
#ifndef CORE_CACHE_QUANTIZE_H
#define CORE_CACHE_QUANTIZE_H

#include "core/cache/centroids.h"
#include "core/cache/rotation.h"
#include "core/tensor/arena.h"
#include "core/tensor/pool.h"
#include "core/tensor/tensor.h"

#include <stdatomic.h>
#include <stdint.h>

/* id, name, fewest and most bits; 0: the format has its own eight. */
#define QUANTIZE_METHODS(X) \
    X(AFFINE, "affine", 1, 8) \
    X(SYMMETRIC, "symmetric", 2, 8) \
    X(FLOAT8_E4M3, "float8_e4m3", 0, 0) \
    X(FLOAT8_E5M2, "float8_e5m2", 0, 0) \
    X(TURBOQUANT, "turboquant", 1, 4)

enum quantize_method {
#define QUANTIZE_ID(id, name, fewest, most) QUANTIZE_##id,
    QUANTIZE_METHODS(QUANTIZE_ID)
#undef QUANTIZE_ID
        QUANTIZE_METHOD_COUNT
};

/* Along which numbers share a scale. */
enum quantize_axis {
    QUANTIZE_CHANNEL, /* a feature, over tokens */
    QUANTIZE_TOKEN,   /* a token, over features */
    QUANTIZE_TENSOR,  /* all of a key/value head */
};

enum quantize_rotation {
    QUANTIZE_PLAIN, /* none */
    QUANTIZE_HADAMARD,
    QUANTIZE_RANDOM,
    QUANTIZE_GIVEN,
};

struct quantize_turn {
    enum quantize_rotation kind;
    struct tensor given; /* [d][d] for QUANTIZE_GIVEN */
};

/* What is asked for one side, k or v. */
struct quantize_side {
    bool on;
    enum quantize_method method;
    size_t bits;                           /* 0: not given */
    enum quantize_axis axis;               /* default: channel for k, token for v */
    size_t group;                          /* 0: the whole axis */
    struct quantize_turn rotation;         /* default: random for turboquant, else none */
    bool has_axis, has_rotation, has_seed; /* was it said? */
    int64_t seed;
    bool qjl, exact_centroids, renormalize;
};

struct quantize_request {
    bool on; /* was it given? */
    struct quantize_side k, v;
    int64_t keep_first, keep_last; /* tokens that stay exact */
};

/* What decoding takes besides codes and signs: scales and norms as doubles, in the order of their tensors. */
struct quantize_key {
    struct tensor exact; /* the numbers as they were, [b][g][m][d] */
    struct rotation rotation, sketch;
    struct centroids centroids;
    double *value; /* of each byte of a float8 format */
    double *scale, *zero, *norm, *residual_norm;
};

/* One side, done. The tensors have the axes [b][g] of the numbers first, but for rotation and sketch [d][d]; what a
 * method has not is absent (rank 0). m' tokens from `first` on are quantised. */
struct quantized {
    const struct quantize_side *side;
    enum quantize_axis axis;
    enum quantize_rotation rotation_kind;
    size_t batch, heads, tokens, width;
    size_t first, count, group; /* m', and how many numbers share a scale */
    struct tensor codes;        /* [m'][d], int16 */
    struct tensor scale, zero;  /* channel [m'/group][d], token [m'][d/group], tensor [] */
    struct tensor norm;         /* [m'] */
    struct tensor residual_norm;
    struct tensor sign;        /* [m'][d], int16: 1 or -1 */
    struct tensor dequantized; /* [m][d], the kept tokens as they are; without data where it is decoded by tiles */
    struct tensor rotation, sketch;
    double bits;               /* of the side in all; a scale, zero, norm or kept number counts 16 */
    bool by_tile;              /* never dequantised as a whole */
    double largest;            /* of all |dequantized| */
    const atomic_bool *cancel; /* stops quantize_run; set after the plan, or NULL */
    struct quantize_key key;
};

/* Refuses what does not fit the method or [batch][heads][tokens][width]; `name` is the side's, "quantize.k". */
bool quantize_check(const struct quantize_request *request, const struct quantize_side *side, const char *name,
                    size_t tokens, size_t width, struct error *err);

/* The shapes and the bill of a checked side of numbers of `dtype`; no data. By tiles: quantize_decode is asked for the
 * rows as they are needed. */
struct quantized quantize_plan(const struct quantize_request *request, const struct quantize_side *side,
                               enum dtype dtype, size_t batch, size_t heads, size_t tokens, size_t width, bool by_tile);

/* Numbers that it holds, operations that it takes, and those that decoding all of it once takes. */
double quantize_numbers(const struct quantized *quantized);
double quantize_flops(const struct quantized *quantized);
double quantize_decode_flops(const struct quantized *quantized);

/* Fills a plan from x [batch][heads][tokens][width]; memory from the arena. ERROR_INVALID for a given rotation that is
 * not orthogonal, ERROR_CANCELLED when *cancel is true. x has to stay. */
bool quantize_run(struct quantized *quantized, struct tensor x, const char *name, struct arena *arena,
                  struct pool *pool, struct error *err);

/* Some tokens of one head. */
struct quantized_rows {
    size_t b, g, first, count;
};

/* What the codes stand for, [count][width] of the dtype; kept tokens as they are. The room holds quantize_room
 * doubles. The same row has the same bits whenever it is asked for. */
size_t quantize_room(const struct quantized *quantized);
void quantize_decode(const struct quantized *quantized, struct quantized_rows at, void *out, double *room);

#endif
