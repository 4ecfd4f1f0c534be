/* Refusing shapes. */
#include "core/named.h"

bool named_refuse(struct named input, const char *why, struct error *err)
{
    char shape[NAMED_SHAPE_TEXT];
    return error_set(err, ERROR_INVALID, input.name, "%s has shape %s; %s.", input.name,
                     tensor_shape_text(input.t, shape, sizeof shape), why);
}

bool named_same_extent(struct named a, size_t a_extent, struct named b, size_t b_extent, const char *what,
                       struct error *err)
{
    char first[NAMED_SHAPE_TEXT];
    char second[NAMED_SHAPE_TEXT];
    return a_extent == b_extent ||
           error_set(err, ERROR_INVALID, b.name, "%s has %s %zu and %s has %zu (shapes %s and %s); they must be equal.",
                     a.name, what, a_extent, b.name, b_extent, tensor_shape_text(a.t, first, sizeof first),
                     tensor_shape_text(b.t, second, sizeof second));
}

bool named_present(struct named input, const char *form, struct error *err)
{
    return input.t.data || error_set(err, ERROR_INVALID, input.name, "%s is missing: %s.", input.name, form);
}
