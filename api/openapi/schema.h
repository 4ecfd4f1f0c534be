/* JSON Schema (2020-12, as OpenAPI 3.1 has it) of requests, from their option tables. */
#ifndef API_OPENAPI_SCHEMA_H
#define API_OPENAPI_SCHEMA_H

#include "api/request/option.h"
#include "api/writing/writer.h"

/* Each writes members of components/schemas: a table (with the members of its base) and those inside it (not those of
 * its base); the tensors that they refer to. */
void schema_request(struct writer *w, const struct option_table *table);
void schema_tensors(struct writer *w);

#endif
