/* Drawing numbers. */
#include "core/tensor/normal.h"

#include <math.h>

#define TURN 6.283185307179586476925286766559 /* 2 pi */

uint64_t normal_mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
}

uint64_t normal_bits(struct normal *normal)
{
    normal->state += 0x9E3779B97F4A7C15U;
    return normal_mix(normal->state);
}

void normal_fill(struct normal *normal, double *out, size_t count)
{
    for (size_t x = 0; x < count; x += 2) {
        double u1 = (double)((normal_bits(normal) >> 11) + 1) * 0x1p-53;
        double u2 = (double)(normal_bits(normal) >> 11) * 0x1p-53;
        double r = sqrt(-2 * log(u1));
        out[x] = r * cos(TURN * u2);
        if (x + 1 < count)
            out[x + 1] = r * sin(TURN * u2);
    }
}
