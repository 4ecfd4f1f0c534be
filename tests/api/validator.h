/* As much of JSON Schema 2020-12 as the service's OpenAPI document uses; an unknown keyword fails the test. */
#ifndef TESTS_API_VALIDATOR_H
#define TESTS_API_VALIDATOR_H

#include <jansson.h>
#include <stdbool.h>

/* Whether `value` is what `schema` says; references are looked up in `document`. `why` (200 bytes) tells what is not.
 */
bool validator_accepts(const json_t *document, const json_t *schema, const json_t *value, char *why);

/* The value at "#/components/schemas/Tensor", or NULL. */
const json_t *validator_find(const json_t *document, const char *reference);

#endif
