/* Refusing shapes. */
#include "core/tensor/shape_error.h"

bool shape_error_refuse(struct named_tensor input, const char *why, struct error *err)
{
    char shape[SHAPE_ERROR_TEXT];
    return error_set(err, ERROR_INVALID, input.name, "%s has shape %s; %s.", input.name,
                     tensor_shape_text(input.t, shape, sizeof shape), why);
}

bool shape_error_same_extent(struct named_tensor a, size_t a_extent, struct named_tensor b, size_t b_extent,
                             const char *what, struct error *err)
{
    char first[SHAPE_ERROR_TEXT];
    char second[SHAPE_ERROR_TEXT];
    return a_extent == b_extent ||
           error_set(err, ERROR_INVALID, b.name,
                     "%s and %s must agree in %s: %s has %zu and %s has %zu (shapes %s and %s).", a.name, b.name, what,
                     a.name, a_extent, b.name, b_extent, tensor_shape_text(a.t, first, sizeof first),
                     tensor_shape_text(b.t, second, sizeof second));
}

bool shape_error_present(struct named_tensor input, const char *form, struct error *err)
{
    return input.t.data || error_set(err, ERROR_INVALID, input.name, "%s is missing: %s.", input.name, form);
}
