/* Levels, and the integrals that they come from. */
#include "core/cache/centroids.h"

#include <math.h>
#include <string.h>

#define HALF (CENTROIDS_MAX / 2)
#define ITERATIONS 5000
#define CLOSE 1e-14 /* of a level, where the iteration ends */
#define PANELS 4
#define TAIL 14.0 /* standard deviations after which the density counts for nothing */

/* The positive levels for N(0, 1); the others are their negatives. */
static const double normal_levels[CENTROIDS_BITS_MAX + 1][HALF] = {
    {0},
    {0.7978845608},
    {0.4527800346, 1.5104176085},
    {0.2450941789, 0.7560052812, 1.3439092785, 2.1519457045},
    {0.1283950299, 0.3880482995, 0.6567591185, 0.9423404565, 1.2562311973, 1.6180463860, 2.0690172265, 2.7325895710},
};

static struct centroids mirror(const double *positive, size_t half)
{
    struct centroids c = {.count = half == 0 ? 1 : 2 * half};
    for (size_t x = 0; x < half; x++) {
        c.level[half + x] = positive[x];
        c.level[half - 1 - x] = -positive[x];
    }
    for (size_t x = 0; x + 1 < c.count; x++)
        c.boundary[x] = (c.level[x] + c.level[x + 1]) / 2;
    return c;
}

struct centroids centroids_normal(size_t bits, size_t width)
{
    double positive[HALF];
    size_t half = bits == 0 ? 0 : (size_t)1 << (bits - 1);
    for (size_t x = 0; x < half; x++)
        positive[x] = normal_levels[bits][x] / sqrt((double)width);
    return mirror(positive, half);
}

size_t centroids_code(const struct centroids *c, double y)
{
    size_t code = 0;
    while (code + 1 < c->count && y >= c->boundary[code])
        code++;
    return code;
}

/* --- integrals: with t = sin p the density is cos(p)^(d - 2), smooth up to its ends --- */

/* Gauss and Legendre, 16 points on [-1, 1]. */
static const double gauss_at[8] = {0.0950125098376374401853, 0.2816035507792589132305, 0.4580167776572273863424,
                                   0.6178762444026437484467, 0.7554044083550030338951, 0.8656312023878317438805,
                                   0.9445750230732325760780, 0.9894009349916499325962};
static const double gauss_weight[8] = {0.1894506104550684962854, 0.1826034150449235888668, 0.1691565193950025381893,
                                       0.1495959888165767320815, 0.1246289712555338720525, 0.0951585116824927848099,
                                       0.0622535239386478928628, 0.0271524594117540948518};

/* cos(p)^(d - 2) sin(p)^power */
static double density(size_t width, int power, double p)
{
    return pow(cos(p), (double)width - 2) * pow(sin(p), power);
}

/* Its integral from p = low to high. */
static double integrate_panel(size_t width, int power, double low, double high)
{
    double middle = (low + high) / 2;
    double half = (high - low) / 2;
    double sum = 0;
    for (size_t x = 0; x < 8; x++)
        sum += gauss_weight[x] * (density(width, power, middle - half * gauss_at[x]) +
                                  density(width, power, middle + half * gauss_at[x]));
    return sum * half;
}

/* The moment of t^power between t = low and high, not normalised. */
static double moment(size_t width, int power, double low, double high)
{
    double from = asin(low);
    double to = fmin(asin(high), from + TAIL / sqrt((double)width));
    double sum = 0;
    for (size_t x = 0; x < PANELS; x++)
        sum += integrate_panel(width, power, from + (to - from) * (double)x / PANELS,
                               from + (to - from) * (double)(x + 1) / PANELS);
    return sum;
}

/* Every level becomes the mean of its cell; how far the furthest moved. */
static double improve(double *positive, size_t half, size_t width)
{
    double moved = 0;
    double low = 0;
    for (size_t x = 0; x < half; x++) {
        double high = x + 1 < half ? (positive[x] + positive[x + 1]) / 2 : 1;
        double mean = moment(width, 1, low, high) / moment(width, 0, low, high);
        moved = fmax(moved, fabs(mean - positive[x]) / mean);
        positive[x] = mean;
        low = high;
    }
    return moved;
}

struct centroids centroids_exact(size_t bits, size_t width)
{
    const struct centroids start = centroids_normal(bits, width);
    double positive[HALF] = {0};
    size_t half = start.count / 2;
    memcpy(positive, start.level + half, half * sizeof *positive);
    for (size_t x = 0; x < half; x++)
        positive[x] = fmin(positive[x], (double)(x + 1) / (double)(half + 1));
    for (size_t x = 0; half > 0 && x < ITERATIONS && improve(positive, half, width) > CLOSE; x++)
        continue;
    return mirror(positive, half);
}
