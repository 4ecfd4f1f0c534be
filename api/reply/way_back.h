/* The way back of a request: from what `backward` says to gradients, loss and updated numbers. */
#ifndef API_REPLY_WAY_BACK_H
#define API_REPLY_WAY_BACK_H

#include "api/reply/section.h"
#include "core/backward/backward.h"
#include "core/tensor/arena.h"

struct way_back {
    struct backward core;
    struct backward_results results;
    void *by_output; /* dL/d output as returned */
    void *row_dot;   /* of the dtype, where it is shown */
    double loss;
    double *row_loss; /* [b], or with readout.rows "all" [b][n]; NaN where a row does not count */
    size_t losses;
    void *updated[GRADIENT_COUNT]; /* value - rate * gradient, where there is a step */
};

/* What the way back takes: floating-point operations, and numbers that stay in memory. */
double way_back_flops(const struct attention *a);
double way_back_numbers(const struct attention *a, const struct section_list *sections);

/* Makes room for what these sections need besides; before way_back_run. */
bool way_back_want(struct way_back *way, const struct attention *a, const struct section_list *sections,
                   struct arena *arena, struct error *err);

/* Computes what the sections and the step need; `output` is the result as returned, `mixed` before w_o, log_sums those
 * of attention_run. Every row that will be shown has been judged. */
bool way_back_run(struct way_back *way, const struct options *options, const struct attention *a,
                  const struct section_list *sections, const void *output, const void *mixed, const double *log_sums,
                  struct pool *pool, const atomic_bool *cancel, struct arena *arena, struct error *err);

/* Where the numbers of a section of gradients or updated numbers are, or NULL: they are made row by row. */
void *way_back_data(const struct way_back *way, const struct result *result);

/* One number: softcap, scale. */
double way_back_number(const struct way_back *way, enum gradient gradient);

#endif
