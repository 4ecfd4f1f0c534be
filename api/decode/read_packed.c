/* Packed tensors: base64 to bytes, bytes to the request's dtype. */
#include "api/decode/read_packed.h"

#include "api/numbers/base64.h"

#include <math.h>

/* In the order of their names below. */
static const enum dtype dtypes[] = {DTYPE_FLOAT64, DTYPE_FLOAT32, DTYPE_FLOAT16, DTYPE_BFLOAT16, DTYPE_BOOL};

const struct option_table *read_packed_table(void)
{
    static const char *const names[] = {"float64", "float32", "float16", "bfloat16", "uint8", NULL};
    static const struct option members[] = {
        {"dtype", OPTION_CHOICE, "", .required = true, .choices = names, .offset = offsetof(struct packed, type),
         .meaning = "of the bytes; \"uint8\" is for mask.allow alone"},
        {"shape", OPTION_INTEGERS, "", .required = true, .minimum = 1, .maximum = HUGE_VAL,
         .offset = offsetof(struct packed, shape), .shape = "[rank]", .meaning = "rows last but one, columns last"},
        {"base64", OPTION_BYTES, "", .required = true, .offset = offsetof(struct packed, bytes),
         .meaning = "the numbers, little-endian, row-major"},
    };
    static const struct option_table table = {"PackedTensor", members, sizeof members / sizeof *members, NULL, NULL};
    return &table;
}

/* --- bytes --- */

static bool refuse_base64(struct decoder *d, const char *text, size_t length, const struct json_path *at)
{
    size_t bad = base64_find_fault(text, length);
    return bad == length
               ? json_path_fault(d->err, at, "has %zu characters; base64 comes in groups of four, padded by =.", length)
               : json_path_fault(d->err, at, "is not base64 at position %zu of %zu characters.", bad, length);
}

void read_packed_bytes(struct decoder *d, const struct option *o, const json_t *value, const struct json_path *at,
                       struct read_value_target target)
{
    struct document_bytes *bytes = target.field;
    const struct document_bytes *cut = document_bytes(d->document, value);
    if (cut) {
        *bytes = *cut;
        return;
    }
    const char *text = read_value_text(d, value, at);
    if (!json_is_string(value))
        read_value_refuse(d, o, value, at);
    if (!text)
        return;
    size_t length = json_string_length(value);
    size_t count = base64_bytes(text, length);
    unsigned char *data = arena_alloc(d->arena, count + 1, d->err);
    if (data && !base64_decode(text, length, data))
        refuse_base64(d, text, length, at);
    else
        *bytes = (struct document_bytes){data, count};
}

/* --- the tensor --- */

static bool shape_of(struct decoder *d, const struct packed *p, const struct json_path *at, struct tensor *t)
{
    size_t shape[TENSOR_RANK_MAX];
    size_t bytes = dtype_size(dtypes[p->type]);
    if (p->shape.count > TENSOR_RANK_MAX)
        return json_path_fault(d->err, at, "has a shape of %zu sizes; %d are the most.", p->shape.count,
                               TENSOR_RANK_MAX);
    for (size_t a = 0; a < p->shape.count; a++) {
        shape[a] = (size_t)p->shape.values[a];
        if (!size_multiply(bytes, shape[a], &bytes))
            return error_set(d->err, ERROR_TOO_LARGE, "",
                             "A packed tensor's shape has more numbers than can be counted.");
    }
    *t = tensor_dense(dtypes[p->type], p->shape.count, shape, p->bytes.data);
    return decoder_count(d, tensor_count(*t));
}

static bool check_bytes(struct decoder *d, const struct packed *p, struct tensor t, const struct json_path *at)
{
    char shape[128];
    const struct json_path base64 = {.parent = at, .name = "base64"};
    size_t wanted = tensor_count(t) * dtype_size(t.dtype);
    return p->bytes.count == wanted || json_path_fault(d->err, &base64, "holds %zu bytes; shape %s of %s takes %zu.",
                                                       p->bytes.count, tensor_shape_text(t, shape, sizeof shape),
                                                       t.dtype == DTYPE_BOOL ? "uint8" : dtype_name(t.dtype), wanted);
}

static bool check_use(struct decoder *d, const struct packed *p, const struct json_path *at, enum raw_use use)
{
    const struct json_path dtype = {.parent = at, .name = "dtype"};
    bool booleans = dtypes[p->type] == DTYPE_BOOL;
    if (booleans && use != RAW_ALLOW)
        return json_path_fault(d->err, &dtype, "is \"uint8\", which is for mask.allow alone: send numbers as floats.");
    return booleans || use != RAW_ALLOW ||
           json_path_fault(d->err, &dtype, "must be \"uint8\": a byte for each, 1 = may attend, 0 = hidden.");
}

bool read_packed(struct decoder *d, const struct packed *p, const struct json_path *at, enum raw_use use,
                 struct tensor *out)
{
    struct tensor t = {0};
    if (!p->shape.values || !p->bytes.data) /* no memory for them */
        return false;
    if (!check_use(d, p, at, use) || !shape_of(d, p, at, &t) || !check_bytes(d, p, t, at))
        return false;
    return read_raw_owned(d, t, use, at, out);
}
