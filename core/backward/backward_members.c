/* From the gradients of what entered the scores to those of the request's members: the rotation undone, the past cut
 * off, the projections' transposes. */
#include "core/backward/backward_way.h"
#include "core/backward/embedding.h"
#include "core/cache/latent_backward.h"
#include "core/rope.h"
#include "core/tensor/blas.h"

#include <string.h>

#define ROWS_PER_TASK 64

/* --- y[in][out] = x[rows][in]^T g[rows][out], and the sum of g's rows --- */

struct outer {
    enum dtype dtype;
    size_t rows, in, out;
    const void *x, *g;
    void *y;
};

static void outer_rows(void *context, size_t index, size_t slot)
{
    (void)slot;
    const struct outer *o = context;
    size_t first = index * ROWS_PER_TASK;
    size_t count = o->in - first < ROWS_PER_TASK ? o->in - first : ROWS_PER_TASK;
    size_t size = dtype_size(o->dtype);
    char *y = (char *)o->y + first * o->out * size;
    memset(y, 0, count * o->out * size);
    blas_product_of_transposed_add(o->dtype, (struct blas_sizes){count, o->out, o->rows},
                                   (const char *)o->x + first * size, o->in, o->g, o->out, y, o->out);
}

static void run_outer(const struct backward_way *way, struct outer o)
{
    if (o.y)
        pool_run(way->pool, (o.in + ROWS_PER_TASK - 1) / ROWS_PER_TASK, outer_rows, &o);
}

static double number_at(enum dtype dtype, const void *data, size_t at)
{
    return dtype == DTYPE_FLOAT64 ? ((const double *)data)[at] : (double)((const float *)data)[at];
}

static void sum_rows(enum dtype dtype, const void *g, size_t rows, size_t columns, void *out)
{
    for (size_t c = 0; out && c < columns; c++) {
        double sum = 0;
        for (size_t row = 0; row < rows; row++)
            sum += number_at(dtype, g, row * columns + c);
        if (dtype == DTYPE_FLOAT64)
            ((double *)out)[c] = sum + 0;
        else
            ((float *)out)[c] = (float)sum + 0;
    }
}

/* --- y[rows][in] (+)= g[rows][out] w[in][out]^T --- */

struct inner {
    enum dtype dtype;
    size_t rows, in, out;
    const void *g, *w;
    void *y;
    bool add;
};

static void inner_rows(void *context, size_t index, size_t slot)
{
    (void)slot;
    const struct inner *p = context;
    size_t first = index * ROWS_PER_TASK;
    size_t count = p->rows - first < ROWS_PER_TASK ? p->rows - first : ROWS_PER_TASK;
    size_t size = dtype_size(p->dtype);
    blas_product_add(p->dtype, BLAS_TRANSPOSED, (struct blas_sizes){count, p->in, p->out}, 1,
                     (const char *)p->g + first * p->out * size, p->out, p->w, p->out, p->add,
                     (char *)p->y + first * p->in * size, p->in);
}

/* --- one input --- */

/* `to` gets the rows of `from` that begin with row `first`. */
static void copy_rows(struct tensor to, struct tensor from, size_t first)
{
    size_t size = dtype_size(from.dtype);
    for (size_t b = 0; b < to.shape[0]; b++)
        for (size_t h = 0; h < to.shape[1]; h++)
            for (size_t x = 0; x < to.shape[2]; x++)
                memcpy((char *)to.data + size * (b * to.stride[0] + h * to.stride[1] + x * to.stride[2]),
                       (const char *)from.data +
                           size * (b * from.stride[0] + h * from.stride[1] + (first + x) * from.stride[2]),
                       size * to.shape[3]);
}

/* [b][heads][rows][width], heads side by side where the request has them so. */
static struct tensor layout_of(const struct attention *a, size_t heads, size_t rows, size_t width, void *data)
{
    const size_t shape[4] = {a->batch, heads, rows, width};
    struct tensor t = tensor_dense(a->dtype, 4, shape, data);
    if (a->packed) {
        t.stride[2] = heads * width;
        t.stride[1] = width;
    }
    return t;
}

struct input {
    enum gradient own, past, weight, bias; /* of form A, of the past, of the projection */
};

static const struct input inputs[3] = {
    {GRADIENT_Q, GRADIENT_COUNT, GRADIENT_W_Q, GRADIENT_B_Q},
    {GRADIENT_K, GRADIENT_PAST_K, GRADIENT_W_K, GRADIENT_B_K},
    {GRADIENT_V, GRADIENT_PAST_V, GRADIENT_W_V, GRADIENT_B_V},
};

static void undo_rope(const struct backward_way *way, size_t input, struct tensor fresh)
{
    const struct attention *a = way->back->a;
    const struct rope_request *rope = &a->request->rope;
    if (rope->on && input < 2)
        rope_undo(rope, fresh, input == 0 ? rope->query_positions : rope->key_positions, a->past, way->pool,
                  way->cancel);
}

/* The gradient of x or of the context by one projection. */
static void run_inner(const struct backward_way *way, size_t input, const void *g, size_t rows)
{
    const struct attention_request *r = way->back->a->request;
    const struct tensor w = input == 0 ? r->w_q : input == 1 ? r->w_k : r->w_v;
    enum gradient target = input > 0 && r->context.data ? GRADIENT_CONTEXT : GRADIENT_X;
    bool first = input == 0 || (input == 1 && r->context.data);
    struct inner p = {
        w.dtype, rows, w.shape[0], w.shape[1], g, w.data, target == GRADIENT_X ? way->by_x : way->results->of[target],
        !first};
    if (p.y)
        pool_run(way->pool, (rows + ROWS_PER_TASK - 1) / ROWS_PER_TASK, inner_rows, &p);
}

static void run_projection(const struct backward_way *way, size_t input, struct tensor fresh)
{
    const struct attention_request *r = way->back->a->request;
    const struct tensor x = input > 0 && r->context.data ? r->context : r->x;
    size_t rows = fresh.shape[0] * fresh.shape[2];
    size_t columns = fresh.shape[1] * fresh.shape[3];
    if (!r->w_q.data)
        return;
    size_t in = x.shape[x.rank - 1];
    run_outer(way, (struct outer){fresh.dtype, rows, in, columns, x.data, fresh.data,
                                  way->results->of[inputs[input].weight]});
    sum_rows(fresh.dtype, fresh.data, rows, columns, way->results->of[inputs[input].bias]);
    run_inner(way, input, fresh.data, rows);
}

static bool run_input(const struct backward_way *way, size_t input, struct error *err)
{
    const struct attention *a = way->back->a;
    const struct input *names = &inputs[input];
    const struct tensor all = way->inputs[input];
    size_t past = input == 0 ? 0 : a->past;
    if (!all.data)
        return true;
    if (names->past != GRADIENT_COUNT && backward_wants(way, names->past)) {
        const size_t shape[4] = {all.shape[0], all.shape[1], past, all.shape[3]};
        copy_rows(tensor_dense(a->dtype, 4, shape, way->results->of[names->past]), all, 0);
    }
    size_t rows = all.shape[2] - past;
    void *room = backward_room(way, names->own, all.shape[0] * all.shape[1] * rows * all.shape[3], err);
    if (!room)
        return false;
    struct tensor fresh = layout_of(a, all.shape[1], rows, all.shape[3], room);
    copy_rows(fresh, all, past);
    undo_rope(way, input, fresh);
    run_projection(way, input, fresh);
    return true;
}

static void run_output_projection(const struct backward_way *way)
{
    const struct attention *a = way->back->a;
    const struct tensor w = a->request->w_o;
    size_t rows = a->batch * a->queries;
    if (!w.data)
        return;
    run_outer(way, (struct outer){a->dtype, rows, w.shape[0], w.shape[1], way->back->mixed, way->back->by_output,
                                  way->results->of[GRADIENT_W_O]});
    sum_rows(a->dtype, way->back->by_output, rows, w.shape[1], way->results->of[GRADIENT_B_O]);
}

/* Where d x goes: the result, or room of its own when only the embedding wants it. */
static bool make_by_x(struct backward_way *way, struct error *err)
{
    way->by_x = way->results->of[GRADIENT_X];
    if (!backward_wants(way, GRADIENT_EMBEDDING))
        return true;
    const struct tensor x = way->back->a->request->x;
    way->by_x = arena_calloc(way->arena, tensor_count(x), dtype_size(x.dtype), err);
    return way->by_x != NULL;
}

static bool run_embedding(const struct backward_way *way, struct error *err)
{
    void *out = way->results->of[GRADIENT_EMBEDDING];
    return !out || embedding_scatter(way->back->a->request, way->by_x, out, way->arena, err);
}

bool backward_members(struct backward_way *way, struct error *err)
{
    if (!make_by_x(way, err))
        return false;
    run_output_projection(way);
    bool latent = way->back->a->request->latent.on;
    if (latent && !latent_backward(way, err))
        return false;
    for (size_t input = 0; !latent && input < 3; input++)
        if (!run_input(way, input, err))
            return false;
    return run_embedding(way, err);
}
