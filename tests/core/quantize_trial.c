/* A side, from its request to its codes. */
#include "tests/core/quantize_trial.h"

#include <check.h>
#include <string.h>

void quantize_trial_start(struct quantize_trial *c, enum quantize_method method, size_t bits, size_t tokens,
                          size_t width, double *x)
{
    const size_t shape[4] = {1, 1, tokens, width};
    memset(c, 0, sizeof *c);
    c->arena = arena_new((size_t)1 << 28);
    c->request.k = (struct quantize_side){.on = true, .method = method, .bits = bits};
    c->x = tensor_dense(DTYPE_FLOAT64, 4, shape, x);
}

bool quantize_trial_try(struct quantize_trial *c, struct error *err)
{
    const size_t *shape = c->x.shape;
    const struct quantize_side *side = &c->request.k;
    if (!quantize_check(&c->request, side, "quantize.k", shape[2], shape[3], err))
        return false;
    c->q = quantize_plan(&c->request, side, c->x.dtype, shape[0], shape[1], shape[2], shape[3], false);
    return quantize_run(&c->q, c->x, "quantize.k", c->arena, NULL, err);
}

void quantize_trial_run(struct quantize_trial *c)
{
    struct error err = {0};
    ck_assert_msg(quantize_trial_try(c, &err), "%s: %s", err.faults[0].name, err.faults[0].text);
}

void quantize_trial_end(struct quantize_trial *c)
{
    arena_free(c->arena);
}
