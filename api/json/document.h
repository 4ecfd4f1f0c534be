/* A JSON document whose arrays of numbers went straight from text into tensors; jansson has the rest. */
#ifndef API_JSON_DOCUMENT_H
#define API_JSON_DOCUMENT_H

#include "api/json/read_context.h"
#include "api/numbers/buffer.h"
#include "core/tensor/arena.h"
#include "core/tensor/error.h"
#include "core/tensor/tensor.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define DOCUMENT_DEPTH_MAX 32

/* Why an array cut out of the text is no tensor (first fault in reading order). The text around it was still checked.
 */
enum matrix_fault {
    MATRIX_GOOD,
    MATRIX_RAGGED,  /* a row is longer or shorter than its first sibling: `index` is that row, `expected` and `found`
                       lengths */
    MATRIX_NESTED,  /* a row among numbers or a number among rows: `index` is that element */
    MATRIX_ELEMENT, /* neither number, boolean, null nor "-Infinity": `index` is that element */
    MATRIX_EMPTY,   /* an array without elements: `index` is that array */
    MATRIX_RANK,    /* nested deeper than TENSOR_RANK_MAX */
};

/* The float nearest to a number whose double lies halfway between two. */
struct matrix_float {
    size_t position;
    float value;
};

/* The bytes of a long base64 string, the value of a member "base64". */
struct document_bytes {
    unsigned char *data; /* arena block; the taker may use it as it is */
    size_t count;
};

/* One array of numbers, booleans or nulls. Values are doubles in reading order: false 0, true 1, null and "-Infinity"
 * are -inf. */
struct matrix {
    double *values; /* arena block; the taker may narrow it in place and resize it */
    size_t count;
    size_t rank;
    size_t shape[TENSOR_RANK_MAX];
    bool has_numbers, has_booleans, has_hidden;       /* hidden: null or "-Infinity" */
    size_t first_number, first_boolean, first_hidden; /* position of the first of each */
    struct matrix_float *floats; /* numbers that another float is nearest to than to their double */
    size_t float_count;
    enum matrix_fault fault;
    size_t index[TENSOR_RANK_MAX + 1]; /* where the fault is; index_rank entries */
    size_t index_rank;
    size_t expected, found;
    struct document_bytes bytes; /* data != NULL: no array at all, but such a string */
    struct tensor beside;        /* data != NULL: no array at all, but a tensor that came beside the text */
};

struct document {
    json_t *root; /* a reference, to be read only; every cut-out array stands there as an array of one real, the number
                     of its matrix */
    struct matrix *matrices;
    size_t matrix_count;
    bool huge; /* for document_free */
};

/* The last outline a thread has read, and its tree: of texts that differ in their matrices alone only the first is
 * parsed. Zero-initialise; never used by two threads at a time. */
struct document_memory {
    struct buffer text;
    json_t *root;
};

void document_forget(struct document_memory *memory);

/* Reads `length` bytes. false with ERROR_SYNTAX (line, column, byte set) for anything that RFC 8259 or this service
 * refuses: grammar, bytes after the value, a NUL byte, a BOM, bad UTF-8, nesting past DOCUMENT_DEPTH_MAX, a repeated
 * member, a number beyond double. Everything but document->root lives in the arena. Numbers outside matrices are JSON
 * reals, so that -0 and 2.0 keep what they are. Long matrices are read by all of the pool. */
bool document_read(struct document *document, const char *text, size_t length, struct read_context context,
                   struct arena *arena, struct error *err);
void document_free(struct document *document);

/* The matrix that `value` stands for, or NULL when it is something else. */
struct matrix *document_matrix(const struct document *document, const json_t *value);

/* The bytes of the base64 string that was cut out for `value`, or NULL when it is something else: a short or wrong
 * string stays one. */
struct document_bytes *document_bytes(const struct document *document, const json_t *value);

/* A new value that stands for a dense tensor beside the text, whose bytes need not be aligned and must last as long as
 * what is read from the document. NULL and an error when there is no memory. */
json_t *document_add_tensor(struct document *document, struct tensor tensor, struct arena *arena, struct error *err);

/* The tensor beside the text that `value` stands for, or NULL when it is something else. */
const struct tensor *document_tensor(const struct document *document, const json_t *value);

#endif
