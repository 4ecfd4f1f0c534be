/* Random numbers that are the same everywhere. */
#include "tests/core/draw.h"

uint64_t draw_bits(struct draw *draw)
{
    uint64_t z = draw->state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

double draw_unit(struct draw *draw)
{
    return (double)(draw_bits(draw) >> 11) * 0x1p-53;
}

/* The sum of twelve uniform numbers has variance 1. */
double draw_real(struct draw *draw)
{
    double sum = -6;
    for (int t = 0; t < 12; t++)
        sum += draw_unit(draw);
    return sum;
}

size_t draw_size(struct draw *draw, size_t low, size_t high)
{
    return low + (size_t)(draw_bits(draw) % (high - low + 1));
}

int64_t draw_integer(struct draw *draw, int64_t low, int64_t high)
{
    return low + (int64_t)draw_size(draw, 0, (size_t)(high - low));
}

bool draw_chance(struct draw *draw, unsigned percent)
{
    return draw_bits(draw) % 100 < percent;
}
