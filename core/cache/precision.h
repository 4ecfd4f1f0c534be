/* The arithmetic of real kernels, emulated on small heads: every elementary operation in double, rounded once to the
 * format of its stage. */
#ifndef CORE_CACHE_PRECISION_H
#define CORE_CACHE_PRECISION_H

#include "core/tensor/arena.h"
#include "core/tensor/format.h"
#include "core/tensor/tensor.h"

struct attention;

/* id, name, what it rounds. */
#define PRECISION_STAGES(X) \
    X(INPUTS, "inputs", "q, k and v as they enter the scores") \
    X(PRODUCTS, "products", "each q_t k_t") \
    X(ACCUMULATE, "accumulate", "every partial sum of products") \
    X(SCORES, "scores", "the sum, scale * score, the cap, + bias") \
    X(SOFTMAX, "softmax", "s - max, e^ of it, every partial sum, the quotient") \
    X(WEIGHTS, "weights", "the quotient, and again after dropout") \
    X(MIX, "mix", "weight * value, and every partial sum") \
    X(OUTPUT, "output", "the sum")

enum precision_stage {
#define PRECISION_ID(id, name, what) PRECISION_##id,
    PRECISION_STAGES(PRECISION_ID)
#undef PRECISION_ID
        PRECISION_STAGE_COUNT
};

const char *precision_stage_name(enum precision_stage stage);

/* bf16-kernel: bfloat16 inputs, weights, output, float32 else; fp16: the same with float16; bf16-all: bfloat16
 * everywhere; fp8: float8_e4m3 inputs and weights, bfloat16 output, float32 else. */
enum precision_profile { PRECISION_BF16_KERNEL, PRECISION_FP16, PRECISION_BF16_ALL, PRECISION_FP8 };

struct precision_request {
    bool on, has_profile;
    enum precision_profile profile;
    enum format stage[PRECISION_STAGE_COUNT]; /* default: that of the profile, else the dtype */
    bool given[PRECISION_STAGE_COUNT];
    bool pairwise; /* neighbours are added first, an odd last one is carried up; else one after another */
};

struct precision {
    bool on, pairwise;
    enum format stage[PRECISION_STAGE_COUNT];
};

/* What rounding did in visible cells: numbers that were too large for a float8 format, and numbers that became 0. */
struct precision_tally {
    size_t saturated, zeroed;
};

/* Resolves the request into a->precision; false with ERROR_INVALID for what excludes it and for heads that are not
 * small. */
bool precision_check(struct attention *a, struct error *err);

/* x in the format of the stage; counted where there is a tally. */
double precision_round(const struct precision *precision, enum precision_stage stage, double x,
                       struct precision_tally *tally);

/* a->q, k and v become rounded copies of themselves. */
bool precision_round_inputs(struct attention *a, struct arena *arena, struct error *err);

/* Runs every row of a prepared request once more and counts. */
bool precision_count(const struct attention *a, struct precision_tally *tally, struct arena *arena, struct error *err);

#endif
