/* The loss of a readout: how surprised it is by the word that should come. With logits z = output row . w and
 * p = softmax(z / T), L = mean over the counting rows of -ln p(target); d z = (p - 1 at the target) / (T rows that
 * count), d w = rows^T d z, d row = d z w^T. */
#ifndef CORE_BACKWARD_LOSS_H
#define CORE_BACKWARD_LOSS_H

#include "core/attention.h"

#define LOSS_NO_TARGET ((size_t)-1)

/* The rows that are scored: the last of each batch, or all: [b][n]. */
struct loss_rows {
    bool all;
    const size_t *target; /* per row: its word, or LOSS_NO_TARGET: it does not count */
    size_t count;         /* of rows */
    double temperature;
};

/* Fills row_loss [count] (NaN where a row does not count), *loss, by_output (dL/d output as returned, dense, zeroed
 * before) and by_w, where it is wanted. `output` is as returned, without an axis of heads. ERROR_INVALID when a logit
 * overflows. */
bool loss_run(const struct attention *a, const struct loss_rows *rows, const void *output, double *row_loss,
              double *loss, void *by_output, void *by_w, struct arena *arena, const atomic_bool *cancel,
              struct error *err);

#endif
