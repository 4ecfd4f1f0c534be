/* Attention as it is written on paper, in double complex: one number of it is moved by ih, and the imaginary part of L
 * over h is the derivative of L by that number, to the last digits (Squire and Trapp 1998). Shares no code with core.
 */
#ifndef TESTS_CORE_REFERENCE_STEP_H
#define TESTS_CORE_REFERENCE_STEP_H

#include "core/backward/gradient.h"
#include "tests/core/reference.h"

#define REFERENCE_STEP 1e-30

/* The number that moves: `at` counts the elements of the gradient's shape (gradient_shape). */
struct reference_move {
    enum gradient of;
    size_t at;
};

/* Im L / h with L = sum upstream . output, the output as it is returned. Form A or B, every option. */
double reference_derivative(const struct attention *a, const double *upstream, struct reference_move move);

#endif
