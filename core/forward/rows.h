/* The pipeline on one block of query rows of one head: scores to output, every step an in-place pass over the block. */
#ifndef CORE_FORWARD_ROWS_H
#define CORE_FORWARD_ROWS_H

#include "core/attention.h"

/* What is known of a row; of several findings the last in this order, the earliest step, stays. */
enum row_state {
    ROW_GOOD,
    ROW_UNSURE,          /* its sums may overflow unless they are divided first (fused.h) */
    ROW_OUTPUT_OVERFLOW, /* a number of the output, or a term of it, is not finite */
    ROW_BIASED_OVERFLOW, /* a visible number of the step is not finite */
    ROW_SCALED_OVERFLOW,
    ROW_SCORES_OVERFLOW,
    ROW_EMPTY, /* no visible key */
};

/* of[x] points at the block's first row of quantity x, rows one after another, or NULL; OUTPUT's rows are output_stride
 * numbers apart. state (or NULL) gets one row_state per row. */
struct rows {
    const struct attention *a;
    struct attention_rows at;
    void *of[QUANTITY_COUNT];
    size_t output_stride;
    double *log_sums; /* of the block's rows; or NULL */
    unsigned char *state;
    struct precision_tally *tally; /* with emulated precision: where roundings are counted; or NULL */
};

/* size, rounded up to a multiple of ARENA_ALIGNMENT. */
size_t rows_align(size_t size);

/* Bytes of scratch that rows_run needs. */
size_t rows_scratch(const struct attention *a);

void rows_run(const struct rows *rows, void *scratch);
void rows_run_float64(const struct rows *rows, void *scratch); /* rows_run of one type */
void rows_run_float32(const struct rows *rows, void *scratch);

#define ROWS_SMALL_TERMS 16384 /* n m (d_k + d_v) of a small head, at most */

/* Small heads are summed by plain loops in the order of features and of keys, as doubles: no call into BLAS pays there,
 * and in float64 the terms of a row add up to its output to the last bit (float32 rounds the terms that it shows, not
 * those that it adds). A matter of sizes alone. */
bool rows_are_small(const struct attention *a);

/* The uniform number in [0, 1) that decides on the weight `index` = ((b H + h) n + i) m + j: splitmix64 of the seed.
 * Dropped when below p. */
double rows_dropout_uniform(int64_t seed, uint64_t index);

#endif
