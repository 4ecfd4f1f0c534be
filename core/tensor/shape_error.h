/* A tensor with the name it has in a request, and the refusals of its shape. */
#ifndef CORE_TENSOR_SHAPE_ERROR_H
#define CORE_TENSOR_SHAPE_ERROR_H

#include "core/tensor/error.h"
#include "core/tensor/tensor.h"

#define SHAPE_ERROR_TEXT 128 /* bytes of a shape in words */

struct named_tensor {
    const char *name;
    struct tensor t;
};

/* Each returns false with ERROR_INVALID, which names the tensor and its shape, unless all is well. */
bool shape_error_refuse(struct named_tensor input, const char *why, struct error *err);
bool shape_error_present(struct named_tensor input, const char *form, struct error *err);

/* Both are extents of the two tensors that must agree. */
bool shape_error_same_extent(struct named_tensor a, size_t a_extent, struct named_tensor b, size_t b_extent,
                             const char *what, struct error *err);

#endif
