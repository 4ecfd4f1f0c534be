/* Reading the rows of a long matrix by several threads. For matrix.c. */
#ifndef API_JSON_MATRIX_PARALLEL_H
#define API_JSON_MATRIX_PARALLEL_H

#include "api/json/matrix_reader.h"

/* r->at is an opening bracket. When it opens one of many more rows like the rows before, moves behind all of them but
 * the last, or to the first that is different, as if they had been read one after the other: whatever is wrong is left
 * to be found so. */
void matrix_parallel(struct matrix_reader *r);

#endif
