/* Projecting to latent vectors, and from them. */
#include "core/cache/latent.h"

#include "core/attention.h"
#include "core/forward/overflow.h"
#include "core/rope.h"
#include "core/tensor/projection.h"

#include <math.h>
#include <string.h>

#define THETA 10000.0

struct work {
    struct attention *a;
    struct arena *arena;
    struct pool *pool;
    struct error *err;
    const atomic_bool *cancel;
};

/* --- views --- */

/* A dense [b][rows][heads][width] as [b][heads][rows][width]; data NULL when there is no memory. */
static struct tensor make(const struct work *w, size_t rows, size_t heads, size_t width)
{
    const struct attention *a = w->a;
    struct tensor t = {.dtype = a->dtype,
                       .rank = 4,
                       .shape = {a->batch, heads, rows, width},
                       .stride = {rows * heads * width, width, heads * width, 1}};
    t.data = arena_calloc(w->arena, a->batch * rows * heads, width * dtype_size(a->dtype), w->err);
    return t;
}

/* Features from .. from + width of a view. */
static struct tensor part(struct tensor t, size_t from, size_t width)
{
    t.data = (char *)t.data + from * dtype_size(t.dtype);
    t.shape[3] = width;
    return t;
}

/* Rows from .. from + count of a view. */
static struct tensor rows_of(struct tensor t, size_t from, size_t count)
{
    t.data = (char *)t.data + from * t.stride[2] * dtype_size(t.dtype);
    t.shape[2] = count;
    return t;
}

/* A tensor of a request, [rows][width] or [b][rows][width]. */
static struct tensor given(const struct attention *a, struct tensor t)
{
    size_t rows = t.shape[t.rank - 2];
    const size_t shape[4] = {a->batch, 1, rows, t.shape[t.rank - 1]};
    return tensor_dense(a->dtype, 4, shape, t.data);
}

static void copy(struct tensor to, struct tensor from)
{
    size_t size = dtype_size(to.dtype);
    for (size_t b = 0; b < to.shape[0]; b++)
        for (size_t h = 0; h < to.shape[1]; h++)
            for (size_t i = 0; i < to.shape[2]; i++)
                memcpy((char *)to.data + size * (b * to.stride[0] + h * to.stride[1] + i * to.stride[2]),
                       (const char *)from.data +
                           size *
                               (b * from.stride[0] + (from.shape[1] > 1 ? h : 0) * from.stride[1] + i * from.stride[2]),
                       size * to.shape[3]);
}

/* --- products --- */

/* The columns of a weight that head h of `heads` has. */
static struct tensor columns_of(struct tensor w, size_t heads, size_t h)
{
    size_t width = w.shape[1] / heads;
    w.data = (char *)w.data + h * width * dtype_size(w.dtype);
    w.shape[1] = width;
    return w;
}

/* y = x w, or x w^T, on one head of one batch; both are [1][1][rows][..]. */
static bool multiply(const struct work *k, struct tensor x, struct tensor w, enum blas_side side, struct tensor y,
                     const char *name)
{
    const struct projection p = {.dtype = x.dtype,
                                 .rows = x.shape[2],
                                 .inner = x.shape[3],
                                 .outer = y.shape[3],
                                 .x = x.data,
                                 .w = w.data,
                                 .y = y.data,
                                 .x_stride = x.stride[2],
                                 .w_stride = w.stride[0],
                                 .y_stride = y.stride[2],
                                 .w_side = side,
                                 .cancel = k->cancel};
    return projection_run(&p, name, k->pool, k->err);
}

static struct tensor head_of(struct tensor t, size_t b, size_t h)
{
    size_t at = b * t.stride[0] + (t.shape[1] > 1 ? h : 0) * t.stride[1];
    t.data = (char *)t.data + at * dtype_size(t.dtype);
    t.shape[0] = t.shape[1] = 1;
    return t;
}

/* Every head of y from its head of x (or the one that x has) and its columns of w. */
static bool project(const struct work *k, struct tensor x, struct tensor w, enum blas_side side, struct tensor y,
                    const char *name)
{
    size_t heads = y.shape[1];
    for (size_t b = 0; b < y.shape[0]; b++)
        for (size_t h = 0; h < heads; h++)
            if (!multiply(k, head_of(x, b, h), columns_of(w, heads, h), side, head_of(y, b, h), name))
                return false;
    return true;
}

/* --- norm and rotation --- */

static void normalise_row(struct tensor t, size_t at, struct tensor gain)
{
    size_t width = t.shape[3];
    double sum = 0;
    for (size_t c = 0; c < width; c++)
        sum += dtype_get(t.dtype, t.data, at + c) * dtype_get(t.dtype, t.data, at + c);
    double root = sqrt(sum / (double)width + LATENT_EPSILON);
    for (size_t c = 0; c < width; c++)
        dtype_set(t.dtype, t.data, at + c,
                  dtype_get(t.dtype, t.data, at + c) / root * (gain.data ? dtype_get(gain.dtype, gain.data, c) : 1));
}

/* x / sqrt(mean(x^2) + epsilon) times the gain, where the request wants it. */
static void normalise(const struct work *k, struct tensor t, struct tensor gain)
{
    for (size_t b = 0; k->a->request->latent.rms && b < t.shape[0]; b++)
        for (size_t i = 0; i < t.shape[2]; i++)
            normalise_row(t, b * t.stride[0] + i * t.stride[2], gain);
}

struct rope_request latent_rope(const struct attention *a)
{
    struct rope_request rope = a->request->rope;
    rope.theta = rope.on ? rope.theta : THETA;
    rope.interleaved = !rope.has_interleaved || rope.interleaved;
    rope.on = true;
    return rope;
}

/* --- preparation --- */

static bool prepare_queries(const struct work *k)
{
    struct attention *a = k->a;
    const struct attention_request *r = a->request;
    const struct rope_request rope = latent_rope(a);
    struct tensor x = given(a, r->x);
    struct latent *l = &a->latent;
    a->q = make(k, a->queries, a->heads, a->d_k);
    if (!a->q.data)
        return false;
    if (r->latent.w_dq.data) {
        l->query_latent = make(k, a->queries, 1, l->d_cq);
        if (!l->query_latent.data || !project(k, x, r->latent.w_dq, BLAS_PLAIN, l->query_latent, "latent.w_dq"))
            return false;
        normalise(k, l->query_latent, r->latent.gain_q);
        x = l->query_latent;
    }
    bool two = r->latent.w_dq.data != NULL;
    if (!project(k, x, two ? r->latent.w_uq : r->latent.w_q, BLAS_PLAIN, a->q, two ? "latent.w_uq" : "latent.w_q"))
        return false;
    l->query_nope = part(a->q, 0, l->d_n);
    l->query_rope = part(a->q, l->d_n, l->d_r);
    rope_apply(&rope, l->query_rope, rope.query_positions, a->past, k->pool, a->cancel);
    return true;
}

/* c and k_R of all rows, side by side: what the cache keeps, and the keys of the absorbed form. */
static bool prepare_cache(const struct work *k)
{
    struct attention *a = k->a;
    const struct attention_request *r = a->request;
    const struct rope_request rope = latent_rope(a);
    struct tensor context = given(a, r->context.data ? r->context : r->x);
    struct latent *l = &a->latent;
    struct tensor both = make(k, a->keys, 1, l->d_c + l->d_r);
    if (!both.data)
        return false;
    l->latent = part(both, 0, l->d_c);
    l->rope_key = part(both, l->d_c, l->d_r);
    struct tensor fresh = rows_of(l->latent, a->past, a->keys - a->past);
    struct tensor turned = rows_of(l->rope_key, a->past, a->keys - a->past);
    if (!project(k, context, r->latent.w_dkv, BLAS_PLAIN, fresh, "latent.w_dkv") ||
        !project(k, context, r->latent.w_kr, BLAS_PLAIN, turned, "latent.w_kr"))
        return false;
    normalise(k, fresh, r->latent.gain_kv);
    rope_apply(&rope, turned, rope.key_positions, a->past, k->pool, a->cancel);
    if (r->past_latent.data) {
        copy(rows_of(l->latent, 0, a->past), given(a, r->past_latent));
        copy(rows_of(l->rope_key, 0, a->past), given(a, r->past_rope_key));
    }
    return true;
}

static bool expand(const struct work *k)
{
    struct attention *a = k->a;
    const struct latent_request *r = &a->request->latent;
    struct latent *l = &a->latent;
    a->k = make(k, a->keys, a->heads, a->d_k);
    a->v = a->k.data ? make(k, a->keys, a->heads, a->d_v) : a->v;
    if (!a->k.data || !a->v.data)
        return false;
    copy(part(a->k, l->d_n, l->d_r), l->rope_key);
    return project(k, l->latent, r->w_uk, BLAS_PLAIN, part(a->k, 0, l->d_n), "latent.w_uk") &&
           project(k, l->latent, r->w_uv, BLAS_PLAIN, a->v, "latent.w_uv");
}

/* The same attention with one key/value head, whose keys are c and k_R and whose values are c. */
static bool absorb(const struct work *k)
{
    struct attention *a = k->a;
    struct latent *l = &a->latent;
    struct attention *inner = arena_alloc(k->arena, sizeof *inner, k->err);
    if (!inner)
        return false;
    *inner = *a;
    inner->kv_heads = 1;
    inner->packed = false;
    inner->d_k = l->d_c + l->d_r;
    inner->d_v = l->d_c;
    inner->d_out = l->d_c;
    inner->k = l->latent;
    inner->k.shape[3] = inner->d_k;
    inner->v = l->latent;
    inner->q = make(k, a->queries, a->heads, inner->d_k);
    l->mixed_latent = tensor_dense(a->dtype, 4, (const size_t[]){a->batch, a->heads, a->queries, l->d_c}, NULL);
    l->mixed_latent.data = arena_calloc(k->arena, tensor_count(l->mixed_latent), dtype_size(a->dtype), k->err);
    if (!inner->q.data || !l->mixed_latent.data)
        return false;
    l->query_absorbed = part(inner->q, 0, l->d_c);
    copy(part(inner->q, l->d_c, l->d_r), l->query_rope);
    a->inner = inner;
    return project(k, l->query_nope, a->request->latent.w_uk, BLAS_TRANSPOSED, l->query_absorbed, "latent.w_uk");
}

bool latent_prepare(struct attention *a, struct arena *arena, struct pool *pool, struct error *err)
{
    const struct work k = {a, arena, pool, err, a->cancel};
    if (!prepare_queries(&k) || !prepare_cache(&k))
        return false;
    if (a->request->latent.absorbed)
        return absorb(&k);
    if (!expand(&k))
        return false;
    a->latent.key_nope = part(a->k, 0, a->latent.d_n);
    return true;
}

bool latent_expand(struct attention *a, struct arena *arena, struct pool *pool, struct error *err)
{
    const struct work k = {a, arena, pool, err, a->cancel};
    if (a->k.data)
        return true;
    if (!expand(&k))
        return false;
    overflow_foresee(a, pool);
    return true;
}

bool latent_mix(const struct attention *a, void *output, struct pool *pool, struct error *err)
{
    const struct work k = {.pool = pool, .err = err, .cancel = a->cancel};
    struct tensor o = {.data = output,
                       .dtype = a->dtype,
                       .rank = 4,
                       .shape = {a->batch, a->heads, a->queries, a->d_v},
                       .stride = {a->queries * a->heads * a->d_v, a->d_v, a->heads * a->d_v, 1}};
    return project(&k, a->latent.mixed_latent, a->request->latent.w_uv, BLAS_PLAIN, o, "latent.w_uv");
}

/* --- the bill --- */

double latent_numbers(const struct attention *a)
{
    const struct latent *l = &a->latent;
    double rows = (double)a->batch * (double)a->queries;
    double keys = (double)a->batch * (double)a->keys;
    double numbers = keys * (double)(l->d_c + l->d_r) + rows * ((double)l->d_cq + (double)a->heads * (double)a->d_k);
    if (a->request->latent.absorbed)
        numbers += rows * (double)a->heads * (double)(2 * l->d_c + l->d_r);
    return numbers + keys * (double)a->heads * (double)(a->d_k + a->d_v);
}

static double size_of(struct tensor w)
{
    return w.data ? (double)tensor_count(w) : 0;
}

double latent_flops(const struct attention *a)
{
    const struct latent_request *r = &a->request->latent;
    double rows = (double)a->batch * (double)a->queries;
    double keys = (double)a->batch * (double)a->keys;
    double fresh = (double)a->batch * (double)(a->keys - a->past);
    double down = fresh * (size_of(r->w_dkv) + size_of(r->w_kr));
    double up = (r->absorbed ? rows : keys) * (size_of(r->w_uk) + size_of(r->w_uv));
    return 2 * (rows * (size_of(r->w_q) + size_of(r->w_dq) + size_of(r->w_uq)) + down + up);
}
