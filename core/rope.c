/* Rotary position embedding, one row at a time. */
#include "core/rope.h"

#include <math.h>

static double load(struct tensor t, size_t at)
{
    return t.dtype == DTYPE_FLOAT64 ? ((const double *)t.data)[at] : (double)((const float *)t.data)[at];
}

static void store(struct tensor t, size_t at, double value)
{
    if (t.dtype == DTYPE_FLOAT64)
        ((double *)t.data)[at] = value;
    else
        ((float *)t.data)[at] = (float)value;
}

static void turn(struct tensor t, size_t first, size_t second, double angle)
{
    double x1 = load(t, first);
    double x2 = load(t, second);
    store(t, first, cos(angle) * x1 - sin(angle) * x2);
    store(t, second, sin(angle) * x1 + cos(angle) * x2);
}

static void turn_row(const struct rope_request *rope, struct tensor t, size_t at, double position)
{
    size_t r = rope->dims ? rope->dims : t.shape[3];
    for (size_t p = 0; p < r / 2; p++) {
        double angle = position * pow(rope->theta, -2.0 * (double)p / (double)r);
        turn(t, at + (rope->interleaved ? 2 * p : p), at + (rope->interleaved ? 2 * p + 1 : p + r / 2), angle);
    }
}

static void turn_rows(const struct rope_request *rope, struct tensor t, struct integers list, size_t first, double sign)
{
    for (size_t b = 0; b < t.shape[0]; b++)
        for (size_t h = 0; h < t.shape[1]; h++)
            for (size_t x = 0; x < t.shape[2]; x++) {
                size_t entry = list.rows ? b * t.shape[2] + x : x;
                double position = list.values ? (double)list.values[entry] : (double)(first + x);
                turn_row(rope, t, b * t.stride[0] + h * t.stride[1] + x * t.stride[2], sign * position);
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
