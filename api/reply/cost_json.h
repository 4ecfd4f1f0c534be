/* The member `cost` of a reply: the bill of core/cost.h for the request's head layout and for others beside it. */
#ifndef API_REPLY_COST_JSON_H
#define API_REPLY_COST_JSON_H

#include "api/writing/writer.h"
#include "core/cost.h"

/* Writes {"request":{..},"multi_head":{..},"grouped_query":{..},"multi_query":{..},"latent":{..}}, each with heads,
 * kv_heads (latent: latent_width, rotary_width), flops by step and in total, and score_bytes, cache_bytes_per_token,
 * cache_bytes in float32, float16 and int8. */
void cost_json_write(struct writer *w, const struct attention *a, const struct cost_plan *plan);

/* Its schema, as a value. */
const char *cost_json_schema(void);

#endif
