/* One input of a request: what it says of itself, held against what it brings. */
#ifndef API_INFER_INFER_TENSOR_H
#define API_INFER_INFER_TENSOR_H

#include "api/infer/infer_names.h"
#include "api/json/document.h"

struct infer_tensor {
    struct document *document; /* whose matrices its data are */
    struct arena *arena;
    struct error *err;
    struct infer_name name;
    struct tensor t; /* without data */
    size_t bytes;    /* as binary */
    bool binary;     /* it comes so */
};

/* Reads datatype and shape, and whether it comes as `data` or as a `size` of bytes, which have to fit; the last three
 * may be NULL: absent. */
bool infer_tensor_describe(struct infer_tensor *input, const char *datatype, const json_t *shape, const json_t *size,
                           const json_t *data);

/* A new value that stands for the numbers of `data` in that shape; NULL after a fault. */
json_t *infer_tensor_data(struct infer_tensor *input, const json_t *data);

#endif
