/* Reading one array of numbers, booleans and nulls from text, without a tree. For document.c. */
#ifndef API_JSON_MATRIX_H
#define API_JSON_MATRIX_H

#include "api/json/matrix_reader.h"

enum matrix_step matrix_read(struct matrix_reader *r);

#endif
