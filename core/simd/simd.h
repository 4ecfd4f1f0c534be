/* The passes over a row of scores that the processor's vector units run: chosen for what the machine has. */
#ifndef CORE_SIMD_SIMD_H
#define CORE_SIMD_SIMD_H

#include <stddef.h>

/* One instruction set's passes. `max` is the largest of n >= 1 numbers, none of them NaN; `size` the largest of
 * their magnitudes, NaN when one is NaN. `exp` replaces s by e^(s - shift) and returns the sum, for s <= shift; its
 * error is below 2 ULP (float) and 2 ULP (double), -inf gives exactly 0, NaN stays NaN. Sums run in a fixed number of
 * lanes, so they depend on the instruction set but on nothing else; a sum of floats errs like n / 32 additions: long
 * rows go by parts of SIMD_ROW.
 */
#define SIMD_ROW 512

struct simd {
    const char *name;
    float (*max_float32)(const float *s, size_t n);
    float (*size_float32)(const float *s, size_t n);
    float (*exp_float32)(float *s, size_t n, float shift);
    double (*max_float64)(const double *s, size_t n);
    double (*size_float64)(const double *s, size_t n);
    double (*exp_float64)(double *s, size_t n, double shift);
};

/* The best that this processor runs. */
const struct simd *simd_best(void);

/* Every variant that this processor runs, the best first; NULL past the last. */
const struct simd *simd_at(size_t index);

#endif
