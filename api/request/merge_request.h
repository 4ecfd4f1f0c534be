/* POST /v1/attention/merge: partial results over disjoint keys, joined. */
#ifndef API_REQUEST_MERGE_REQUEST_H
#define API_REQUEST_MERGE_REQUEST_H

#include "api/numbers/buffer.h"
#include "api/request/limits.h"
#include "api/request/option.h"
#include "api/writing/style.h"
#include "core/forward/merge.h"
#include "core/tensor/arena.h"

struct merge_request {
    enum dtype dtype;
    struct style style;
    const char *id;
    struct objects parts; /* of struct merge_part */
    struct merge_layout layout;
    struct tensor output, log_sum_exp;
};

/* The members of the request; they fill struct merge_request. */
const struct option_table *merge_request_table(void);

bool merge_request_check(struct merge_request *merge, const struct request_limits *limits, struct error *err);
double merge_request_flops(
    const struct merge_request *merge); /* a multiplication and an addition for each number of each part */
bool merge_request_run(struct merge_request *merge, struct arena *arena, struct error *err);

/* {"output","log_sum_exp"} */
bool merge_request_reply(const struct merge_request *merge, struct buffer *out);

#endif
