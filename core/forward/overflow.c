/* Bounds of the chain: |q.k| <= d max |q| max |k|, scaled |scale| times that, and the sum of m terms m times the
 * largest. */
#include "core/forward/overflow.h"

#include "core/simd/simd.h"

#include <math.h>

#define NUMBERS_PER_TASK ((size_t)1 << 16)

/* Up to here nothing overflows: adding so little to the largest number of the dtype gives that number again, so even a
 * bias that is the largest number is safe. */
static double find_limit(enum dtype dtype)
{
    return dtype == DTYPE_FLOAT64 ? 0x1p960 : 0x1p100;
}

struct search {
    const struct simd *lanes;
    enum dtype dtype;
    const void *numbers;
    size_t count;
    double largest[POOL_WORKERS_MAX + 1]; /* [slots] */
};

static void search_some(void *context, size_t index, size_t slot)
{
    struct search *s = context;
    size_t first = index * NUMBERS_PER_TASK;
    size_t count = s->count - first < NUMBERS_PER_TASK ? s->count - first : NUMBERS_PER_TASK;
    double size = s->dtype == DTYPE_FLOAT64 ? s->lanes->size_float64((const double *)s->numbers + first, count)
                                            : (double)s->lanes->size_float32((const float *)s->numbers + first, count);
    s->largest[slot] = fmax(s->largest[slot], isnan(size) ? HUGE_VAL : size);
}

/* From the first number of a view to its last. */
static size_t find_span(struct tensor t)
{
    size_t span = 1;
    for (size_t axis = 0; axis < t.rank; axis++)
        span += (t.shape[axis] - 1) * t.stride[axis];
    return span;
}

/* max |t|, infinite when something is not finite; what lies between the rows of a view counts too. */
static double find_size(struct tensor t, struct pool *pool)
{
    struct search s = {.lanes = simd_best(), .dtype = t.dtype, .numbers = t.data, .count = find_span(t)};
    double largest = 0;
    pool_run(pool, (s.count + NUMBERS_PER_TASK - 1) / NUMBERS_PER_TASK, search_some, &s);
    for (size_t slot = 0; slot < pool_slots(pool); slot++)
        largest = fmax(largest, s.largest[slot]);
    return largest;
}

static double find_size_of_side(struct tensor t, const struct quantized *side, struct pool *pool)
{
    return t.data ? find_size(t, pool) : side->largest;
}

/* Positions are 64-bit integers, their distances below 2^64. */
static double bound_alibi(const struct attention *a)
{
    double steepest = 0;
    for (size_t h = 0; a->mask.slopes && h < a->heads; h++)
        steepest = fmax(steepest, fabs(a->mask.slopes[h]));
    return steepest * 0x1p64;
}

void overflow_foresee(struct attention *a, struct pool *pool)
{
    const struct attention_request *r = a->request;
    double limit = find_limit(a->dtype);
    double product = find_size(a->q, pool) * find_size_of_side(a->k, &a->quantized_k, pool);
    a->sure_product = limit / (double)a->d_k / fmax(1, fabs(a->scale));
    a->scores_may_overflow = !(product <= a->sure_product && bound_alibi(a) <= limit);
    a->sure_term = limit / (double)a->keys;
    double weights = r->variant == VARIANT_LINEAR ? product * (double)a->d_k * fabs(a->scale) : 1 / (1 - r->dropout_p);
    a->output_may_overflow = !(weights * find_size_of_side(a->v, &a->quantized_v, pool) <= a->sure_term);
}
