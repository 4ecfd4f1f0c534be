/* Counting. */
#include "core/cost.h"

#include <math.h>

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
    if (!a->request->latent.on)
        return (struct cost_layout){.kv_heads = a->kv_heads, .formula = "kv_heads (d_k + d_v)"};
    struct cost_layout latent = cost_latent(a);
    latent.expanded = !a->request->latent.absorbed;
    return latent;
}

struct cost_layout cost_multi_head(const struct attention *a)
{
    return (struct cost_layout){.kv_heads = a->heads, .formula = "heads (d_k + d_v)"};
}

struct cost_layout cost_multi_query(void)
{
    return (struct cost_layout){.kv_heads = 1, .formula = "d_k + d_v"};
}

struct cost_layout cost_single_head(void)
{
    return (struct cost_layout){.kv_heads = 1, .single = true, .formula = "heads (d_k + d_v)"};
}

struct cost_layout cost_grouped_query(const struct attention *a)
{
    size_t groups = 1;
    for (size_t g = 1; g <= a->heads / g; g++)
        if (a->heads % g == 0)
            groups = g;
    if (a->kv_heads > 1 && a->kv_heads < a->heads)
        groups = a->kv_heads;
    return (struct cost_layout){.kv_heads = groups, .formula = "kv_heads (d_k + d_v)"};
}

struct cost_layout cost_latent(const struct attention *a)
{
    struct cost_layout l = {.kv_heads = 1, .latent = COST_LATENT_PER_WIDTH * a->d_k, .rotary = (a->d_k + 1) / 2};
    l.formula = "d_c + d_r, d_c = 4 d_k, d_r = d_k / 2 rounded up";
    if (!a->request->latent.on)
        return l;
    return (struct cost_layout){
        .kv_heads = 1, .latent = a->latent.d_c, .rotary = a->latent.d_r, .formula = "d_c + d_r"};
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
    double kv_heads = (double)(l.single ? a->heads : l.kv_heads);
    double per_head = (numbers_of(r->w_k) + numbers_of(r->w_v)) / (double)a->kv_heads; /* columns are whole heads */
    if (r->latent.on)
        c->flops[COST_PROJECTIONS] = l.latent ? latent_flops(a) : 0;
    else if (r->x.data)
        c->flops[COST_PROJECTIONS] = 2 * rows * numbers_of(r->w_q) + 2 * new_rows * kv_heads * per_head;
    c->flops[COST_OUTPUT_PROJECTION] = 2 * rows * numbers_of(r->w_o);
    if (r->rope.on) {
        double turned = (double)(r->rope.dims ? r->rope.dims : a->d_k);
        c->flops[COST_ROPE] = 3 * turned * (rows * (double)a->heads + new_rows * kv_heads);
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
    bool of_heads = !l.latent || l.expanded;
    double wide = l.single ? (double)a->heads : 1;
    c->flops[COST_SCORES] = 2 * pairs * wide * (double)(of_heads ? a->d_k : l.latent + l.rotary);
    c->flops[COST_SCALED] = pairs;
    c->flops[COST_CAPPED] = r->softcap > 0 ? 3 * pairs : 0;
    c->flops[COST_BIASED] = biased ? pairs * ((r->mask.bias.data ? 1 : 0) + (r->mask.alibi ? 3 : 0)) : 0;
    for (enum cost_step s = COST_ROW_MAX; s <= COST_WEIGHTS; s++)
        c->flops[s] = pairs;
    c->flops[COST_DROPPED] = r->has_dropout ? pairs : 0;
    c->flops[COST_OUTPUT] = 2 * pairs * wide * (double)(of_heads ? a->d_v : l.latent);
}

struct cost cost_count(const struct attention *a, struct cost_layout l)
{
    struct cost c = {0};
    if (a->request->variant != VARIANT_LINEAR)
        c.scores = (double)a->batch * (double)(l.single ? 1 : a->heads) * (double)a->queries * (double)a->keys;
    double cached = (double)(l.single ? a->heads : l.kv_heads);
    c.cache_per_token = l.latent ? (double)(l.latent + l.rotary) : cached * ((double)a->d_k + (double)a->d_v);
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

struct cost_cache cost_plan_cache(const struct attention *a, struct cost cost, const struct cost_plan *plan)
{
    double layers = plan->layers ? (double)plan->layers : 1;
    double context = plan->context ? (double)plan->context : (double)a->keys;
    double sequences = plan->sequences ? (double)plan->sequences : 1;
    double per_number = plan->bytes_per_number > 0 ? plan->bytes_per_number : 2;
    struct cost_cache c = {.bytes_per_token = cost.cache_per_token * layers * per_number};
    c.bytes = c.bytes_per_token * context * sequences;
    c.sequences_that_fit = floor(plan->memory_bytes / (c.bytes_per_token * context));
    return c;
}
