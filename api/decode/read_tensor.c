/* Nested arrays become tensors in place: what the document read as doubles is narrowed where it lies. */
#include "api/decode/read_tensor.h"

#include "api/decode/read_value.h"

#include <math.h>
#include <string.h>

static struct tensor view_matrix(const struct matrix *m)
{
    return tensor_dense(DTYPE_FLOAT64, m->rank, m->shape, m->values);
}

/* Stores go through memcpy: the narrow values overlay the wide ones that were already read. */
static void narrow_to_bool(struct tensor t)
{
    const double *values = t.data;
    size_t count = tensor_count(t);
    for (size_t x = 0; x < count; x++) {
        unsigned char narrow = values[x] != 0;
        memcpy((char *)t.data + x, &narrow, 1);
    }
}

/* Gives the unused rest of the doubles back. */
static void settle(struct decoder *d, struct tensor t, enum dtype dtype, struct tensor *out)
{
    void *data = t.data;
    if (dtype != DTYPE_FLOAT64)
        data = arena_resize(d->arena, t.data, tensor_count(t) * dtype_size(dtype), d->err);
    if (data)
        *out = tensor_dense(dtype, t.rank, t.shape, data);
}

static void read_numbers(struct decoder *d, const struct matrix *m, const struct json_path *at, bool hides,
                         struct tensor *out)
{
    struct tensor t = view_matrix(m);
    if (m->has_booleans) {
        decoder_fault_at(d, t, m->first_boolean, at, "is a boolean; it must be a number.");
        return;
    }
    if (m->has_hidden && !hides) {
        decoder_fault_at(d, t, m->first_hidden, at,
                         "is not a finite number; only mask.bias takes null and \"-Infinity\".");
        return;
    }
    for (size_t x = 0; *d->dtype == DTYPE_FLOAT32 && x < m->float_count; x++)
        m->values[m->floats[x].position] = (double)m->floats[x].value;
    if (*d->dtype == DTYPE_FLOAT32 && !decoder_narrow(d, t, at))
        return;
    settle(d, t, *d->dtype, out);
}

static void read_booleans(struct decoder *d, const struct matrix *m, const struct json_path *at, struct tensor *out)
{
    struct tensor t = view_matrix(m);
    if (m->has_numbers) {
        decoder_fault_at(
            d, t, m->first_number, at,
            "is a number; allow takes booleans only: true = may attend, false = hidden. 0 and 1 are refused "
            "because other libraries read them the other way round.");
        return;
    }
    if (m->has_hidden) {
        decoder_fault_at(d, t, m->first_hidden, at, "is null; it must be true or false.");
        return;
    }
    narrow_to_bool(t);
    settle(d, t, DTYPE_BOOL, out);
}

static bool is_minus_infinity(const json_t *value)
{
    const char *text = json_string_value(value);
    return json_is_null(value) || (text && strcmp(text, "-Infinity") == 0);
}

/* A flat list that begins with "-Infinity" could be one of labels, so the document has left it as it is. */
static void read_list(struct decoder *d, const json_t *list, const struct json_path *at, struct tensor *out)
{
    size_t count = json_array_size(list);
    struct matrix m = {.rank = 1, .shape = {count}, .count = count, .has_hidden = true};
    size_t index;
    json_t *entry;
    m.values = decoder_count(d, count) ? arena_calloc(d->arena, count, sizeof *m.values, d->err) : NULL;
    if (!m.values)
        return;
    json_array_foreach((json_t *)list, index, entry)
    {
        const struct json_path element = {.parent = at, .index = &index, .rank = 1};
        m.values[index] = is_minus_infinity(entry) ? -HUGE_VAL : json_number_value(entry);
        if (is_minus_infinity(entry) || json_is_number(entry))
            continue;
        json_path_fault(d->err, &element, "is %s; it must be a number, null or \"-Infinity\".",
                        read_value_type(d, entry));
        return;
    }
    read_numbers(d, &m, at, true, out);
}

/* An array that begins with something else than a number is no matrix to the document: what it begins with is named. */
static void refuse_other(struct decoder *d, const struct option *option, const json_t *value,
                         const struct json_path *at)
{
    static const size_t first[TENSOR_RANK_MAX];
    struct json_path element = {.parent = at, .index = first};
    const json_t *leaf = value;
    for (; json_is_array(leaf) && element.rank < TENSOR_RANK_MAX; element.rank++)
        leaf = json_array_get(leaf, 0);
    if (element.rank == 0 || !json_is_string(leaf))
        read_value_refuse(d, option, value, at);
    else
        json_path_fault(d->err, &element, "is a string; it must be %s.",
                        option->kind == OPTION_ALLOW  ? "true or false"
                        : option->kind == OPTION_BIAS ? "a number, null or \"-Infinity\""
                                                      : "a number");
}

void read_tensor(struct decoder *d, const struct option *option, const json_t *value, const struct json_path *at,
                 struct tensor *out)
{
    const struct matrix *m = document_matrix(d->document, value);
    if (!m && option->kind == OPTION_BIAS && is_minus_infinity(json_array_get(value, 0))) {
        read_list(d, value, at, out);
        return;
    }
    if (!m) {
        refuse_other(d, option, value, at);
        return;
    }
    if (!decoder_is_regular(d, m, at) || !decoder_count(d, m->count))
        return;
    if (option->kind == OPTION_ALLOW)
        read_booleans(d, m, at, out);
    else
        read_numbers(d, m, at, option->kind == OPTION_BIAS, out);
}
