/* The complex step. */
#include "tests/core/reference_step.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>

struct step {
    const struct attention *a;
    const struct attention_request *r;
    struct reference ref; /* for the rules of the mask */
    struct reference_move move;
};

static double complex moved(const struct step *s, enum gradient of, size_t at, double value)
{
    return s->move.of == of && s->move.at == at ? value + REFERENCE_STEP * I : value;
}

static double complex element(const struct step *s, enum gradient of, struct tensor t, size_t at)
{
    return moved(s, of, at, reference_element(t, at));
}

/* Adds ih where this step of the way is moved. */
static double complex shift(const struct step *s, enum gradient of, size_t at, double complex value)
{
    return s->move.of == of && s->move.at == at ? value + REFERENCE_STEP * I : value;
}

/* Where [b][heads][rows][width] stands in an input of form A. */
static size_t place(const struct step *s, size_t heads, size_t rows, size_t width, const size_t at[4])
{
    if (s->r->heads > 0)
        return ((at[0] * rows + at[2]) * heads + at[1]) * width + at[3];
    return ((at[0] * heads + at[1]) * rows + at[2]) * width + at[3];
}

struct projection {
    enum gradient x, w, b;
    struct tensor tx, tw, tb;
};

static double complex project(const struct step *s, const struct projection *p, size_t row, size_t column)
{
    size_t inner = p->tw.shape[0], outer = p->tw.shape[1];
    double complex sum = p->tb.data == NULL ? 0 : element(s, p->b, p->tb, column);
    for (size_t c = 0; c < inner; c++)
        sum += element(s, p->x, p->tx, row * inner + c) * element(s, p->w, p->tw, c * outer + column);
    return sum;
}

/* One new feature of input 0 q, 1 k, 2 v, before rotation; x counts the new rows. */
static double complex fresh(const struct step *s, size_t input, size_t b, size_t h, size_t x, size_t t)
{
    const struct attention_request *r = s->r;
    bool crossed = input > 0 && r->context.data != NULL;
    const struct projection p[3] = {{GRADIENT_X, GRADIENT_W_Q, GRADIENT_B_Q, r->x, r->w_q, r->b_q},
                                    {crossed ? GRADIENT_CONTEXT : GRADIENT_X, GRADIENT_W_K, GRADIENT_B_K,
                                     crossed ? r->context : r->x, r->w_k, r->b_k},
                                    {crossed ? GRADIENT_CONTEXT : GRADIENT_X, GRADIENT_W_V, GRADIENT_B_V,
                                     crossed ? r->context : r->x, r->w_v, r->b_v}};
    size_t heads = input == 0 ? s->a->heads : s->a->kv_heads, width = input == 2 ? s->a->d_v : s->a->d_k;
    size_t rows = input == 0 ? s->a->queries : s->a->keys - s->a->past;
    const struct tensor own[3] = {r->q, r->k, r->v};
    if (r->x.data != NULL)
        return project(s, &p[input], b * rows + x, h * width + t);
    const size_t at[4] = {b, h, x, t};
    return element(s, (enum gradient)(GRADIENT_Q + input), own[input], place(s, heads, rows, width, at));
}

static double position(struct integers list, size_t b, size_t x, size_t past)
{
    return list.values == NULL ? (double)(past + x)
                               : (double)list.values[list.rows > 0 ? b * (list.count / list.rows) + x : x];
}

/* Feature t of a rotated row. */
static double complex turned(const struct step *s, size_t input, size_t b, size_t h, size_t x, size_t t)
{
    const struct rope_request *rope = &s->r->rope;
    size_t r = rope->dims > 0 ? rope->dims : s->a->d_k;
    if (!rope->on || t >= r || input == 2)
        return fresh(s, input, b, h, x, t);
    size_t pair = rope->interleaved ? t / 2 : t % (r / 2);
    bool second = rope->interleaved ? t % 2 == 1 : t >= r / 2;
    size_t one = rope->interleaved ? 2 * pair : pair, two = rope->interleaved ? 2 * pair + 1 : pair + r / 2;
    double p = position(input == 0 ? rope->query_positions : rope->key_positions, b, x, s->a->past);
    double angle = p * pow(rope->theta, -2 * (double)pair / (double)r);
    double complex x1 = fresh(s, input, b, h, x, one), x2 = fresh(s, input, b, h, x, two);
    return second ? sin(angle) * x1 + cos(angle) * x2 : cos(angle) * x1 - sin(angle) * x2;
}

/* What enters the scores and the mix. */
static double complex entering(const struct step *s, size_t input, size_t b, size_t h, size_t x, size_t t)
{
    const struct attention *a = s->a;
    size_t heads = input == 0 ? a->heads : a->kv_heads, rows = input == 0 ? a->queries : a->keys;
    size_t width = input == 2 ? a->d_v : a->d_k;
    size_t at = ((b * heads + h) * rows + x) * width + t;
    double complex value;
    if (input > 0 && x < a->past) {
        struct tensor past = input == 1 ? s->r->past_k : s->r->past_v;
        value = element(s, input == 1 ? GRADIENT_PAST_K : GRADIENT_PAST_V, past,
                        ((b * heads + h) * a->past + x) * width + t);
    } else {
        value = turned(s, input, b, h, input == 0 ? x : x - a->past, t);
    }
    return shift(s, (enum gradient)(GRADIENT_INPUTS_Q + input), at, value);
}

struct cells {
    double complex *s; /* [m] */
    bool *sees;
    double complex *q, *k, *v; /* [H][n][d], [G][m][d], [G][m][e] of one batch */
};

static double complex bias_of(const struct step *s, size_t b, size_t h, size_t i, size_t j)
{
    const struct mask_request *mask = &s->r->mask;
    double value = reference_bias(&s->ref, b, h, i, j);
    const size_t at[4] = {b, h, i, j};
    size_t index = 0;
    double complex bias = value;
    for (size_t axis = 0; mask->bias.data != NULL && axis < mask->bias.rank; axis++)
        if (mask->bias.shape[axis] > 1)
            index += at[4 - mask->bias.rank + axis] * mask->bias.stride[axis];
    if (mask->bias.data != NULL)
        bias = shift(s, GRADIENT_BIAS, index, bias);
    if (mask->alibi && s->move.of == GRADIENT_ALIBI && s->move.at == h)
        bias -= REFERENCE_STEP * I * reference_distance(&s->ref, b, i, j);
    return bias;
}

/* From q . k to what enters the softmax; returns whether a key is visible. */
static bool fill_scores(const struct step *s, struct cells *c, size_t b, size_t h, size_t i)
{
    const struct attention *a = s->a;
    enum variant variant = s->r->variant;
    size_t g = h / (a->heads / a->kv_heads), row = ((b * a->heads + h) * a->queries + i) * a->keys;
    bool any = false;
    for (size_t j = 0; j < a->keys; j++) {
        double complex x = 0;
        for (size_t t = 0; t < a->d_k; t++)
            x += c->q[(h * a->queries + i) * a->d_k + t] * c->k[(g * a->keys + j) * a->d_k + t];
        x = shift(s, GRADIENT_SCORES, row + j, x);
        x = shift(s, GRADIENT_SCALED, row + j, moved(s, GRADIENT_SCALE, 0, s->ref.scale) * x);
        c->sees[j] = reference_sees(&s->ref, b, h, i, j);
        if (s->r->softcap > 0) {
            double complex cap = moved(s, GRADIENT_SOFTCAP, 0, s->r->softcap);
            x = shift(s, GRADIENT_CAPPED, row + j, cap * ctanh(x / cap));
        }
        if (reference_has_bias(s->r)) {
            double complex bias = bias_of(s, b, h, i, j);
            c->sees[j] = c->sees[j] && !isinf(creal(bias));
            x = isinf(creal(bias)) ? -INFINITY : shift(s, GRADIENT_BIASED, row + j, x + bias);
        }
        if (variant == VARIANT_MASK_WITH_ZERO && !c->sees[j])
            x = 0;
        if (variant == VARIANT_SOFTMAX && !c->sees[j])
            x = -INFINITY;
        c->s[j] = isinf(creal(x)) ? -INFINITY : shift(s, GRADIENT_MASKED, row + j, x);
        any = any || c->sees[j];
    }
    return any;
}

static void fill_weights(const struct step *s, struct cells *c, bool any, size_t h)
{
    const struct attention *a = s->a;
    const double *sinks = s->r->sinks.values;
    double complex sink = sinks == NULL ? 0 : moved(s, GRADIENT_SINKS, h, sinks[h]), sum = 0;
    double max = sinks == NULL ? -INFINITY : creal(sink);
    for (size_t j = 0; j < a->keys; j++)
        max = fmax(max, creal(c->s[j]));
    for (size_t j = 0; j < a->keys; j++)
        sum += c->s[j] = isinf(creal(c->s[j])) ? 0 : cexp(c->s[j] - max);
    if (sinks != NULL)
        sum += cexp(sink - max);
    for (size_t j = 0; j < a->keys; j++)
        c->s[j] = creal(sum) > 0 ? c->s[j] / sum : 0;
    for (size_t j = 0; j < a->keys; j++)
        if (!any || (s->r->variant == VARIANT_MASK_AFTER_SOFTMAX && !c->sees[j]))
            c->s[j] = 0;
}

/* The weights by which values are mixed; hidden ones do not move but where every key is mixed. */
static void fill_mix(const struct step *s, struct cells *c, bool any, size_t b, size_t h, size_t i)
{
    const struct attention_request *r = s->r;
    size_t row = ((b * s->a->heads + h) * s->a->queries + i) * s->a->keys;
    for (size_t j = 0; j < s->a->keys; j++) {
        bool moves = r->variant == VARIANT_LINEAR || (r->variant == VARIANT_MASK_WITH_ZERO ? any : any && c->sees[j]);
        if (moves)
            c->s[j] = shift(s, GRADIENT_WEIGHTS, row + j, c->s[j]);
        if (r->has_dropout)
            c->s[j] = reference_dropout(r->dropout_seed, row + j) < r->dropout_p ? 0 : c->s[j] / (1 - r->dropout_p);
        if (moves)
            c->s[j] = shift(s, GRADIENT_DROPPED, row + j, c->s[j]);
    }
}

static void fill_inputs(const struct step *s, struct cells *c, size_t b)
{
    const struct attention *a = s->a;
    double complex *const into[3] = {c->q, c->k, c->v};
    for (size_t input = 0; input < 3; input++) {
        size_t heads = input == 0 ? a->heads : a->kv_heads, rows = input == 0 ? a->queries : a->keys;
        size_t width = input == 2 ? a->d_v : a->d_k;
        for (size_t at = 0; at < heads * rows * width; at++)
            into[input][at] = entering(s, input, b, at / width / rows, at / width % rows, at % width);
    }
}

/* Adds upstream . output of one row of one head, whose numbers go through w_o when there is one. */
static double complex row_loss(const struct step *s, const struct cells *c, const double *upstream, size_t b, size_t h,
                               size_t i)
{
    const struct attention *a = s->a;
    const struct tensor w = s->r->w_o;
    double complex loss = 0;
    size_t g = h / (a->heads / a->kv_heads);
    for (size_t t = 0; t < a->d_v; t++) {
        double complex y = 0;
        for (size_t j = 0; j < a->keys; j++)
            if (creal(c->s[j]) != 0 || cimag(c->s[j]) != 0)
                y += c->s[j] * c->v[(g * a->keys + j) * a->d_v + t];
        size_t packed = ((b * a->queries + i) * a->heads + h) * a->d_v + t;
        size_t split = ((b * a->heads + h) * a->queries + i) * a->d_v + t;
        if (w.data == NULL)
            loss += upstream[a->packed ? packed : split] * y;
        for (size_t o = 0; w.data != NULL && o < w.shape[1]; o++)
            loss += upstream[(b * a->queries + i) * w.shape[1] + o] * y *
                    element(s, GRADIENT_W_O, w, (h * a->d_v + t) * w.shape[1] + o);
    }
    return loss;
}

static double complex bias_loss(const struct step *s, const double *upstream)
{
    const struct tensor b = s->r->b_o;
    double complex loss = 0;
    for (size_t row = 0; b.data != NULL && row < s->a->batch * s->a->queries; row++)
        for (size_t o = 0; o < b.shape[0]; o++)
            loss += upstream[row * b.shape[0] + o] * element(s, GRADIENT_B_O, b, o);
    return loss;
}

static double complex batch_loss(const struct step *s, struct cells *c, const double *upstream, size_t b)
{
    double complex loss = 0;
    fill_inputs(s, c, b);
    for (size_t h = 0; h < s->a->heads; h++)
        for (size_t i = 0; i < s->a->queries; i++) {
            bool any = fill_scores(s, c, b, h, i);
            if (s->r->variant != VARIANT_LINEAR)
                fill_weights(s, c, any, h);
            fill_mix(s, c, any, b, h, i);
            loss += row_loss(s, c, upstream, b, h, i);
        }
    return loss;
}

static void *allocate(size_t count, size_t size)
{
    void *block = calloc(count, size);
    if (block == NULL)
        abort();
    return block;
}

double reference_derivative(const struct attention *a, const double *upstream, struct reference_move move)
{
    struct step s = {.a = a, .r = a->request, .move = move};
    s.ref = (struct reference){.request = a->request,
                               .batch = a->batch,
                               .heads = a->heads,
                               .kv_heads = a->kv_heads,
                               .queries = a->queries,
                               .keys = a->keys,
                               .past = a->past,
                               .d_k = a->d_k,
                               .d_v = a->d_v};
    s.ref.scale = a->request->has_scale ? a->request->scale : 1 / sqrt((double)a->d_k);
    struct cells c = {.s = allocate(a->keys, sizeof *c.s), .sees = allocate(a->keys, sizeof *c.sees)};
    c.q = allocate(a->heads * a->queries * a->d_k, sizeof *c.q);
    c.k = allocate(a->kv_heads * a->keys * a->d_k, sizeof *c.k);
    c.v = allocate(a->kv_heads * a->keys * a->d_v, sizeof *c.v);
    double complex loss = bias_loss(&s, upstream);
    for (size_t b = 0; b < a->batch; b++)
        loss += batch_loss(&s, &c, upstream, b);
    void *const blocks[] = {c.s, c.sees, c.q, c.k, c.v};
    for (size_t x = 0; x < sizeof blocks / sizeof *blocks; x++)
        free(blocks[x]);
    return cimag(loss) / REFERENCE_STEP;
}
