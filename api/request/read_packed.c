/* Packed tensors: base64 to bytes, bytes to the request's dtype. */
#include "api/request/read_packed.h"

#include "api/numbers/base64.h"

#include <math.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "packed tensors are little-endian and taken as they are"
#endif

const struct option_table *read_packed_table(void)
{
    static const char *const dtypes[] = {"float64", "float32", NULL};
    static const struct option members[] = {
        {"dtype", OPTION_CHOICE, "", .required = true, .choices = dtypes, .offset = offsetof(struct packed, dtype),
         .meaning = "of the bytes"},
        {"shape", OPTION_INTEGERS, "", .required = true, .minimum = 1, .maximum = HUGE_VAL,
         .offset = offsetof(struct packed, shape), .shape = "[rank]", .meaning = "rows last but one, columns last"},
        {"base64", OPTION_STRING, "", .required = true, .maximum = HUGE_VAL, .offset = offsetof(struct packed, base64),
         .meaning = "the numbers, little-endian, row-major"},
    };
    static const struct option_table table = {"PackedTensor", members, sizeof members / sizeof *members, NULL, NULL};
    return &table;
}

static bool shape_of(struct decoder *d, const struct packed *p, const struct json_path *at, struct tensor *t)
{
    size_t shape[TENSOR_RANK_MAX];
    size_t bytes = dtype_size(p->dtype);
    if (p->shape.count > TENSOR_RANK_MAX)
        return json_path_fault(d->err, at, "has a shape of %zu sizes; %d are the most.", p->shape.count,
                               TENSOR_RANK_MAX);
    for (size_t a = 0; a < p->shape.count; a++) {
        shape[a] = (size_t)p->shape.values[a];
        if (!size_multiply(bytes, shape[a], &bytes))
            return error_set(d->err, ERROR_TOO_LARGE, "",
                             "A packed tensor's shape has more numbers than can be counted.");
    }
    *t = tensor_dense(p->dtype, p->shape.count, shape, NULL);
    return decoder_count(d, tensor_count(*t));
}

static bool decode_bytes(struct decoder *d, const char *base64, const struct json_path *at, struct tensor *t)
{
    char shape[128];
    size_t length = strlen(base64);
    size_t wanted = tensor_count(*t) * dtype_size(t->dtype);
    size_t found;
    size_t bad;
    if (!base64_measure(base64, length, &found, &bad))
        return bad == length
                   ? json_path_fault(d->err, at, "has %zu characters; base64 comes in groups of four, padded by =.",
                                     length)
                   : json_path_fault(d->err, at, "is not base64 at position %zu of %zu characters.", bad, length);
    if (found != wanted)
        return json_path_fault(d->err, at, "holds %zu bytes; shape %s of %s takes %zu.", found,
                               tensor_shape_text(*t, shape, sizeof shape), dtype_name(t->dtype), wanted);
    t->data = arena_alloc(d->arena, wanted, d->err);
    if (t->data)
        base64_decode(base64, length, t->data);
    return t->data != NULL;
}

static bool check_finite(struct decoder *d, struct tensor t, bool hides, const struct json_path *at)
{
    size_t count = tensor_count(t);
    for (size_t x = 0; x < count; x++) {
        double value = dtype_get(t.dtype, t.data, x);
        if (!isfinite(value) && !(hides && value == -HUGE_VAL))
            return decoder_fault_at(d, t, x, at,
                                    hides ? "is NaN or +infinity; -infinity alone has a meaning here."
                                          : "is not finite; only mask.bias takes -infinity.");
    }
    return true;
}

static bool widen(struct decoder *d, struct tensor t, struct tensor *out)
{
    size_t count = tensor_count(t);
    double *wide = arena_alloc(d->arena, count * sizeof *wide, d->err);
    if (!wide)
        return false;
    for (size_t x = 0; x < count; x++)
        wide[x] = dtype_get(t.dtype, t.data, x);
    arena_drop(d->arena, t.data);
    *out = tensor_dense(DTYPE_FLOAT64, t.rank, t.shape, wide);
    return true;
}

static bool convert(struct decoder *d, struct tensor t, const struct json_path *at, struct tensor *out)
{
    if (t.dtype == *d->dtype) {
        *out = t;
        return true;
    }
    if (t.dtype == DTYPE_FLOAT32)
        return widen(d, t, out);
    if (!decoder_narrow(d, t, at))
        return false;
    void *data = arena_resize(d->arena, t.data, tensor_count(t) * sizeof(float), d->err);
    if (data)
        *out = tensor_dense(DTYPE_FLOAT32, t.rank, t.shape, data);
    return data != NULL;
}

bool read_packed(struct decoder *d, const struct packed *p, const struct json_path *at, bool hides, struct tensor *out)
{
    struct tensor t = {0};
    const struct json_path base64 = {.parent = at, .name = "base64"};
    if (!p->shape.values || !p->base64) /* no memory for them */
        return false;
    if (!shape_of(d, p, at, &t) || !decode_bytes(d, p->base64, &base64, &t) || !t.data)
        return false;
    return check_finite(d, t, hides, at) && convert(d, t, at, out);
}
