/* From the tensors of a request to those that enter the scores: projected, rotated, the past in front. */
#include "core/attention.h"

#include "core/forward/overflow.h"
#include "core/rope.h"
#include "core/simd/simd.h"
#include "core/tensor/projection.h"

#include <math.h>
#include <string.h>

/* One projected input as [b][heads][rows][width]; `view` brings the number of rows. */
static bool project_input(const struct attention *a, struct tensor x, struct tensor w, struct tensor bias, size_t heads,
                          const char *name, struct tensor *view, struct arena *arena, struct pool *pool,
                          struct error *err)
{
    size_t rows = view->shape[2];
    size_t outer = w.shape[1];
    struct projection p = {.dtype = a->dtype, .rows = a->batch * rows, .inner = w.shape[0], .outer = outer};
    size_t numbers;
    if (!size_multiply(p.rows, outer, &numbers))
        return error_set(err, ERROR_TOO_LARGE, name, "%zu rows of %zu columns are too many.", p.rows, outer);
    p.x = x.data;
    p.w = w.data;
    p.bias = bias.data;
    p.y = arena_calloc(arena, numbers, dtype_size(a->dtype), err);
    p.x_stride = p.inner;
    p.w_stride = p.y_stride = outer;
    p.cancel = a->cancel;
    if (!p.y)
        return false;
    *view = (struct tensor){.data = p.y,
                            .dtype = a->dtype,
                            .rank = 4,
                            .shape = {a->batch, heads, rows, outer / heads},
                            .stride = {rows * outer, outer / heads, outer, 1}};
    return projection_run(&p, name, pool, err);
}

static bool project_inputs(struct attention *a, struct arena *arena, struct pool *pool, struct error *err)
{
    const struct attention_request *r = a->request;
    struct tensor context = r->context.data ? r->context : r->x;
    return project_input(a, r->x, r->w_q, r->b_q, a->heads, "w_q", &a->q, arena, pool, err) &&
           project_input(a, context, r->w_k, r->b_k, a->kv_heads, "w_k", &a->k, arena, pool, err) &&
           project_input(a, context, r->w_v, r->b_v, a->kv_heads, "w_v", &a->v, arena, pool, err);
}

/* --- rotary embedding and past --- */

/* Copies `from` [b][heads][rows][d] into rows first, first + 1, .. of `to`. */
static void copy_rows(struct tensor to, size_t first, struct tensor from)
{
    size_t size = dtype_size(from.dtype);
    for (size_t b = 0; b < from.shape[0]; b++)
        for (size_t h = 0; h < from.shape[1]; h++)
            for (size_t x = 0; x < from.shape[2]; x++)
                memcpy(tensor_row(to, b, h, first + x), tensor_row(from, b, h, x), size * from.shape[3]);
}

/* A dense copy of `new_rows` behind the `past` (absent: no past). */
static bool join(struct tensor *new_rows, struct tensor past, struct tensor *old_end, struct arena *arena,
                 struct error *err)
{
    size_t earlier = past.data ? past.shape[past.rank - 2] : 0;
    size_t shape[4] = {new_rows->shape[0], new_rows->shape[1], earlier + new_rows->shape[2], new_rows->shape[3]};
    struct tensor joined = tensor_dense(new_rows->dtype, 4, shape, NULL);
    joined.data = arena_alloc(arena, tensor_count(joined) * dtype_size(joined.dtype), err);
    if (!joined.data)
        return false;
    if (past.data) {
        size_t past_shape[4] = {shape[0], shape[1], earlier, shape[3]};
        copy_rows(joined, 0, tensor_dense(past.dtype, 4, past_shape, past.data));
    }
    copy_rows(joined, earlier, *new_rows);
    *old_end = joined;
    old_end->data = (char *)joined.data + earlier * joined.stride[2] * dtype_size(joined.dtype);
    old_end->shape[2] = new_rows->shape[2];
    *new_rows = joined;
    return true;
}

static bool row_is_finite(struct tensor t, const void *row)
{
    const struct simd *lanes = simd_best();
    return t.dtype == DTYPE_FLOAT64 ? isfinite(lanes->size_float64(row, t.shape[3]))
                                    : isfinite(lanes->size_float32(row, t.shape[3]));
}

/* Hidden rows count: `present` carries them. */
static bool rotate(const struct attention *a, const char *what, struct tensor t, struct integers positions,
                   struct pool *pool, struct error *err)
{
    rope_apply(&a->request->rope, t, positions, a->past, pool, a->cancel);
    if (a->cancel && atomic_load(a->cancel))
        return error_set(err, ERROR_CANCELLED, "", "The request was given up.");
    for (size_t b = 0; b < t.shape[0]; b++)
        for (size_t h = 0; h < t.shape[1]; h++)
            for (size_t x = 0; x < t.shape[2]; x++)
                if (!row_is_finite(t, tensor_row(t, b, h, x)))
                    return error_set(err, ERROR_INVALID, "rope",
                                     "Rotated, the new %s %zu (batch %zu, head %zu) overflows %s.", what, x, b, h,
                                     dtype_name(t.dtype));
    return true;
}

static bool place(struct attention *a, struct arena *arena, struct pool *pool, struct error *err)
{
    const struct attention_request *r = a->request;
    struct tensor fresh = a->q;
    if (r->rope.on && !join(&a->q, (struct tensor){0}, &fresh, arena, err))
        return false;
    if (r->rope.on && !rotate(a, "query", fresh, r->rope.query_positions, pool, err))
        return false;
    if ((r->rope.on || r->past_k.data) && !join(&a->k, r->past_k, &fresh, arena, err))
        return false;
    if (r->rope.on && !rotate(a, "key", fresh, r->rope.key_positions, pool, err))
        return false;
    return !r->past_v.data || join(&a->v, r->past_v, &fresh, arena, err);
}

/* --- quantised keys and values --- */

static bool quantize_side(struct quantized *q, struct tensor *t, const char *name, struct arena *arena,
                          struct pool *pool, const atomic_bool *cancel, struct error *err)
{
    if (!q->side)
        return true;
    q->cancel = cancel;
    if (!quantize_run(q, *t, name, arena, pool, err))
        return false;
    *t = q->dequantized;
    return true;
}

static bool quantize(struct attention *a, struct arena *arena, struct pool *pool, struct error *err)
{
    a->kept_q = a->q;
    a->kept_k = a->k;
    a->kept_v = a->v;
    return quantize_side(&a->quantized_k, &a->k, "quantize.k", arena, pool, a->cancel, err) &&
           quantize_side(&a->quantized_v, &a->v, "quantize.v", arena, pool, a->cancel, err);
}

static bool prepare_operands(struct attention *a, struct arena *arena, struct pool *pool, struct error *err)
{
    if (a->request->latent.on)
        return latent_prepare(a, arena, pool, err);
    if (a->request->x.data && !project_inputs(a, arena, pool, err))
        return false;
    return place(a, arena, pool, err) && quantize(a, arena, pool, err) &&
           (!a->precision.on || precision_round_inputs(a, arena, err));
}

bool attention_prepare(struct attention *a, struct arena *arena, struct pool *pool, struct error *err)
{
    const struct mask_sizes sizes = {a->batch, a->heads, a->queries, a->keys, a->past};
    if (!prepare_operands(a, arena, pool, err) ||
        !mask_prepare(&a->mask, &a->request->mask, sizes, a->dtype, arena, err))
        return false;
    if (a->inner)
        a->inner->mask = a->mask;
    overflow_foresee(a->inner ? a->inner : a, pool);
    return true;
}

/* --- heads apart --- */

/* Value v as head h returns it: through its rows of w_o, or as it is. */
static double output_norm(const struct attention *a, size_t h, const void *v)
{
    const struct tensor w = a->request->w_o;
    double squares = 0;
    for (size_t o = 0; o < (w.data ? w.shape[1] : a->d_v); o++) {
        double y = w.data ? 0 : dtype_get(a->dtype, v, o);
        for (size_t t = 0; w.data && t < a->d_v; t++)
            y += dtype_get(a->dtype, v, t) * dtype_get(a->dtype, w.data, (h * a->d_v + t) * w.shape[1] + o);
        squares += y * y;
    }
    return sqrt(squares);
}

bool attention_norms(struct attention *a, struct arena *arena, struct error *err)
{
    size_t count = a->batch * a->heads * a->keys;
    double *norms = arena_calloc(arena, count, sizeof *norms, err);
    void *room = norms ? arena_alloc(arena, attention_values_room(a, 1), err) : NULL;
    for (size_t x = 0; room && x < count; x++) {
        size_t h = x / a->keys % a->heads;
        struct attention_span span = {x / a->keys / a->heads, h / (a->heads / a->kv_heads), x % a->keys, 1};
        norms[x] = output_norm(a, h, attention_values(a, span, room));
    }
    if (room)
        arena_drop(arena, room);
    a->norms = norms;
    return room != NULL;
}

void attention_head_outputs(const struct attention *a, const void *merged, void *out)
{
    const struct tensor w = a->request->w_o;
    size_t size = dtype_size(a->dtype);
    size_t width = a->heads * a->d_v;
    for (size_t x = 0; x < a->batch * a->heads; x++) {
        size_t b = x / a->heads;
        size_t h = x % a->heads;
        blas_product(a->dtype, BLAS_PLAIN, a->queries, w.shape[1], a->d_v,
                     (const char *)merged + (b * a->queries * width + h * a->d_v) * size, width,
                     (const char *)w.data + h * a->d_v * w.shape[1] * size, w.shape[1],
                     (char *)out + x * a->queries * w.shape[1] * size, w.shape[1]);
    }
}

bool attention_project_output(const struct attention *a, const void *merged, void *out, struct pool *pool,
                              struct error *err)
{
    const struct attention_request *r = a->request;
    size_t inner = a->heads * a->d_v;
    size_t outer = r->w_o.shape[1];
    const struct projection p = {.dtype = a->dtype,
                                 .rows = a->batch * a->queries,
                                 .inner = inner,
                                 .outer = outer,
                                 .x = merged,
                                 .w = r->w_o.data,
                                 .bias = r->b_o.data,
                                 .y = out,
                                 .x_stride = inner,
                                 .w_stride = outer,
                                 .y_stride = outer,
                                 .cancel = a->cancel};
    return projection_run(&p, "w_o", pool, err);
}
