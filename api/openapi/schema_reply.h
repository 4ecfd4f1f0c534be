/* JSON Schema of what the service answers. */
#ifndef API_OPENAPI_SCHEMA_REPLY_H
#define API_OPENAPI_SCHEMA_REPLY_H

#include "api/writing/writer.h"

/* Members of components/schemas: AttentionReply, ExplainReply, MergeReply, Problem. */
void schema_replies(struct writer *w);

#endif
