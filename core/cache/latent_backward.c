/* Products with transposes, the norm and the rotation undone. */
#include "core/cache/latent_backward.h"

#include "core/cache/latent.h"
#include "core/rope.h"
#include "core/tensor/blas.h"

#include <math.h>
#include <string.h>

struct work {
    struct backward_way *way;
    const struct attention *a;
    const struct latent_request *r;
    struct error *err;
};

/* Dense rows of one width. */
struct matrix {
    void *data;
    size_t rows, width;
};

static struct matrix make(const struct work *w, size_t rows, size_t width)
{
    return (struct matrix){arena_calloc(w->way->arena, rows, width * dtype_size(w->a->dtype), w->err), rows, width};
}

static double get(const struct work *w, struct matrix m, size_t row, size_t column)
{
    return dtype_get(w->a->dtype, m.data, row * m.width + column);
}

static void set(const struct work *w, struct matrix m, size_t row, size_t column, double value)
{
    dtype_set(w->a->dtype, m.data, row * m.width + column, value + 0.0);
}

static void *wanted(const struct work *w, enum gradient gradient)
{
    return w->way->results->of[gradient];
}

/* A wanted result gets the numbers of a matrix. */
static void give(const struct work *w, enum gradient gradient, struct matrix m)
{
    if (wanted(w, gradient))
        memcpy(wanted(w, gradient), m.data, m.rows * m.width * dtype_size(w->a->dtype));
}

/* dW[in][out] = x[rows][in]^T g[rows][out], where it is wanted; rows of x are x_stride numbers apart. */
static void weigh(const struct work *w, enum gradient gradient, const void *x, size_t x_stride, size_t in,
                  struct matrix g)
{
    void *y = wanted(w, gradient);
    if (!y)
        return;
    memset(y, 0, in * g.width * dtype_size(w->a->dtype));
    blas_product_of_transposed_add(w->a->dtype, (struct blas_sizes){in, g.width, g.rows}, x, x_stride, g.data, g.width,
                                   y, g.width);
}

/* y[rows][in] (+)= g[rows][out] weight[in][out]^T */
static void go_back(const struct work *w, struct matrix g, struct tensor weight, bool add, void *y)
{
    if (y)
        blas_product_add(w->a->dtype, BLAS_TRANSPOSED, (struct blas_sizes){g.rows, weight.shape[0], weight.shape[1]}, 1,
                         g.data, g.width, weight.data, weight.shape[1], add, y, weight.shape[0]);
}

/* Features from .. from + width of all heads side by side, or summed into one. */
static void gather(const struct work *w, struct tensor t, size_t from, bool sum, struct matrix to)
{
    size_t heads = t.shape[1];
    size_t width = sum ? to.width : to.width / heads;
    for (size_t row = 0; row < to.rows; row++)
        for (size_t h = 0; h < heads; h++) {
            const void *g = tensor_row(t, row / t.shape[2], h, row % t.shape[2]);
            for (size_t c = 0; c < width; c++) {
                size_t at = sum ? c : h * width + c;
                double before = sum && h > 0 ? get(w, to, row, at) : 0;
                set(w, to, row, at, before + dtype_get(t.dtype, g, from + c));
            }
        }
}

/* A wanted step of heads, [b][H][rows][width]: some features of t. */
static void give_heads(const struct work *w, enum gradient gradient, struct tensor t, size_t from, size_t width)
{
    void *out = wanted(w, gradient);
    size_t rows = t.shape[0] * t.shape[1] * t.shape[2];
    for (size_t row = 0; out && row < rows; row++) {
        const void *g = tensor_row(t, row / t.shape[2] / t.shape[1], row / t.shape[2] % t.shape[1], row % t.shape[2]);
        for (size_t c = 0; c < width; c++)
            dtype_set(t.dtype, out, row * width + c, dtype_get(t.dtype, g, from + c) + 0.0);
    }
}

/* The rows from `first` on of every batch, of `per_batch`. */
static struct matrix cut(const struct work *w, struct matrix m, size_t per_batch, size_t first, size_t count)
{
    struct matrix out = make(w, w->a->batch * count, m.width);
    size_t size = m.width * dtype_size(w->a->dtype);
    for (size_t row = 0; out.data && row < out.rows; row++)
        memcpy((char *)out.data + row * size,
               (const char *)m.data + (row / count * per_batch + first + row % count) * size, size);
    return out;
}

/* Rows side by side as [b][heads][rows][width], for the rotation. */
static struct tensor view_of(const struct work *w, struct matrix m, size_t heads, size_t from, size_t width)
{
    size_t rows = m.rows / w->a->batch;
    return (struct tensor){.data = (char *)m.data + from * dtype_size(w->a->dtype),
                           .dtype = w->a->dtype,
                           .rank = 4,
                           .shape = {w->a->batch, heads, rows, width},
                           .stride = {rows * m.width, m.width / heads, m.width, 1}};
}

/* --- the norm --- */

struct norm {
    const void *x; /* [rows][in], what was projected */
    struct tensor weight, gain;
    enum gradient by_gain;
};

static void undo_norm_row(const struct work *w, struct matrix x, struct matrix g, size_t row, struct tensor gain,
                          double *by_gain)
{
    double squares = 0;
    double product = 0;
    for (size_t c = 0; c < g.width; c++) {
        double scaled = get(w, g, row, c) * (gain.data ? dtype_get(gain.dtype, gain.data, c) : 1);
        squares += get(w, x, row, c) * get(w, x, row, c);
        product += scaled * get(w, x, row, c);
    }
    double square = squares / (double)g.width + LATENT_EPSILON;
    double root = sqrt(square);
    for (size_t c = 0; c < g.width; c++) {
        double scaled = get(w, g, row, c) * (gain.data ? dtype_get(gain.dtype, gain.data, c) : 1);
        by_gain[c] += get(w, g, row, c) * get(w, x, row, c) / root;
        set(w, g, row, c, (scaled - get(w, x, row, c) * product / (double)g.width / square) / root);
    }
}

/* g becomes the gradient of what the norm was taken of, which is projected once more. */
static bool undo_norm(const struct work *w, struct norm n, struct matrix g)
{
    if (!w->r->rms)
        return true;
    struct matrix x = make(w, g.rows, g.width);
    double *by_gain = arena_calloc(w->way->arena, g.width, sizeof *by_gain, w->err);
    if (!x.data || !by_gain)
        return false;
    blas_product(w->a->dtype, BLAS_PLAIN, g.rows, g.width, n.weight.shape[0], n.x, n.weight.shape[0], n.weight.data,
                 g.width, x.data, g.width);
    for (size_t row = 0; row < g.rows; row++)
        undo_norm_row(w, x, g, row, n.gain, by_gain);
    for (size_t c = 0; wanted(w, n.by_gain) && c < g.width; c++)
        dtype_set(w->a->dtype, wanted(w, n.by_gain), c, by_gain[c] + 0.0);
    return true;
}

/* --- keys and values --- */

/* dc of all rows, from keys and values of the heads. */
static bool find_latent(const struct work *w, struct matrix *latent)
{
    const struct latent *l = &w->a->latent;
    const struct tensor k = w->way->inputs[1];
    const struct tensor v = w->way->inputs[2];
    size_t rows = w->a->batch * w->a->keys;
    struct matrix keys = make(w, rows, w->a->heads * l->d_n);
    struct matrix values = make(w, rows, w->a->heads * w->a->d_v);
    *latent = make(w, rows, l->d_c);
    if (!keys.data || !values.data || !latent->data)
        return false;
    gather(w, k, 0, false, keys);
    gather(w, v, 0, false, values);
    go_back(w, keys, w->r->w_uk, false, latent->data);
    go_back(w, values, w->r->w_uv, true, latent->data);
    weigh(w, GRADIENT_W_UK, l->latent.data, l->latent.stride[2], l->d_c, keys);
    weigh(w, GRADIENT_W_UV, l->latent.data, l->latent.stride[2], l->d_c, values);
    give_heads(w, GRADIENT_KEY_NOPE, k, 0, l->d_n);
    give(w, GRADIENT_LATENT, *latent);
    return true;
}

static bool run_keys(const struct work *w, const struct rope_request *rope, void *by_context, bool add)
{
    const struct attention *a = w->a;
    const struct attention_request *r = a->request;
    const struct tensor context = r->context.data ? r->context : r->x;
    size_t in = context.shape[context.rank - 1];
    size_t fresh = a->keys - a->past;
    struct matrix latent;
    struct matrix rope_key = make(w, a->batch * a->keys, a->latent.d_r);
    if (!rope_key.data || !find_latent(w, &latent))
        return false;
    gather(w, w->way->inputs[1], a->latent.d_n, true, rope_key);
    give(w, GRADIENT_ROPE_KEY, rope_key);
    if (a->past > 0) {
        struct matrix past[2] = {cut(w, latent, a->keys, 0, a->past), cut(w, rope_key, a->keys, 0, a->past)};
        if (!past[0].data || !past[1].data)
            return false;
        give(w, GRADIENT_PAST_LATENT, past[0]);
        give(w, GRADIENT_PAST_ROPE_KEY, past[1]);
    }
    struct matrix c = cut(w, latent, a->keys, a->past, fresh);
    struct matrix turned = cut(w, rope_key, a->keys, a->past, fresh);
    if (!c.data || !turned.data ||
        !undo_norm(w, (struct norm){context.data, w->r->w_dkv, w->r->gain_kv, GRADIENT_GAIN_KV}, c))
        return false;
    rope_undo(rope, view_of(w, turned, 1, 0, turned.width), rope->key_positions, a->past, w->way->pool, w->way->cancel);
    weigh(w, GRADIENT_W_DKV, context.data, in, in, c);
    weigh(w, GRADIENT_W_KR, context.data, in, in, turned);
    go_back(w, c, w->r->w_dkv, add, by_context);
    go_back(w, turned, w->r->w_kr, true, by_context);
    return true;
}

/* --- queries --- */

static bool run_queries(const struct work *w, const struct rope_request *rope)
{
    const struct attention *a = w->a;
    const struct latent *l = &a->latent;
    const struct tensor x = a->request->x;
    size_t in = x.shape[x.rank - 1];
    struct matrix q = make(w, a->batch * a->queries, a->heads * a->d_k);
    if (!q.data)
        return false;
    gather(w, w->way->inputs[0], 0, false, q);
    give_heads(w, GRADIENT_QUERY_NOPE, w->way->inputs[0], 0, l->d_n);
    give_heads(w, GRADIENT_QUERY_ROPE, w->way->inputs[0], l->d_n, l->d_r);
    rope_undo(rope, view_of(w, q, a->heads, l->d_n, l->d_r), rope->query_positions, a->past, w->way->pool,
              w->way->cancel);
    if (!w->r->w_dq.data) {
        weigh(w, GRADIENT_W_Q, x.data, in, in, q);
        go_back(w, q, w->r->w_q, false, w->way->by_x);
        return true;
    }
    struct matrix c = make(w, q.rows, l->d_cq);
    if (!c.data)
        return false;
    go_back(w, q, w->r->w_uq, false, c.data);
    give(w, GRADIENT_QUERY_LATENT, c);
    weigh(w, GRADIENT_W_UQ, l->query_latent.data, l->query_latent.stride[2], l->d_cq, q);
    if (!undo_norm(w, (struct norm){x.data, w->r->w_dq, w->r->gain_q, GRADIENT_GAIN_Q}, c))
        return false;
    weigh(w, GRADIENT_W_DQ, x.data, in, in, c);
    go_back(w, c, w->r->w_dq, false, w->way->by_x);
    return true;
}

/* --- steps of the absorbed form --- */

/* d z_i = d o_i W_uv,h^T */
static void give_mixed(const struct work *w)
{
    const struct attention *a = w->a;
    const struct tensor g = w->way->back->g;
    const struct tensor w_uv = w->r->w_uv;
    void *out = wanted(w, GRADIENT_MIXED_LATENT);
    for (size_t row = 0; out && row < a->batch * a->heads * a->queries; row++) {
        size_t h = row / a->queries % a->heads;
        const void *by_o = tensor_row(g, row / a->queries / a->heads, h, row % a->queries);
        for (size_t c = 0; c < w_uv.shape[0]; c++) {
            double sum = 0;
            for (size_t t = 0; t < a->d_v; t++)
                sum +=
                    dtype_get(g.dtype, by_o, t) * dtype_get(w_uv.dtype, w_uv.data, c * w_uv.shape[1] + h * a->d_v + t);
            dtype_set(a->dtype, out, row * w_uv.shape[0] + c, sum + 0.0);
        }
    }
}

/* d q~_i = sum_j d score_ij c_j, for one block of rows */
static void give_absorbed_block(const struct work *w, struct attention_rows at, const void *scores)
{
    const struct attention *a = w->a;
    const struct tensor latent = a->latent.latent;
    void *out = wanted(w, GRADIENT_QUERY_ABSORBED);
    for (size_t i = 0; i < at.count; i++)
        for (size_t c = 0; c < latent.shape[3]; c++) {
            double sum = 0;
            for (size_t j = 0; j < a->keys; j++)
                sum += dtype_get(a->dtype, scores, i * a->keys + j) *
                       dtype_get(a->dtype, tensor_row(latent, at.b, 0, j), c);
            size_t row = (at.b * a->heads + at.h) * a->queries + at.first + i;
            dtype_set(a->dtype, out, row * latent.shape[3] + c, sum + 0.0);
        }
}

static bool is_stopped(const struct work *w)
{
    return backward_is_cancelled(w->way) && !error_set(w->err, ERROR_CANCELLED, "", "The request was given up.");
}

static bool give_absorbed(const struct work *w)
{
    const struct attention *a = w->a;
    if (!wanted(w, GRADIENT_QUERY_ABSORBED))
        return true;
    struct backward_results rows = {.of = {NULL}};
    rows.of[GRADIENT_SCORES] =
        arena_calloc(w->way->arena, attention_block(a, 0).count, a->keys * dtype_size(a->dtype), w->err);
    void *scratch =
        rows.of[GRADIENT_SCORES] ? arena_alloc(w->way->arena, backward_block_scratch(w->way->back), w->err) : NULL;
    if (!scratch)
        return false;
    for (size_t block = 0; block < attention_blocks(a); block++) {
        if (is_stopped(w))
            return false;
        backward_block_run(w->way->back, block, &rows, scratch);
        give_absorbed_block(w, attention_block(a, block), rows.of[GRADIENT_SCORES]);
    }
    arena_drop(w->way->arena, scratch);
    arena_drop(w->way->arena, rows.of[GRADIENT_SCORES]);
    return true;
}

bool latent_backward(struct backward_way *way, struct error *err)
{
    const struct attention *a = way->back->a;
    const struct work w = {way, a, &a->request->latent, err};
    const struct rope_request rope = latent_rope(a);
    bool apart = a->request->context.data != NULL;
    give_mixed(&w);
    return give_absorbed(&w) && !is_stopped(&w) && run_queries(&w, &rope) && !is_stopped(&w) &&
           run_keys(&w, &rope, apart ? way->results->of[GRADIENT_CONTEXT] : way->by_x, !apart);
}

/* --- the bill --- */

/* As they are made above: all of them last until the request ends. */
double latent_backward_numbers(const struct attention *a)
{
    const struct latent *l = &a->latent;
    double rows = (double)a->batch * (double)a->queries;
    double keys = (double)a->batch * (double)a->keys;
    double cached = (double)(l->d_c + l->d_r);
    double heads = (double)a->heads;
    double block = (double)attention_block(a, 0).count * (double)a->keys;
    if (!a->request->latent.on)
        return 0;
    double queries = rows * (heads * (double)a->d_k + 2 * (double)l->d_cq);
    double down = keys * (2 * cached + (double)l->d_c) + 2 * (double)(l->d_c + l->d_cq);
    double up = keys * heads * (double)(l->d_n + a->d_v);
    double shown = block + (double)backward_scratch(a, attention_block(a, 0).count, a->keys) / (double)sizeof(float);
    return queries + down + up + (a->request->latent.absorbed ? shown : 0);
}

/* Each projection back, its weight's gradient, and with a norm the projection once more; the steps of absorbed. */
double latent_backward_flops(const struct attention *a)
{
    double projections = 3 * latent_flops(a);
    double rows = (double)a->batch * (double)a->heads * (double)a->queries;
    double absorbed = 2 * rows * (double)a->latent.d_c * (double)(a->keys + a->d_v);
    if (!a->request->latent.on)
        return 0;
    return projections + (a->request->latent.absorbed ? absorbed : 0);
}
