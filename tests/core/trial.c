/* One request for attention and what core makes of it. */
#include "tests/core/trial.h"

#include <check.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define TRIAL_MEMORY ((size_t)1 << 30)

static void *allocate(struct trial *trial, size_t count, size_t size)
{
    struct error err = {0};
    void *block = arena_calloc(trial->arena, count, size, &err);
    ck_assert_msg(block != NULL, "%s", err.faults[0].text);
    return block;
}

void trial_set(struct tensor t, size_t index, double value)
{
    if (t.dtype == DTYPE_FLOAT64)
        ((double *)t.data)[index] = value;
    else if (t.dtype == DTYPE_FLOAT32)
        ((float *)t.data)[index] = (float)value;
    else
        ((unsigned char *)t.data)[index] = value != 0;
}

struct tensor trial_tensor(struct trial *trial, size_t rank, const size_t *shape, struct draw *draw)
{
    struct tensor t = tensor_dense(trial->shape.dtype, rank, shape, NULL);
    size_t count = tensor_count(t);
    t.data = allocate(trial, count, dtype_size(t.dtype));
    for (size_t at = 0; at < count; at++)
        trial_set(t, at, draw_real(draw));
    return t;
}

struct tensor trial_booleans(struct trial *trial, size_t rank, const size_t *shape, unsigned percent, struct draw *draw)
{
    struct tensor t = tensor_dense(DTYPE_BOOL, rank, shape, NULL);
    size_t count = tensor_count(t);
    t.data = allocate(trial, count, 1);
    for (size_t at = 0; at < count; at++)
        trial_set(t, at, draw_chance(draw, percent));
    return t;
}

struct integers trial_integers(struct trial *trial, size_t count, int64_t low, int64_t high, struct draw *draw)
{
    int64_t *values = allocate(trial, count, sizeof *values);
    for (size_t at = 0; at < count; at++)
        values[at] = draw_integer(draw, low, high);
    return (struct integers){.values = values, .count = count};
}

struct reals trial_reals(struct trial *trial, size_t count, struct draw *draw)
{
    double *values = allocate(trial, count, sizeof *values);
    for (size_t at = 0; at < count; at++)
        values[at] = (double)(float)draw_real(draw);
    return (struct reals){.values = values, .count = count};
}

struct trial_shape trial_shape_plain(enum dtype dtype, size_t queries, size_t keys, size_t d_k, size_t d_v)
{
    return (struct trial_shape){.dtype = dtype,
                                .rank = 2,
                                .batch = 1,
                                .heads = 1,
                                .kv_heads = 1,
                                .queries = queries,
                                .keys = keys,
                                .d_k = d_k,
                                .d_v = d_v};
}

struct trial_shape trial_shape_random(struct draw *draw, enum dtype dtype)
{
    size_t n = draw_size(draw, 1, 9), m = draw_size(draw, 1, 12), d = 2 * draw_size(draw, 1, 5);
    struct trial_shape shape = trial_shape_plain(dtype, n, m, d, draw_size(draw, 1, 7));
    shape.packed = draw_chance(draw, 40);
    shape.rank = draw_size(draw, 2, shape.packed ? 3 : 4);
    if (shape.packed || shape.rank > 2) {
        shape.kv_heads = draw_size(draw, 1, 3);
        shape.heads = shape.kv_heads * draw_size(draw, 1, 3);
    }
    if (shape.rank == (shape.packed ? 3 : 4))
        shape.batch = draw_size(draw, 1, 3);
    if (draw_chance(draw, 30))
        shape.past = draw_size(draw, 1, 5);
    return shape;
}

/* An input with `heads` heads of `rows` rows of `width`, in the trial's layout. */
static struct tensor input(struct trial *trial, size_t heads, size_t rows, size_t width, struct draw *draw)
{
    const struct trial_shape *s = &trial->shape;
    const size_t split[4] = {s->batch, heads, rows, width}, packed[3] = {s->batch, rows, heads * width};
    if (s->packed)
        return trial_tensor(trial, s->rank, packed + (3 - s->rank), draw);
    return trial_tensor(trial, s->rank, split + (4 - s->rank), draw);
}

/* The past is always split by heads. */
static struct tensor past(struct trial *trial, size_t width, struct draw *draw)
{
    const struct trial_shape *s = &trial->shape;
    const size_t shape[4] = {s->batch, s->kv_heads, s->past, width};
    size_t rank = s->rank + s->packed;
    return trial_tensor(trial, rank, shape + (4 - rank), draw);
}

void trial_start(struct trial *trial, struct trial_shape shape, struct draw *draw)
{
    *trial = (struct trial){.shape = shape, .arena = arena_new(TRIAL_MEMORY)};
    ck_assert_ptr_nonnull(trial->arena);
    struct attention_request *request = &trial->request;
    request->dtype = shape.dtype;
    request->q = input(trial, shape.heads, shape.queries, shape.d_k, draw);
    request->k = input(trial, shape.kv_heads, shape.keys, shape.d_k, draw);
    request->v = input(trial, shape.kv_heads, shape.keys, shape.d_v, draw);
    request->heads = shape.packed ? shape.heads : 0;
    request->kv_heads = shape.packed && shape.kv_heads != shape.heads ? shape.kv_heads : 0;
    if (shape.past > 0) {
        request->past_k = past(trial, shape.d_k, draw);
        request->past_v = past(trial, shape.d_v, draw);
    }
}

void trial_end(struct trial *trial)
{
    arena_free(trial->arena);
}

size_t trial_width(const struct trial *trial, enum quantity quantity)
{
    return attention_width(&trial->attention, quantity);
}

void *trial_room(struct trial *trial, enum quantity quantity)
{
    size_t size = dtype_size(attention_dtype(&trial->attention, quantity));
    size_t count = attention_count(&trial->attention, quantity);
    return memset(allocate(trial, count, size), 0xA5, count * size);
}

/* Products and contributions come a row at a time from functions of their own. */
static void fill_terms(struct trial *trial)
{
    const struct attention *a = &trial->attention;
    size_t size = dtype_size(a->dtype), row = 0;
    char *products = trial_room(trial, QUANTITY_PRODUCTS), *terms = trial_room(trial, QUANTITY_CONTRIBUTIONS);
    enum quantity from = trial->request.has_dropout ? QUANTITY_DROPPED : QUANTITY_WEIGHTS;
    const char *weights = trial->results.of[from];
    for (size_t b = 0; b < a->batch; b++) {
        for (size_t h = 0; h < a->heads; h++) {
            for (size_t i = 0; i < a->queries; i++, row++) {
                const struct attention_terms at = {b, h, i, 0, a->keys};
                attention_products(a, at, products + row * a->keys * a->d_k * size, NULL);
                attention_contributions(a, at, weights + row * a->keys * size, terms + row * a->keys * a->d_v * size,
                                        NULL);
            }
        }
    }
    trial->results.of[QUANTITY_PRODUCTS] = products;
    trial->results.of[QUANTITY_CONTRIBUTIONS] = terms;
}

bool trial_try(struct trial *trial, struct pool *pool, struct error *err)
{
    struct attention *a = &trial->attention;
    trial->results = (struct attention_results){.of = {NULL}};
    if (!attention_check(a, &trial->request, err) || !attention_prepare(a, trial->arena, pool, err))
        return false;
    for (size_t x = 0; x < QUANTITY_COUNT; x++)
        if (x != QUANTITY_PRODUCTS && x != QUANTITY_CONTRIBUTIONS && attention_lacks(a, (enum quantity)x) == NULL)
            trial->results.of[x] = trial_room(trial, (enum quantity)x);
    atomic_bool cancel = false;
    if (!attention_run(a, &trial->results, pool, &cancel, trial->arena, err))
        return false;
    fill_terms(trial);
    return true;
}

void trial_run(struct trial *trial, struct pool *pool)
{
    struct error err = {0};
    bool good = trial_try(trial, pool, &err);
    ck_assert_msg(good, "refused: %s: %s", err.faults[0].name, err.faults[0].text);
}
