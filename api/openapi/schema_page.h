/* Schemas of the pages that are JSON: links, information, problems, examples. */
#ifndef API_OPENAPI_SCHEMA_PAGE_H
#define API_OPENAPI_SCHEMA_PAGE_H

#include "api/writing/writer.h"

/* Writes members of components/schemas. A page has all members of its schema, and no others. */
void schema_pages(struct writer *w);

#endif
