/* Holding what core made of a request against the reference. */
#include "tests/core/trial.h"

#include <check.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>

double trial_tolerance(const struct trial *trial)
{
    return trial->shape.dtype == DTYPE_FLOAT32 ? 2e-6 : 1e-13;
}

/* Output comes as [b][n][h][e] when packed. */
static size_t place(const struct trial *trial, enum quantity quantity, size_t at)
{
    const struct attention *a = &trial->attention;
    if (quantity != QUANTITY_OUTPUT || !a->packed)
        return at;
    size_t t = at % a->d_v, i = at / a->d_v % a->queries;
    size_t h = at / a->d_v / a->queries % a->heads, b = at / a->d_v / a->queries / a->heads;
    return ((b * a->queries + i) * a->heads + h) * a->d_v + t;
}

double trial_value(const struct trial *trial, enum quantity quantity, size_t at)
{
    enum dtype dtype = attention_dtype(&trial->attention, quantity);
    struct tensor t = {.data = trial->results.of[quantity], .dtype = dtype};
    return reference_element(t, place(trial, quantity, at));
}

static double largest(struct tensor t)
{
    double max = 0;
    for (size_t at = 0; t.data != NULL && at < tensor_count(t); at++) {
        double x = fabs(reference_element(t, at));
        max = isfinite(x) ? fmax(max, x) : max;
    }
    return max;
}

double trial_largest_value(const struct trial *trial)
{
    return fmax(largest(trial->request.v), largest(trial->request.past_v));
}

/* Of the finite numbers of a quantity; 0 where the request has no such thing. */
static double largest_of(const struct trial *trial, const struct reference *ref, enum quantity quantity)
{
    double max = 0;
    for (size_t at = 0; ref->of[quantity] != NULL && at < attention_count(&trial->attention, quantity); at++)
        if (isfinite(ref->of[quantity][at]))
            max = fmax(max, fabs(ref->of[quantity][at]));
    return max;
}

/* What a quantity may be off by, in units of the tolerance: the largest number that went into it by addition. e^s is
 * as exact as s, whose last digit moves up with |s|: scores past 4 widen what follows them. Dropout divides by 1 - p.
 */
static double unit_of(const struct trial *trial, const struct reference *ref, enum quantity quantity)
{
    double own = largest_of(trial, ref, quantity), top = largest_of(trial, ref, QUANTITY_ROW_MAX);
    double wider = fmax(1, top / 4);
    double kept = trial->request.has_dropout ? 1 - trial->request.dropout_p : 1;
    switch (quantity) {
    case QUANTITY_PRODUCTS:
    case QUANTITY_SCORES:
    case QUANTITY_SCALED:
    case QUANTITY_CAPPED:
    case QUANTITY_BIAS:
    case QUANTITY_ALLOWED:
        return own;
    case QUANTITY_BIASED:
    case QUANTITY_MASKED:
    case QUANTITY_ROW_MAX:
    case QUANTITY_SHIFTED:
    case QUANTITY_LOG_SUM_EXP:
        return fmax(fmax(own, top), largest_of(trial, ref, QUANTITY_SCALED));
    case QUANTITY_EXP_UNSHIFTED:
    case QUANTITY_ROW_SUM_UNSHIFTED:
        return own * fmax(1, top) + (double)FLT_MIN / trial_tolerance(trial); /* what underflows in float32 is 0 */
    case QUANTITY_SCORE_MEAN:
    case QUANTITY_SCORE_VARIANCE:
        return fmax(own, largest_of(trial, ref, QUANTITY_SCALED) * fmax(1, largest_of(trial, ref, QUANTITY_SCALED)));
    case QUANTITY_DROPPED:
        return own * wider / kept;
    case QUANTITY_OUTPUT:
    case QUANTITY_CONTRIBUTIONS:
        return trial_largest_value(trial) * wider / kept;
    default:
        return own * wider;
    }
}

static bool agree(double found, double expected, double room)
{
    if (isnan(expected))
        return isnan(found);
    if (isinf(expected))
        return found == expected;
    return fabs(found - expected) <= room;
}

/* Where several weights are nearly the largest, rounding decides between them. */
static bool argmax_agrees(const struct reference *ref, size_t row, double found)
{
    double expected = ref->of[QUANTITY_ARGMAX_KEY][row];
    if (isnan(expected) || isnan(found))
        return isnan(expected) && isnan(found);
    const double *weights = ref->of[QUANTITY_WEIGHTS] + row * ref->keys;
    return weights[(size_t)found] >= weights[(size_t)expected] * (1 - 1e-4) - (double)FLT_MIN; /* those below are 0 */
}

static void compare_quantity(const struct trial *trial, const struct reference *ref, enum quantity quantity,
                             uint64_t seed)
{
    const char *lacks = attention_lacks(&trial->attention, quantity);
    ck_assert_msg((lacks == NULL) == (ref->of[quantity] != NULL), "seed %" PRIu64 ": %s: core %s it", seed,
                  quantity_name(quantity), lacks == NULL ? "has" : "lacks");
    if (lacks != NULL)
        return;
    double room = trial_tolerance(trial) * unit_of(trial, ref, quantity);
    size_t width = trial_width(trial, quantity);
    for (size_t at = 0; at < attention_count(&trial->attention, quantity); at++) {
        double found = trial_value(trial, quantity, at), expected = ref->of[quantity][at];
        bool good = quantity == QUANTITY_ARGMAX_KEY ? argmax_agrees(ref, at, found) : agree(found, expected, room);
        if (quantity == QUANTITY_EFFECTIVE_KEYS && ref->of[QUANTITY_MAX_WEIGHT][at] < (double)FLT_MIN)
            continue; /* a ratio of weights that float32 has not */
        if (good)
            continue; /* Check writes to a file at each of its assertions: too slow for every number */
        ck_abort_msg("seed %" PRIu64 ": %s of row %zu at %zu is %.17g, not %.17g (off by %g, may be %g)", seed,
                     quantity_name(quantity), at / width, at % width, found, expected, fabs(found - expected), room);
    }
}

void trial_compare(const struct trial *trial, const struct reference *ref, uint64_t seed)
{
    for (size_t x = 0; x < QUANTITY_COUNT; x++)
        if (x != QUANTITY_CONTRIBUTION_NORMS) /* test_lesson_steps.c has these */
            compare_quantity(trial, ref, (enum quantity)x, seed);
}
