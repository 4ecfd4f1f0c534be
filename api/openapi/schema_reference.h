/* References to schemas by their names. */
#ifndef API_OPENAPI_SCHEMA_REFERENCE_H
#define API_OPENAPI_SCHEMA_REFERENCE_H

#include "api/writing/writer.h"

/* {"$ref":"#/components/schemas/NAME"} as a value; its member, in an open object. */
void schema_reference(struct writer *w, const char *name);
void schema_reference_member(struct writer *w, const char *name);

#endif
