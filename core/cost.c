/* Counting. */
#include "core/cost.h"

const char *cost_step_name(enum cost_step step)
{
    static const char *const names[COST_STEP_COUNT] = {
#define COST_NAME(id, name) name,
        COST_STEPS(COST_NAME)
#undef COST_NAME
    };
    return names[step];
}

struct cost_layout cost_own(const struct attention *a)
{
    return (struct cost_layout){.kv_heads = a->kv_heads};
}

struct cost_layout cost_multi_head(const struct attention *a)
{
    return (struct cost_layout){.kv_heads = a->heads};
}

struct cost_layout cost_multi_query(void)
{
    return (struct cost_layout){.kv_heads = 1};
}

struct cost_layout cost_grouped_query(const struct attention *a)
{
    size_t below = 1;
    if (a->kv_heads > 1 && a->kv_heads < a->heads)
        return (struct cost_layout){.kv_heads = a->kv_heads};
    for (size_t g = 1; g <= a->heads / g; g++)
        if (a->heads % g == 0)
            below = g;
    return (struct cost_layout){.kv_heads = below};
}

struct cost_layout cost_latent(const struct attention *a)
{
    return (struct cost_layout){.kv_heads = 1, .latent = COST_LATENT_PER_WIDTH * a->d_k, .rotary = (a->d_k + 1) / 2};
}

static double numbers_of(struct tensor w)
{
    return w.data ? (double)tensor_count(w) : 0;
}

/* What a layout changes in the projections of keys and values is their number of heads. */
static void count_projections(const struct attention *a, struct cost_layout l, struct cost *c)
{
    const struct attention_request *r = a->request;
    double rows = (double)a->batch * (double)a->queries;
    double new_rows = (double)a->batch * (double)(a->keys - a->past);
    double per_head = (numbers_of(r->w_k) + numbers_of(r->w_v)) / (double)a->kv_heads; /* columns are whole heads */
    if (r->x.data)
        c->flops[COST_PROJECTIONS] = 2 * rows * numbers_of(r->w_q) + 2 * new_rows * (double)l.kv_heads * per_head;
    c->flops[COST_OUTPUT_PROJECTION] = 2 * rows * numbers_of(r->w_o);
    if (r->rope.on) {
        double turned = (double)(r->rope.dims ? r->rope.dims : a->d_k);
        c->flops[COST_ROPE] = 3 * turned * (rows * (double)a->heads + new_rows * (double)l.kv_heads);
    }
}

static void count_linear(const struct attention *a, struct cost *c)
{
    double heads = (double)a->batch * (double)a->heads;
    double d = (double)a->d_k;
    double e = (double)a->d_v;
    c->flops[COST_SCALED] = heads * (double)a->queries * e;
    c->flops[COST_OUTPUT] = heads * 2 * d * e * ((double)a->keys + (double)a->queries);
}

static void count_softmax(const struct attention *a, struct cost_layout l, struct cost *c)
{
    const struct attention_request *r = a->request;
    double pairs = c->scores;
    bool biased = r->mask.bias.data || r->mask.alibi;
    c->flops[COST_SCORES] = 2 * pairs * (double)(l.latent ? l.latent + l.rotary : a->d_k);
    c->flops[COST_SCALED] = pairs;
    c->flops[COST_CAPPED] = r->softcap > 0 ? 3 * pairs : 0;
    c->flops[COST_BIASED] = biased ? pairs * ((r->mask.bias.data ? 1 : 0) + (r->mask.alibi ? 3 : 0)) : 0;
    for (enum cost_step s = COST_ROW_MAX; s <= COST_WEIGHTS; s++)
        c->flops[s] = pairs;
    c->flops[COST_DROPPED] = r->has_dropout ? pairs : 0;
    c->flops[COST_OUTPUT] = 2 * pairs * (double)(l.latent ? l.latent : a->d_v);
}

struct cost cost_count(const struct attention *a, struct cost_layout l)
{
    struct cost c = {0};
    if (a->request->variant != VARIANT_LINEAR)
        c.scores = (double)a->batch * (double)a->heads * (double)a->queries * (double)a->keys;
    c.cache_per_token =
        l.latent ? (double)(l.latent + l.rotary) : (double)l.kv_heads * ((double)a->d_k + (double)a->d_v);
    c.cache = c.cache_per_token * (double)a->batch * (double)a->keys;
    count_projections(a, l, &c);
    if (a->request->variant == VARIANT_LINEAR)
        count_linear(a, &c);
    else
        count_softmax(a, l, &c);
    for (size_t s = 0; s < COST_STEP_COUNT; s++)
        c.total += c.flops[s];
    return c;
}
