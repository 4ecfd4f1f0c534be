/* Tensors: strided views of row-major numbers. A view owns nothing. */
#ifndef CORE_TENSOR_TENSOR_H
#define CORE_TENSOR_TENSOR_H

#include <stdbool.h>
#include <stddef.h>

#define TENSOR_RANK_MAX 5

enum dtype {
    DTYPE_FLOAT64,
    DTYPE_FLOAT32,
    DTYPE_BOOL,  /* one byte, 0 or 1 */
    DTYPE_INT16, /* codes of a quantised cache */
    DTYPE_FLOAT16,
    DTYPE_BFLOAT16,
    DTYPE_INT64, /* the last three come in and go out; nothing is computed in them */
};

/* Strides count elements. data == NULL: absent. */
struct tensor {
    void *data;
    enum dtype dtype;
    size_t rank;
    size_t shape[TENSOR_RANK_MAX];
    size_t stride[TENSOR_RANK_MAX];
};

/* Bytes of one element. */
size_t dtype_size(enum dtype dtype);

/* "float64", "float32", "bool", "int16", "float16", "bfloat16" or "int64". */
const char *dtype_name(enum dtype dtype);

/* Element `at` as a double; the other way it is rounded to the dtype. */
double dtype_get(enum dtype dtype, const void *data, size_t at);
void dtype_set(enum dtype dtype, void *data, size_t at, double value);

/* The position of the first of `count` numbers that is not finite, or `count`. */
size_t dtype_find_overflow(enum dtype dtype, const void *data, size_t count);

/* A dense row-major view of `data`. */
struct tensor tensor_dense(enum dtype dtype, size_t rank, const size_t *shape, void *data);

/* Number of elements: the product of the shape (the maker has checked that it does not overflow). */
size_t tensor_count(struct tensor t);

/* Where a row of a [b][h][rows][width] tensor begins. */
void *tensor_row(struct tensor t, size_t b, size_t h, size_t row);

/* a * b, or false when it does not fit size_t. */
bool size_multiply(size_t a, size_t b, size_t *product);

/* Writes "[2][3][4]" into `out` and returns it. */
char *tensor_shape_text(struct tensor t, char *out, size_t size);

#endif
