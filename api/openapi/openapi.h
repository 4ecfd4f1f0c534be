/* The OpenAPI 3.1 document of the service, from the tables that requests are read by. */
#ifndef API_OPENAPI_OPENAPI_H
#define API_OPENAPI_OPENAPI_H

#include "api/numbers/buffer.h"

#include <stdbool.h>

/* Appends the document; false when there is no memory. */
bool openapi_text(struct buffer *out);

#endif
