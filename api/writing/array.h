/* Tensors as nested JSON arrays, row by row. A row is the last axis; rows are counted through all other axes. */
#ifndef API_WRITING_ARRAY_H
#define API_WRITING_ARRAY_H

#include "api/numbers/buffer.h"
#include "api/writing/style.h"
#include "api/writing/writer.h"
#include "core/tensor/tensor.h"

#include <stddef.h>

size_t array_width(const struct tensor *t); /* numbers in a row */
size_t array_rows(const struct tensor *t);

/* What stands before and after row `row`: commas and brackets, so that rows written one after the other make the array.
 */
void array_open(struct buffer *out, const struct tensor *t, size_t row);
void array_close(struct buffer *out, const struct tensor *t, size_t row);

/* `count` numbers (or booleans) with commas between them: -infinity as the style says, NaN as null. */
void array_numbers(struct buffer *out, const struct style *style, enum dtype dtype, const void *values, size_t count);

/* At most how many bytes array_numbers writes for each of them, its comma included. */
size_t array_number_room(const struct style *style, enum dtype dtype);

/* One number of that dtype as the value that `w` expects after a key. */
void array_number(struct writer *w, const struct style *style, enum dtype dtype, double value);

/* The same as the next element of an open array. */
void array_next(struct writer *w, const struct style *style, enum dtype dtype, double value);

/* The packed spelling up to its base64 characters, which "\"}" follows. */
void array_packed(struct buffer *out, struct tensor t);

/* A dense tensor whole, in either spelling. */
void array_tensor(struct buffer *out, const struct style *style, struct tensor t);

#endif
