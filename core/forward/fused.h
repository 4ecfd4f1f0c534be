/* Attention without its matrix: tiles of queries x keys with a running maximum and sum (Milakov and Gimelshein 2018;
 * Dao et al. 2022), so that memory is O(n d). Serves the output and log_sum_exp of everything but small heads, the two
 * variants without an ordinary softmax, and sums that may overflow. */
#ifndef CORE_FORWARD_FUSED_H
#define CORE_FORWARD_FUSED_H

#include "core/forward/rows.h"
#include "core/simd/simd.h"

#define FUSED_ROWS_FLOAT32 256
#define FUSED_ROWS_FLOAT64 128
#define FUSED_KEYS 512
#define FUSED_SPLITS_MAX 16

/* True for requests whose output comes from here: a matter of the request alone, never of what else is wanted. */
bool fused_serves(const struct attention *a);

/* A task: some rows of one head and some of its keys. Few rows and many keys: the keys are split, and the parts are
 * merged in order. All of it follows from the shape, not from the number of workers. */
struct fused_task {
    struct attention_rows at;
    size_t from, to; /* keys */
    size_t split;    /* which part of the keys */
};
size_t fused_splits(const struct attention *a);
size_t fused_tasks(const struct attention *a);
struct fused_task fused_task(const struct attention *a, size_t index);

/* What a task leaves of each of its rows: the running maximum, the sum of e^(s - max) and the sums of e^(s - max) v. */
struct fused_part {
    void *sums;        /* [count][d_v] of the dtype */
    double *max, *sum; /* [count]; max is -inf where no key was visible */
};

/* The products of lanes where they serve such a request, which depends on its shape alone; NULL: OpenBLAS's. */
const struct simd_product *fused_product(const struct attention *a, const struct simd *lanes);

/* Bytes of scratch that fused_run needs. */
size_t fused_scratch(const struct attention *a);

/* state[i] becomes ROW_UNSURE where the sums may overflow though their mean does not, and tells what overflows before.
 * Stops between tiles when *cancel (or NULL) is true. */
void fused_run_float64(const struct attention *a, const struct simd *lanes, struct fused_task task,
                       struct fused_part part, void *scratch, unsigned char *state, const atomic_bool *cancel);
void fused_run_float32(const struct attention *a, const struct simd *lanes, struct fused_task task,
                       struct fused_part part, void *scratch, unsigned char *state, const atomic_bool *cancel);

/* From the `splits` parts of the same rows (parts[0] is used up) to rows->of[OUTPUT] and [LOG_SUM_EXP], and their
 * states. */
void fused_finish_float64(const struct rows *rows, struct fused_part *parts, size_t splits);
void fused_finish_float32(const struct rows *rows, struct fused_part *parts, size_t splits);

#endif
