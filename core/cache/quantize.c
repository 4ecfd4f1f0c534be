/* Encoding, token by token. */
#include "core/cache/quantize.h"

#include "core/tensor/format.h"
#include "core/workspace.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ORTHOGONAL 1e-6
#define FLOAT8_CODES 256

/* What all heads of a side share. */
struct coder {
    struct quantized *q;
    double *largest; /* [b][g]: of what the codes of a head stand for */
    struct workspace scratch;
};

/* One token on its way: as it is, turned, rounded, and room for a residual. */
struct token {
    double *x, *y, *rounded, *residual;
};

/* The extremes of the numbers that share a scale, then the scale and the zero. */
struct shared {
    double least, most, scale, zero;
};

/* One head of the side. */
struct head {
    const struct coder *coder;
    size_t b, g;
    struct token token;
    struct shared *shared; /* one per scale */
    void *decoded;         /* a token of the dtype */
};

/* --- numbers of a dtype --- */

static void store(struct tensor t, size_t at, double value)
{
    if (t.dtype == DTYPE_FLOAT64)
        ((double *)t.data)[at] = value;
    else if (t.dtype == DTYPE_FLOAT32)
        ((float *)t.data)[at] = (float)value;
    else
        ((int16_t *)t.data)[at] = (int16_t)value;
}

/* --- given up? --- */

static bool is_cancelled(const struct quantized *q)
{
    return q->cancel && atomic_load_explicit(q->cancel, memory_order_relaxed);
}

/* --- one token --- */

/* Numbers of the side before this head's, in tensors with `per_head` of them. */
static size_t before(const struct head *h, size_t per_head)
{
    return (h->b * h->coder->q->heads + h->g) * per_head;
}

/* The token, turned: y = R x. */
static void read_token(const struct head *h, size_t j)
{
    const struct quantized *q = h->coder->q;
    const void *x = tensor_row(q->key.exact, h->b, h->g, q->first + j);
    for (size_t t = 0; t < q->width; t++)
        h->token.x[t] = dtype_get(q->key.exact.dtype, x, t);
    if (q->key.rotation.width)
        rotation_apply(&q->key.rotation, h->token.x, h->token.y);
    else
        memcpy(h->token.y, h->token.x, q->width * sizeof *h->token.y);
}

static void write_code(const struct head *h, size_t j, size_t t, double code)
{
    const struct quantized *q = h->coder->q;
    store(q->codes, before(h, q->count * q->width) + j * q->width + t, code);
}

/* --- affine, symmetric, float8: numbers that share a scale --- */

static size_t scales_per_head(const struct quantized *q)
{
    return q->scale.rank == 4 ? q->scale.shape[2] * q->scale.shape[3] : 1;
}

static struct shared *shared_by(const struct head *h, size_t j, size_t t)
{
    const struct quantized *q = h->coder->q;
    switch (q->axis) {
    case QUANTIZE_CHANNEL:
        return &h->shared[j / q->group * q->width + t];
    case QUANTIZE_TOKEN:
        return &h->shared[j * (q->width / q->group) + t / q->group];
    case QUANTIZE_TENSOR:
        break;
    }
    return h->shared;
}

static void widen(struct shared *s, double y)
{
    s->least = y < s->least ? y : s->least;
    s->most = y > s->most ? y : s->most;
}

static double largest_code(const struct quantize_side *side)
{
    return ldexp(1, (int)side->bits - (side->method == QUANTIZE_SYMMETRIC)) - 1;
}

static enum format format_of(const struct quantize_side *side)
{
    return side->method == QUANTIZE_FLOAT8_E4M3 ? FORMAT_FLOAT8_E4M3 : FORMAT_FLOAT8_E5M2;
}

static void find_scale(const struct quantize_side *side, struct shared *s)
{
    double size = fmax(fabs(s->least), fabs(s->most));
    switch (side->method) {
    case QUANTIZE_AFFINE:
        s->scale = (s->most - s->least) / largest_code(side);
        s->zero = s->least;
        break;
    case QUANTIZE_SYMMETRIC:
        s->scale = size / largest_code(side);
        break;
    default:
        s->scale = size / format_largest(format_of(side));
    }
}

static double encode(const struct quantize_side *side, const struct shared *s, double y)
{
    double steps = s->scale > 0 ? (y - s->zero) / s->scale : 0;
    double most = largest_code(side);
    if (side->method == QUANTIZE_FLOAT8_E4M3 || side->method == QUANTIZE_FLOAT8_E5M2)
        return format_code(format_of(side), format_round(format_of(side), steps));
    return fmin(fmax(nearbyint(steps), side->method == QUANTIZE_SYMMETRIC ? -most : 0), most);
}

static void write_scales(const struct head *h)
{
    const struct quantized *q = h->coder->q;
    size_t count = scales_per_head(q);
    for (size_t x = 0; x < count; x++) {
        find_scale(q->side, &h->shared[x]);
        q->key.scale[before(h, count) + x] = h->shared[x].scale;
        if (q->zero.rank)
            q->key.zero[before(h, count) + x] = h->shared[x].zero;
    }
}

static void run_scales(const struct head *h)
{
    const struct quantized *q = h->coder->q;
    for (size_t x = 0; x < scales_per_head(q); x++)
        h->shared[x] = (struct shared){.least = HUGE_VAL, .most = -HUGE_VAL};
    for (size_t j = 0; j < q->count && !is_cancelled(q); j++) {
        read_token(h, j);
        for (size_t t = 0; t < q->width; t++)
            widen(shared_by(h, j, t), h->token.y[t]);
    }
    write_scales(h);
    for (size_t j = 0; j < q->count && !is_cancelled(q); j++) {
        read_token(h, j);
        for (size_t t = 0; t < q->width; t++)
            write_code(h, j, t, encode(q->side, shared_by(h, j, t), h->token.y[t]));
    }
}

/* --- turboquant --- */

/* The signs of S r, r = y - y^; returns |r|. `x` is free here. */
static double sketch(const struct head *h, size_t j)
{
    const struct quantized *q = h->coder->q;
    const struct token *k = &h->token;
    size_t d = q->width;
    for (size_t t = 0; t < d; t++)
        k->residual[t] = k->y[t] - k->rounded[t];
    rotation_apply(&q->key.sketch, k->residual, k->x);
    for (size_t t = 0; t < d; t++)
        store(q->sign, before(h, q->count * d) + j * d + t, k->x[t] < 0 ? -1 : 1);
    return rotation_norm(k->residual, d);
}

static void round_direction(const struct head *h, size_t j, double norm)
{
    const struct quantized *q = h->coder->q;
    const struct token *k = &h->token;
    size_t d = q->width;
    for (size_t t = 0; t < d; t++) {
        k->y[t] = norm > 0 ? k->y[t] / norm : 0;
        size_t code = centroids_code(&q->key.centroids, k->y[t]);
        k->rounded[t] = q->key.centroids.level[code];
        write_code(h, j, t, (double)code);
    }
    double length = q->side->renormalize ? rotation_norm(k->rounded, d) : 1;
    for (size_t t = 0; length > 0 && t < d; t++)
        k->rounded[t] /= length;
}

static void run_turboquant(const struct head *h)
{
    const struct quantized *q = h->coder->q;
    for (size_t j = 0; j < q->count && !is_cancelled(q); j++) {
        size_t at = before(h, q->count) + j;
        read_token(h, j);
        q->key.norm[at] = rotation_norm(h->token.x, q->width);
        round_direction(h, j, q->key.norm[at]);
        if (q->sign.rank)
            q->key.residual_norm[at] = sketch(h, j);
    }
}

/* --- heads --- */

/* What the codes stand for: kept where it is not decoded by tiles, its largest number in any case. */
static void decode(const struct head *h)
{
    const struct quantized *q = h->coder->q;
    double largest = 0;
    for (size_t j = 0; j < q->tokens && !is_cancelled(q); j++) {
        void *row = q->by_tile ? h->decoded : tensor_row(q->dequantized, h->b, h->g, j);
        quantize_decode(q, (struct quantized_rows){h->b, h->g, j, 1}, row, h->token.x);
        for (size_t t = 0; t < q->width; t++) {
            double size = fabs(dtype_get(q->dequantized.dtype, row, t));
            largest = isnan(size) ? HUGE_VAL : fmax(largest, size);
        }
    }
    h->coder->largest[before(h, 1)] = largest;
}

static size_t rooms_size(const struct quantized *q)
{
    size_t rooms = 5 * q->width * sizeof(double);
    return rooms + (ARENA_ALIGNMENT - rooms % ARENA_ALIGNMENT) % ARENA_ALIGNMENT;
}

static size_t scratch_size(const struct quantized *q)
{
    return rooms_size(q) + scales_per_head(q) * sizeof(struct shared);
}

static void run_head(void *context, size_t index, size_t slot)
{
    struct coder *c = context;
    size_t d = c->q->width;
    struct head h = {.coder = c, .b = index / c->q->heads, .g = index % c->q->heads};
    char *scratch = workspace_piece(&c->scratch, slot);
    double *rooms = (double *)(void *)scratch;
    h.token = (struct token){rooms, rooms + d, rooms + 2 * d, rooms + 3 * d};
    h.decoded = rooms + 4 * d;
    h.shared = (void *)(scratch + rooms_size(c->q));
    if (c->q->side->method == QUANTIZE_TURBOQUANT)
        run_turboquant(&h);
    else
        run_scales(&h);
    decode(&h);
}

/* --- the side --- */

static bool make_room(struct tensor *t, struct arena *arena, struct error *err)
{
    if (t->rank)
        t->data = arena_calloc(arena, tensor_count(*t), dtype_size(t->dtype), err);
    return !t->rank || t->data;
}

/* The figures of a tensor as doubles: the tensor itself, where that is what it holds. */
static bool make_figures(struct tensor t, double **figures, struct arena *arena, struct error *err)
{
    if (!t.rank)
        return true;
    *figures = t.dtype == DTYPE_FLOAT64 ? t.data : arena_calloc(arena, tensor_count(t), sizeof **figures, err);
    return *figures != NULL;
}

static void show_figures(struct tensor t, const double *figures)
{
    for (size_t x = 0; t.rank && t.data != figures && x < tensor_count(t); x++)
        store(t, x, figures[x]);
}

static bool make_rooms(struct quantized *q, struct arena *arena, struct error *err)
{
    struct tensor *const all[] = {&q->codes, &q->scale,       &q->zero,     &q->norm,  &q->residual_norm,
                                  &q->sign,  &q->dequantized, &q->rotation, &q->sketch};
    struct quantize_key *key = &q->key;
    bool good = true;
    for (size_t x = 0; good && x < sizeof all / sizeof *all; x++)
        good = (all[x] == &q->dequantized && q->by_tile) || make_room(all[x], arena, err);
    return good && make_figures(q->scale, &key->scale, arena, err) && make_figures(q->zero, &key->zero, arena, err) &&
           make_figures(q->norm, &key->norm, arena, err) &&
           make_figures(q->residual_norm, &key->residual_norm, arena, err);
}

static bool take_rotation(struct quantized *q, const char *name, struct arena *arena, struct error *err)
{
    struct tensor given = q->side->rotation.given;
    size_t d = q->width;
    double *rows = arena_calloc(arena, d * d, sizeof *rows, err);
    char member[64];
    if (!rows)
        return false;
    for (size_t x = 0; x < d * d; x++)
        rows[x] = dtype_get(given.dtype, given.data, x);
    rotation_given(&q->key.rotation, rows);
    arena_drop(arena, rows);
    double defect = rotation_defect(&q->key.rotation, q->cancel);
    snprintf(member, sizeof member, "%s.rotation", name);
    return defect <= ORTHOGONAL ||
           error_set(err, ERROR_INVALID, member,
                     "It is not orthogonal: the largest number of |R R^T - I| is %.3g; at most %g is allowed.", defect,
                     ORTHOGONAL);
}

static void show(struct tensor t, const struct rotation *r)
{
    for (size_t x = 0; t.rank && x < r->width * r->width; x++)
        store(t, x, r->rows[x]);
}

static bool make_rotations(struct quantized *q, const char *name, struct arena *arena, struct error *err)
{
    const struct quantize_side *side = q->side;
    struct rotation *rotation = &q->key.rotation;
    struct normal normal = {(uint64_t)side->seed};
    bool good = q->rotation_kind == QUANTIZE_PLAIN || rotation_new(rotation, q->width, arena, err);
    if (good && q->rotation_kind == QUANTIZE_HADAMARD)
        rotation_hadamard(rotation, &normal);
    if (good && q->rotation_kind == QUANTIZE_RANDOM)
        good = rotation_random(rotation, &normal, q->cancel, arena, err);
    if (good && q->rotation_kind == QUANTIZE_GIVEN)
        good = take_rotation(q, name, arena, err);
    if (good && side->qjl && (good = rotation_new(&q->key.sketch, q->width, arena, err)))
        rotation_sketch(&q->key.sketch, &normal);
    if (good) {
        show(q->rotation, rotation);
        show(q->sketch, &q->key.sketch);
    }
    return good;
}

/* What the codes of one number stand for, where that is not plain. */
static bool make_levels(struct quantized *q, struct arena *arena, struct error *err)
{
    const struct quantize_side *side = q->side;
    struct quantize_key *key = &q->key;
    if (side->method == QUANTIZE_TURBOQUANT)
        key->centroids = side->exact_centroids ? centroids_exact(side->bits - side->qjl, q->width)
                                               : centroids_normal(side->bits - side->qjl, q->width);
    if (side->method != QUANTIZE_FLOAT8_E4M3 && side->method != QUANTIZE_FLOAT8_E5M2)
        return true;
    key->value = arena_calloc(arena, FLOAT8_CODES, sizeof *key->value, err);
    for (size_t code = 0; key->value && code < FLOAT8_CODES; code++)
        key->value[code] = format_value(format_of(side), (unsigned char)code);
    return key->value != NULL;
}

static void run_heads(struct coder *coder, struct pool *pool)
{
    struct quantized *q = coder->q;
    pool_run_few(pool, coder->scratch.slots, q->batch * q->heads, run_head, coder);
    for (size_t head = 0; head < q->batch * q->heads; head++)
        q->largest = fmax(q->largest, coder->largest[head]);
    show_figures(q->scale, q->key.scale);
    show_figures(q->zero, q->key.zero);
    show_figures(q->norm, q->key.norm);
    show_figures(q->residual_norm, q->key.residual_norm);
}

bool quantize_run(struct quantized *q, struct tensor x, const char *name, struct arena *arena, struct pool *pool,
                  struct error *err)
{
    struct coder coder = {.q = q};
    q->key = (struct quantize_key){.exact = x};
    coder.largest = arena_calloc(arena, q->batch * q->heads, sizeof *coder.largest, err);
    if (!coder.largest || !make_rooms(q, arena, err) || !make_levels(q, arena, err) ||
        !make_rotations(q, name, arena, err) ||
        !workspace_open(&coder.scratch, scratch_size(q), q->batch * q->heads, pool, arena, err))
        return false;
    run_heads(&coder, pool);
    workspace_close(&coder.scratch, arena);
    return !is_cancelled(q) || error_set(err, ERROR_CANCELLED, "", "The request was given up.");
}
