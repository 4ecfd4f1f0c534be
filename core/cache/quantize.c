/* Encoding and decoding, token by token. */
#include "core/cache/quantize.h"

#include "core/cache/centroids.h"
#include "core/cache/rotation.h"
#include "core/tensor/format.h"
#include "core/workspace.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ORTHOGONAL 1e-6

/* What all heads of a side share. */
struct coder {
    struct quantized *q;
    struct tensor x; /* [b][g][m][d] */
    struct rotation rotation, sketch;
    struct centroids centroids;
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
};

/* --- numbers of a dtype --- */

static double load(struct tensor t, size_t at)
{
    return t.dtype == DTYPE_FLOAT64 ? ((const double *)t.data)[at] : (double)((const float *)t.data)[at];
}

static void store(struct tensor t, size_t at, double value)
{
    if (t.dtype == DTYPE_FLOAT64)
        ((double *)t.data)[at] = value;
    else if (t.dtype == DTYPE_FLOAT32)
        ((float *)t.data)[at] = (float)value;
    else
        ((int16_t *)t.data)[at] = (int16_t)value;
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
    const struct coder *c = h->coder;
    size_t at = h->b * c->x.stride[0] + h->g * c->x.stride[1] + (c->q->first + j) * c->x.stride[2];
    for (size_t t = 0; t < c->q->width; t++)
        h->token.x[t] = load(c->x, at + t);
    if (c->rotation.width)
        rotation_apply(&c->rotation, h->token.x, h->token.y);
    else
        memcpy(h->token.y, h->token.x, c->q->width * sizeof *h->token.y);
}

/* x^ = factor R^T y^ */
static void write_token(const struct head *h, size_t j, double factor)
{
    const struct coder *c = h->coder;
    size_t d = c->q->width;
    size_t at = before(h, c->q->tokens * d) + (c->q->first + j) * d;
    const double *out = h->token.rounded;
    if (c->rotation.width) {
        rotation_undo(&c->rotation, h->token.rounded, h->token.x);
        out = h->token.x;
    }
    for (size_t t = 0; t < d; t++)
        store(c->q->dequantized, at + t, factor * out[t] + 0.0);
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

/* The code of y; *rounded is what it stands for. */
static double encode(const struct quantize_side *side, const struct shared *s, double y, double *rounded)
{
    double steps = s->scale > 0 ? (y - s->zero) / s->scale : 0;
    double most = largest_code(side);
    if (side->method == QUANTIZE_FLOAT8_E4M3 || side->method == QUANTIZE_FLOAT8_E5M2) {
        double small = format_round(format_of(side), steps);
        *rounded = small * s->scale;
        return format_code(format_of(side), small);
    }
    double code = fmin(fmax(nearbyint(steps), side->method == QUANTIZE_SYMMETRIC ? -most : 0), most);
    *rounded = code * s->scale + s->zero;
    return code;
}

static void write_scales(const struct head *h)
{
    const struct quantized *q = h->coder->q;
    size_t count = scales_per_head(q);
    for (size_t x = 0; x < count; x++) {
        find_scale(q->side, &h->shared[x]);
        store(q->scale, before(h, count) + x, h->shared[x].scale);
        if (q->zero.rank)
            store(q->zero, before(h, count) + x, h->shared[x].zero);
    }
}

static void run_scales(const struct head *h)
{
    const struct quantized *q = h->coder->q;
    for (size_t x = 0; x < scales_per_head(q); x++)
        h->shared[x] = (struct shared){.least = HUGE_VAL, .most = -HUGE_VAL};
    for (size_t j = 0; j < q->count; j++) {
        read_token(h, j);
        for (size_t t = 0; t < q->width; t++)
            widen(shared_by(h, j, t), h->token.y[t]);
    }
    write_scales(h);
    for (size_t j = 0; j < q->count; j++) {
        read_token(h, j);
        for (size_t t = 0; t < q->width; t++)
            write_code(h, j, t, encode(q->side, shared_by(h, j, t), h->token.y[t], &h->token.rounded[t]));
        write_token(h, j, 1);
    }
}

/* --- turboquant --- */

/* |x|; scaled where the sum of squares leaves the range. */
static double norm_of(const double *x, size_t d)
{
    double sum = 0;
    double largest = 0;
    for (size_t t = 0; t < d; t++) {
        sum += x[t] * x[t];
        largest = fmax(largest, fabs(x[t]));
    }
    if (largest == 0 || (sum > 1e-290 && sum < HUGE_VAL))
        return sqrt(sum);
    sum = 0;
    for (size_t t = 0; t < d; t++)
        sum += (x[t] / largest) * (x[t] / largest);
    return largest * sqrt(sum);
}

/* y^ += sqrt(pi / 2) / d gamma S^T sign(S r); returns gamma. `x` is free here. */
static double sketch(const struct head *h, size_t j)
{
    const struct coder *c = h->coder;
    const struct token *k = &h->token;
    size_t d = c->q->width;
    for (size_t t = 0; t < d; t++)
        k->residual[t] = k->y[t] - k->rounded[t];
    double gamma = norm_of(k->residual, d);
    double factor = sqrt(acos(0)) / (double)d * gamma; /* acos(0) is pi / 2 */
    rotation_apply(&c->sketch, k->residual, k->x);
    for (size_t t = 0; t < d; t++) {
        k->x[t] = k->x[t] < 0 ? -1 : 1;
        store(c->q->sign, before(h, c->q->count * d) + j * d + t, k->x[t]);
    }
    rotation_undo(&c->sketch, k->x, k->residual);
    for (size_t t = 0; t < d; t++)
        k->rounded[t] += factor * k->residual[t];
    return gamma;
}

static void round_direction(const struct head *h, size_t j, double norm)
{
    const struct coder *c = h->coder;
    const struct token *k = &h->token;
    size_t d = c->q->width;
    for (size_t t = 0; t < d; t++) {
        k->y[t] = norm > 0 ? k->y[t] / norm : 0;
        size_t code = centroids_code(&c->centroids, k->y[t]);
        k->rounded[t] = c->centroids.level[code];
        write_code(h, j, t, (double)code);
    }
    double length = c->q->side->renormalize ? norm_of(k->rounded, d) : 1;
    for (size_t t = 0; length > 0 && t < d; t++)
        k->rounded[t] /= length;
}

static void run_turboquant(const struct head *h)
{
    const struct quantized *q = h->coder->q;
    for (size_t j = 0; j < q->count; j++) {
        read_token(h, j);
        double norm = norm_of(h->token.x, q->width);
        round_direction(h, j, norm);
        store(q->norm, before(h, q->count) + j, norm);
        if (q->sign.rank)
            store(q->residual_norm, before(h, q->count) + j, sketch(h, j));
        write_token(h, j, norm);
    }
}

/* --- heads --- */

static void copy_kept(const struct head *h)
{
    const struct coder *c = h->coder;
    const struct quantized *q = c->q;
    for (size_t j = 0; j < q->tokens; j++) {
        size_t from = h->b * c->x.stride[0] + h->g * c->x.stride[1] + j * c->x.stride[2];
        for (size_t t = 0; (j < q->first || j >= q->first + q->count) && t < q->width; t++)
            store(q->dequantized, before(h, q->tokens * q->width) + j * q->width + t, load(c->x, from + t));
    }
}

static size_t rooms_size(const struct quantized *q)
{
    size_t rooms = 4 * q->width * sizeof(double);
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
    h.shared = (void *)(scratch + rooms_size(c->q));
    if (c->q->side->method == QUANTIZE_TURBOQUANT)
        run_turboquant(&h);
    else
        run_scales(&h);
    copy_kept(&h);
}

/* --- the side --- */

static bool make_room(struct tensor *t, struct arena *arena, struct error *err)
{
    if (t->rank)
        t->data = arena_calloc(arena, tensor_count(*t), dtype_size(t->dtype), err);
    return !t->rank || t->data;
}

static bool make_rooms(struct quantized *q, struct arena *arena, struct error *err)
{
    struct tensor *const all[] = {&q->codes, &q->scale,       &q->zero,     &q->norm,  &q->residual_norm,
                                  &q->sign,  &q->dequantized, &q->rotation, &q->sketch};
    bool good = true;
    for (size_t x = 0; good && x < sizeof all / sizeof *all; x++)
        good = make_room(all[x], arena, err);
    return good;
}

static bool take_rotation(struct coder *c, const char *name, struct arena *arena, struct error *err)
{
    struct tensor given = c->q->side->rotation.given;
    size_t d = c->q->width;
    double *rows = arena_calloc(arena, d * d, sizeof *rows, err);
    char member[64];
    if (!rows)
        return false;
    for (size_t x = 0; x < d * d; x++)
        rows[x] = load(given, x);
    rotation_given(&c->rotation, rows);
    arena_drop(arena, rows);
    double defect = rotation_defect(&c->rotation);
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

static bool make_rotations(struct coder *c, const char *name, struct arena *arena, struct error *err)
{
    const struct quantize_side *side = c->q->side;
    struct normal normal = {(uint64_t)side->seed};
    bool good = c->q->rotation_kind == QUANTIZE_PLAIN || rotation_new(&c->rotation, c->q->width, arena, err);
    if (good && c->q->rotation_kind == QUANTIZE_HADAMARD)
        rotation_hadamard(&c->rotation, &normal);
    if (good && c->q->rotation_kind == QUANTIZE_RANDOM)
        good = rotation_random(&c->rotation, &normal, arena, err);
    if (good && c->q->rotation_kind == QUANTIZE_GIVEN)
        good = take_rotation(c, name, arena, err);
    if (good && side->qjl && (good = rotation_new(&c->sketch, c->q->width, arena, err)))
        rotation_sketch(&c->sketch, &normal);
    if (good) {
        show(c->q->rotation, &c->rotation);
        show(c->q->sketch, &c->sketch);
    }
    return good;
}

static void drop_rotation(struct rotation *r, struct arena *arena)
{
    if (r->rows)
        arena_drop(arena, r->rows);
    if (r->columns)
        arena_drop(arena, r->columns);
}

bool quantize_run(struct quantized *q, struct tensor x, const char *name, struct arena *arena, struct pool *pool,
                  struct error *err)
{
    struct coder coder = {.q = q, .x = x};
    const struct quantize_side *side = q->side;
    if (side->method == QUANTIZE_TURBOQUANT)
        coder.centroids = side->exact_centroids ? centroids_exact(side->bits - side->qjl, q->width)
                                                : centroids_normal(side->bits - side->qjl, q->width);
    if (!make_rooms(q, arena, err) || !make_rotations(&coder, name, arena, err))
        return false;
    if (!workspace_open(&coder.scratch, scratch_size(q), q->batch * q->heads, pool, arena, err))
        return false;
    pool_run_few(pool, coder.scratch.slots, q->batch * q->heads, run_head, &coder);
    workspace_close(&coder.scratch, arena);
    drop_rotation(&coder.rotation, arena);
    drop_rotation(&coder.sketch, arena);
    return true;
}
