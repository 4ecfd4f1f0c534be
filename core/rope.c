/* Rotary position embedding, one row at a time. */
#include "core/rope.h"

#include <math.h>

static void turn(struct tensor t, size_t first, size_t second, double cosine, double sine)
{
    double x1 = dtype_get(t.dtype, t.data, first);
    double x2 = dtype_get(t.dtype, t.data, second);
    dtype_set(t.dtype, t.data, first, cosine * x1 - sine * x2);
    dtype_set(t.dtype, t.data, second, sine * x1 + cosine * x2);
}

/* Row x of batch b in all heads: they share its angles. */
static void turn_row(const struct rope_request *rope, struct tensor t, size_t b, size_t x, double position)
{
    size_t r = rope->dims ? rope->dims : t.shape[3];
    size_t row = b * t.stride[0] + x * t.stride[2];
    for (size_t p = 0; p < r / 2; p++) {
        double angle = position * pow(rope->theta, -2.0 * (double)p / (double)r);
        double cosine = cos(angle);
        double sine = sin(angle);
        for (size_t h = 0; h < t.shape[1]; h++) {
            size_t at = row + h * t.stride[1];
            turn(t, at + (rope->interleaved ? 2 * p : p), at + (rope->interleaved ? 2 * p + 1 : p + r / 2), cosine,
                 sine);
        }
    }
}

static void turn_rows(const struct rope_request *rope, struct tensor t, struct integers list, size_t first, double sign)
{
    for (size_t b = 0; b < t.shape[0]; b++)
        for (size_t x = 0; x < t.shape[2]; x++) {
            size_t entry = list.rows ? b * t.shape[2] + x : x;
            double position = list.values ? (double)list.values[entry] : (double)(first + x);
            turn_row(rope, t, b, x, sign * position);
        }
}

void rope_apply(const struct rope_request *rope, struct tensor t, struct integers list, size_t first)
{
    turn_rows(rope, t, list, first, 1);
}

void rope_undo(const struct rope_request *rope, struct tensor t, struct integers list, size_t first)
{
    turn_rows(rope, t, list, first, -1);
}
