/* The schema of one value: what an option takes. */
#ifndef API_OPENAPI_SCHEMA_TYPE_H
#define API_OPENAPI_SCHEMA_TYPE_H

#include "api/request/option.h"
#include "api/writing/writer.h"

/* Members ("type", "enum", "minimum", "$ref" ...) of an open object. */
void schema_type(struct writer *w, const struct option *option);

#endif
