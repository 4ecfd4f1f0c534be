/* A tensor with the name it has in a request, and the refusals of its shape. */
#ifndef CORE_NAMED_H
#define CORE_NAMED_H

#include "core/error.h"
#include "core/tensor.h"

#define NAMED_SHAPE_TEXT 128 /* bytes of a shape in words */

struct named {
    const char *name;
    struct tensor t;
};

/* Each returns false with ERROR_INVALID, which names the tensor and its shape, unless all is well. */
bool named_refuse(struct named input, const char *why, struct error *err);
bool named_present(struct named input, const char *form, struct error *err);

/* Both are extents of the two tensors that must agree. */
bool named_same_extent(struct named a, size_t a_extent, struct named b, size_t b_extent, const char *what,
                       struct error *err);

#endif
