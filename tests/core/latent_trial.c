/* Drawing and running it. */
#include "tests/core/latent_trial.h"

#include <check.h>

struct tensor latent_trial_tensor(struct latent_trial *run, struct draw *draw, size_t rank, const size_t *shape)
{
    struct tensor t = tensor_dense(DTYPE_FLOAT64, rank, shape, NULL);
    t.data = arena_alloc(run->arena, tensor_count(t) * sizeof(double), NULL);
    for (size_t x = 0; x < tensor_count(t); x++)
        ((double *)t.data)[x] = draw_real(draw);
    return t;
}

struct tensor latent_trial_matrix(struct latent_trial *run, struct draw *draw, size_t rows, size_t columns)
{
    return latent_trial_tensor(run, draw, 2, (const size_t[]){rows, columns});
}

struct tensor latent_trial_rows(struct latent_trial *run, struct draw *draw, size_t rows, size_t columns)
{
    const size_t shape[] = {run->z.batch, rows, columns};
    return latent_trial_tensor(run, draw, 3, shape);
}

void latent_trial_start(struct latent_trial *run, struct latent_sizes z, struct draw *draw)
{
    struct attention_request *r = &run->request;
    struct latent_request *l = &r->latent;
    *run = (struct latent_trial){.z = z, .arena = arena_new((size_t)1 << 26)};
    *r = (struct attention_request){.dtype = DTYPE_FLOAT64, .heads = z.heads};
    r->x = latent_trial_rows(run, draw, z.queries, z.d_model);
    if (z.keys != z.queries)
        r->context = latent_trial_rows(run, draw, z.keys, z.d_model);
    if (z.past > 0) {
        r->past_latent = latent_trial_rows(run, draw, z.past, z.d_c);
        r->past_rope_key = latent_trial_rows(run, draw, z.past, z.d_r);
    }
    l->on = true;
    l->w_dkv = latent_trial_matrix(run, draw, z.d_model, z.d_c);
    l->w_kr = latent_trial_matrix(run, draw, z.d_model, z.d_r);
    l->w_uk = latent_trial_matrix(run, draw, z.d_c, z.heads * z.d_n);
    l->w_uv = latent_trial_matrix(run, draw, z.d_c, z.heads * z.e);
    if (z.d_cq > 0) {
        l->w_dq = latent_trial_matrix(run, draw, z.d_model, z.d_cq);
        l->w_uq = latent_trial_matrix(run, draw, z.d_cq, z.heads * (z.d_n + z.d_r));
    } else {
        l->w_q = latent_trial_matrix(run, draw, z.d_model, z.heads * (z.d_n + z.d_r));
    }
}

bool latent_trial_try(struct latent_trial *run, struct pool *pool, struct error *err)
{
    struct attention_results results = {.of = {0}};
    if (!attention_check(&run->a, &run->request, err) || !attention_prepare(&run->a, run->arena, pool, err))
        return false;
    run->output = arena_calloc(run->arena, attention_count(&run->a, QUANTITY_OUTPUT), sizeof(double), err);
    run->weights = arena_calloc(run->arena, attention_count(&run->a, QUANTITY_WEIGHTS), sizeof(double), err);
    results.of[QUANTITY_OUTPUT] = run->output;
    results.of[QUANTITY_WEIGHTS] = run->weights;
    return attention_run(&run->a, &results, pool, NULL, run->arena, err);
}

void latent_trial_run(struct latent_trial *run, bool absorbed, struct pool *pool)
{
    struct error err = {0};
    run->request.latent.absorbed = absorbed;
    ck_assert_msg(latent_trial_try(run, pool, &err), "%s: %s", err.faults[0].name, err.faults[0].text);
}

void latent_trial_end(struct latent_trial *run)
{
    arena_free(run->arena);
}
