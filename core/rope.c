/* Rotary position embedding. Frequencies are sums of two doubles: at position 10^5 the rounding of one double would be
 * 10^5 units of the angle's last place. */
#include "core/rope.h"

#include <math.h>

#define PAIRS_AT_A_TIME 64
#define ROWS_PER_TASK 16

/* high + low, exact to about 2^-104 (Dekker 1971). */
struct wide {
    double high, low;
};

static struct wide multiply(struct wide a, struct wide b)
{
    double high = a.high * b.high;
    double low = fma(a.high, b.high, -high) + (a.high * b.low + a.low * b.high);
    double sum = high + low;
    return (struct wide){sum, low - (sum - high)};
}

static struct wide raise(struct wide base, size_t exponent)
{
    struct wide power = {1, 0};
    for (; exponent > 0; exponent /= 2, base = multiply(base, base))
        if (exponent % 2)
            power = multiply(power, base);
    return power;
}

/* theta^(-1/n): pow's, brought closer by a step of Newton's for x^n theta = 1. */
static struct wide find_ratio(double theta, size_t n)
{
    const struct wide guess = {pow(theta, -1 / (double)n), 0};
    struct wide one = multiply(raise(guess, n), (struct wide){theta, 0});
    double step = -((one.high - 1) + one.low) / (double)n;
    return isfinite(step) ? multiply(guess, (struct wide){1, step}) : guess;
}

/* Some pairs of features, of all rows. */
struct turn {
    const struct rope_request *rope;
    struct tensor t;
    struct integers list;
    size_t first;
    double sign;
    const atomic_bool *cancel;
    size_t pair, pairs;                     /* from `pair` on */
    struct wide frequency[PAIRS_AT_A_TIME]; /* of each */
};

/* The cosine and sine of each pair at one position. */
struct angles {
    double cosine[PAIRS_AT_A_TIME], sine[PAIRS_AT_A_TIME];
};

/* Pairs `step` numbers apart, the second of each `other` after the first. */
static void turn_float64(double *x, size_t pairs, size_t step, size_t other, const struct angles *at)
{
    for (size_t p = 0; p < pairs; p++) {
        double first = x[p * step];
        double second = x[p * step + other];
        x[p * step] = at->cosine[p] * first - at->sine[p] * second;
        x[p * step + other] = at->sine[p] * first + at->cosine[p] * second;
    }
}

static void turn_float32(float *x, size_t pairs, size_t step, size_t other, const struct angles *at)
{
    for (size_t p = 0; p < pairs; p++) {
        double first = (double)x[p * step];
        double second = (double)x[p * step + other];
        x[p * step] = (float)(at->cosine[p] * first - at->sine[p] * second);
        x[p * step + other] = (float)(at->sine[p] * first + at->cosine[p] * second);
    }
}

/* All heads share the angles. */
static void turn_heads(const struct turn *turn, size_t row, const struct angles *angles)
{
    const struct tensor *t = &turn->t;
    size_t half = (turn->rope->dims ? turn->rope->dims : t->shape[3]) / 2;
    size_t step = turn->rope->interleaved ? 2 : 1;
    size_t other = turn->rope->interleaved ? 1 : half;
    size_t at = row + turn->pair * step;
    for (size_t h = 0; h < t->shape[1]; h++, at += t->stride[1])
        if (t->dtype == DTYPE_FLOAT64)
            turn_float64((double *)t->data + at, turn->pairs, step, other, angles);
        else
            turn_float32((float *)t->data + at, turn->pairs, step, other, angles);
}

/* cos and sin of a + b are those of a, moved by b: b is below the last place of a. */
static void turn_row(const struct turn *turn, size_t row, double position)
{
    struct angles angles;
    for (size_t p = 0; p < turn->pairs; p++) {
        struct wide angle = multiply(turn->frequency[p], (struct wide){position, 0});
        double cosine = cos(angle.high);
        double sine = sin(angle.high);
        angles.cosine[p] = cosine - angle.low * sine;
        angles.sine[p] = sine + angle.low * cosine;
    }
    turn_heads(turn, row, &angles);
}

static void turn_some_rows(void *context, size_t index, size_t slot)
{
    const struct turn *turn = context;
    const struct tensor *t = &turn->t;
    size_t end = (index + 1) * ROWS_PER_TASK;
    (void)slot;
    if (turn->cancel && atomic_load_explicit(turn->cancel, memory_order_relaxed))
        return;
    for (size_t at = index * ROWS_PER_TASK; at < end && at < t->shape[0] * t->shape[2]; at++) {
        size_t x = at % t->shape[2];
        size_t entry = turn->list.rows ? at : x;
        double position = turn->list.values ? (double)turn->list.values[entry] : (double)(turn->first + x);
        turn_row(turn, at / t->shape[2] * t->stride[0] + x * t->stride[2], turn->sign * position);
    }
}

static void turn_all(struct turn *turn, struct pool *pool)
{
    size_t half = (turn->rope->dims ? turn->rope->dims : turn->t.shape[3]) / 2;
    size_t rows = turn->t.shape[0] * turn->t.shape[2];
    const struct wide ratio = find_ratio(turn->rope->theta, half);
    struct wide frequency = {1, 0};
    for (; turn->pair < half; turn->pair += turn->pairs) {
        turn->pairs = half - turn->pair < PAIRS_AT_A_TIME ? half - turn->pair : PAIRS_AT_A_TIME;
        for (size_t p = 0; p < turn->pairs; p++, frequency = multiply(frequency, ratio))
            turn->frequency[p] = frequency;
        pool_run(pool, (rows + ROWS_PER_TASK - 1) / ROWS_PER_TASK, turn_some_rows, turn);
    }
}

void rope_apply(const struct rope_request *rope, struct tensor t, struct integers list, size_t first, struct pool *pool,
                const atomic_bool *cancel)
{
    struct turn turn = {.rope = rope, .t = t, .list = list, .first = first, .sign = 1, .cancel = cancel};
    turn_all(&turn, pool);
}

void rope_undo(const struct rope_request *rope, struct tensor t, struct integers list, size_t first, struct pool *pool,
               const atomic_bool *cancel)
{
    struct turn turn = {.rope = rope, .t = t, .list = list, .first = first, .sign = -1, .cancel = cancel};
    turn_all(&turn, pool);
}
