/* Refusals as responses of the OpenAPI document, from the table of problems. */
#ifndef API_OPENAPI_SCHEMA_REFUSAL_H
#define API_OPENAPI_SCHEMA_REFUSAL_H

#include "api/writing/writer.h"

/* The members of "responses" that a path of these traits (endpoint.h) refuses with: one for each status. */
void schema_refusals(struct writer *w, unsigned traits);

#endif
