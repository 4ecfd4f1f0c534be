/* The levels of a Lloyd-Max quantiser for one coordinate of a random direction (Lloyd 1957, Max 1960; TurboQuant, arXiv
 * 2504.19874). */
#ifndef CORE_CACHE_CENTROIDS_H
#define CORE_CACHE_CENTROIDS_H

#include <stddef.h>

#define CENTROIDS_BITS_MAX 4
#define CENTROIDS_MAX 16

/* Levels in rising order, and the boundary between each and the next; a number on a boundary belongs to the upper. */
struct centroids {
    size_t count;
    double level[CENTROIDS_MAX], boundary[CENTROIDS_MAX];
};

/* 2^bits levels, bits 0 (the one level 0) to CENTROIDS_BITS_MAX, for directions of `width` numbers: those of N(0, 1) /
 * sqrt(width), the limit for large widths; or those of the exact density Gamma(d/2) / (sqrt(pi) Gamma((d - 1)/2)) (1 -
 * t^2)^((d - 3)/2), width at least 3. */
struct centroids centroids_normal(size_t bits, size_t width);
struct centroids centroids_exact(size_t bits, size_t width);

/* The index of the level of y. */
size_t centroids_code(const struct centroids *centroids, double y);

#endif
