/* A random request for latent attention, run, for tests. */
#ifndef TESTS_CORE_LATENT_TRIAL_H
#define TESTS_CORE_LATENT_TRIAL_H

#include "core/attention.h"
#include "tests/core/draw.h"

struct latent_sizes {
    size_t batch, heads, queries, keys, past, d_model, d_c, d_cq, d_n, d_r, e; /* keys: new ones; d_cq 0: w_q */
};

struct latent_trial {
    struct latent_sizes z;
    struct attention_request request;
    struct arena *arena;
    struct attention a;
    double *output, *weights;
};

/* Tensors of random numbers: of any shape, [rows][columns], [batch][rows][columns]. */
struct tensor latent_trial_tensor(struct latent_trial *run, struct draw *draw, size_t rank, const size_t *shape);
struct tensor latent_trial_matrix(struct latent_trial *run, struct draw *draw, size_t rows, size_t columns);
struct tensor latent_trial_rows(struct latent_trial *run, struct draw *draw, size_t rows, size_t columns);

/* A request of these sizes, with batch and heads as axes; what becomes of it; the end. */
void latent_trial_start(struct latent_trial *run, struct latent_sizes z, struct draw *draw);
bool latent_trial_try(struct latent_trial *run, struct pool *pool, struct error *err);
void latent_trial_run(struct latent_trial *run, bool absorbed, struct pool *pool);
void latent_trial_end(struct latent_trial *run);

#endif
