/* One way back: a trial, an upstream gradient, and every gradient that core makes of them. */
#ifndef TESTS_CORE_SLOPE_H
#define TESTS_CORE_SLOPE_H

#include "core/backward/backward.h"
#include "tests/core/trial.h"

struct slope {
    struct trial trial;
    double *upstream; /* dL/d output, laid out like the output that is returned */
    struct backward back;
    struct backward_results results; /* those in core's way: tensors and numbers */
    void *rows[GRADIENT_COUNT];      /* those made row by row, whole: [b][h][n][..] */
};

/* Any request of form A or B, with any options. */
void slope_random(struct slope *slope, struct draw *draw, enum dtype dtype);

/* Runs the trial that is in `slope`, then all of the way back, with `upstream` random where it is NULL. */
void slope_run(struct slope *slope, struct pool *pool, struct draw *draw);
bool slope_try(struct slope *slope, struct pool *pool, struct draw *draw, struct error *err);

/* Number `at` of a gradient; the request must have it. */
double slope_value(const struct slope *slope, enum gradient gradient, size_t at);

#endif
