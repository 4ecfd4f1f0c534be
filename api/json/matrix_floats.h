/* Floats are rounded once, from the text: what differs from rounding its doubles. For matrix.c. */
#ifndef API_JSON_MATRIX_FLOATS_H
#define API_JSON_MATRIX_FLOATS_H

#include "api/json/document.h"

/* Fills m->floats: the numbers of the matrix at `text`, none of whose elements are at fault, that are a little more or
 * less than the double halfway between two floats that they are rounded to. False and an error without memory. */
bool matrix_floats_find(struct matrix *m, const char *text, const char *end, struct arena *arena, struct error *err);

#endif
