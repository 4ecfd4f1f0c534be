/* Orthogonal matrices that spread the energy of a vector over its features before it is rounded. */
#ifndef CORE_CACHE_ROTATION_H
#define CORE_CACHE_ROTATION_H

#include "core/tensor/arena.h"
#include "core/tensor/normal.h"

#include <stdatomic.h>

/* R [width][width]: `rows` row-major, and the same by columns. */
struct rotation {
    size_t width;
    double *rows, *columns;
};

/* Makes a rotation whose numbers are not set yet; false when there is no memory. */
bool rotation_new(struct rotation *rotation, size_t width, struct arena *arena, struct error *err);

/* R = Q of G = Q U with G [d][d] of N(0, 1) from `normal`, row-major, by Householder reflections; the diagonal of U is
 * positive, which makes Q unique. False when there is no memory. Not finished when *cancel (or NULL) becomes true. */
bool rotation_random(struct rotation *rotation, struct normal *normal, const atomic_bool *cancel, struct arena *arena,
                     struct error *err);

/* R = H D / sqrt(d): H in Sylvester's order, d a power of two, D_t = -1 where the top bit of the t-th number of
 * `normal` is 1. */
void rotation_hadamard(struct rotation *rotation, struct normal *normal);

/* R as it is given. */
void rotation_given(struct rotation *rotation, const double *rows);

/* Not a rotation but a sketch: N(0, 1) from `normal`, row-major. */
void rotation_sketch(struct rotation *sketch, struct normal *normal);

/* max |R R^T - I|; of some rows when *cancel (or NULL) becomes true. */
double rotation_defect(const struct rotation *rotation, const atomic_bool *cancel);

/* |x|; scaled where the sum of squares leaves the range. */
double rotation_norm(const double *x, size_t width);

/* y = R x and x = R^T y; every sum runs in rising order of the features. */
void rotation_apply(const struct rotation *rotation, const double *x, double *y);
void rotation_undo(const struct rotation *rotation, const double *y, double *x);

#endif
