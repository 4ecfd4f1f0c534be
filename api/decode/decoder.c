/* Counts and faults that the readers share. */
#include "api/decode/decoder.h"

#include <math.h>
#include <string.h>

/* The least magnitude that rounds to infinity in float32. */
#define FLOAT32_OVERFLOW 0x1.ffffffp127

bool decoder_count(struct decoder *d, size_t count)
{
    d->elements = count > (size_t)-1 - d->elements ? (size_t)-1 : d->elements + count;
    return d->elements <= d->elements_max ||
           error_set(d->err, ERROR_TOO_LARGE, "",
                     "The tensors of the request hold at least %zu numbers; the limit is %zu (--max-elements).",
                     d->elements, d->elements_max);
}

bool decoder_is_regular(struct decoder *d, const struct matrix *m, const struct json_path *at)
{
    const struct json_path element = {.parent = at, .index = m->index, .rank = m->index_rank};
    switch (m->fault) {
    case MATRIX_GOOD:
        return true;
    case MATRIX_RAGGED:
        return json_path_fault(d->err, &element,
                               "has length %zu; its first sibling has length %zu. All rows must be equally long.",
                               m->found, m->expected);
    case MATRIX_NESTED:
        return json_path_fault(d->err, &element,
                               "mixes rows and numbers: all entries of an array must be of one kind.");
    case MATRIX_ELEMENT:
        return json_path_fault(
            d->err, &element,
            "is neither a number nor an array of numbers (in mask.bias, null or \"-Infinity\" hides).");
    case MATRIX_EMPTY:
        return json_path_fault(d->err, &element, "is empty; every size must be at least 1.");
    case MATRIX_RANK:
        return json_path_fault(d->err, &element, "is nested too deep: %d levels are the most.", TENSOR_RANK_MAX);
    }
    return false;
}

bool decoder_fault_at(struct decoder *d, struct tensor shape, size_t position, const struct json_path *at,
                      const char *text)
{
    size_t index[TENSOR_RANK_MAX];
    for (size_t a = shape.rank; a-- > 0; position /= shape.shape[a])
        index[a] = position % shape.shape[a];
    const struct json_path element = {.parent = at, .index = index, .rank = shape.rank};
    return json_path_fault(d->err, &element, "%s", text);
}

bool decoder_narrow(struct decoder *d, struct tensor t, const struct json_path *at)
{
    const double *values = t.data;
    size_t count = tensor_count(t);
    for (size_t x = 0; x < count; x++) {
        double value = values[x];
        if (fabs(value) >= FLOAT32_OVERFLOW && !isinf(value))
            return decoder_fault_at(d, t, x, at, DECODER_TOO_LARGE);
        float narrow = (float)value;
        memcpy((char *)t.data + x * sizeof narrow, &narrow, sizeof narrow);
    }
    return true;
}
