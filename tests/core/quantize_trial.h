/* One side of a cache, quantised, for tests. */
#ifndef TESTS_CORE_QUANTIZE_TRIAL_H
#define TESTS_CORE_QUANTIZE_TRIAL_H

#include "core/cache/quantize.h"

/* One side of one head, rows of `width` numbers, and what became of it. */
struct quantize_trial {
    struct arena *arena;
    struct quantize_request request;
    struct tensor x;
    struct quantized q;
};

/* Begins with x [tokens][width], which stays the caller's; quantize_trial_run does the rest, or tells why not. */
void quantize_trial_start(struct quantize_trial *trial, enum quantize_method method, size_t bits, size_t tokens,
                          size_t width, double *x);
bool quantize_trial_try(struct quantize_trial *trial, struct error *err);
void quantize_trial_run(struct quantize_trial *trial);
void quantize_trial_end(struct quantize_trial *trial);

#endif
