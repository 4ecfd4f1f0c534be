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

/* Rows `stride` numbers apart. */
struct simd_rows {
    const float *at;
    size_t stride;
};

#define SIMD_PRODUCT_ROWS 12 /* rows of `score` and `mix` at a time, at most */

/* The two products of a tile in float32. They keep their sums in registers and take queries and values as they lie;
 * OpenBLAS packs both sides anew for each product. A row has the same bits whichever rows are beside it. */
struct simd_product {
    size_t lanes; /* d of `mix` is a multiple of it */
    size_t panel; /* `score` begins at a multiple of so many keys */
    /* The keys, for `score`: as many numbers as `keys`, rounded up to panels, times d. Those from key j on, a multiple
     * of `panel`, begin at packed + j d. */
    void (*pack)(struct simd_rows k, size_t keys, size_t d, float *packed);
    /* s[rows][keys] = scale q k^T */
    void (*score)(size_t rows, struct simd_rows q, const float *packed, size_t keys, size_t d, float scale, float *s);
    /* sums[rows][d] += w[rows][keys] v */
    void (*mix)(size_t rows, const float *w, struct simd_rows v, size_t keys, size_t d, float *sums);
};

struct simd {
    const char *name;
    float (*max_float32)(const float *s, size_t n);
    float (*size_float32)(const float *s, size_t n);
    float (*exp_float32)(float *s, size_t n, float shift);
    double (*max_float64)(const double *s, size_t n);
    double (*size_float64)(const double *s, size_t n);
    double (*exp_float64)(double *s, size_t n, double shift);
    const struct simd_product *product; /* NULL: OpenBLAS's are as good */
};

/* The best that this processor runs. */
const struct simd *simd_best(void);

/* Every variant that this processor runs, the best first; NULL past the last. */
const struct simd *simd_at(size_t index);

#endif
