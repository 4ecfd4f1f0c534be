/* JSON Schema of the Open Inference Protocol. */
#ifndef API_OPENAPI_SCHEMA_INFER_H
#define API_OPENAPI_SCHEMA_INFER_H

#include "api/writing/writer.h"

/* Writes members of components/schemas: InferRequest, InferReply, InferError. */
void schema_infer(struct writer *w);

/* Writes the examples of a request body, a member each. */
void schema_infer_examples(struct writer *w);

#endif
