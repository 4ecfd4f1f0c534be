/* POST /v1/attention/merge: partial results over disjoint keys, joined. */
#ifndef API_JOIN_H
#define API_JOIN_H

#include "api/job.h"
#include "api/option.h"
#include "api/style.h"
#include "api/text.h"
#include "core/arena.h"
#include "core/merge.h"

struct join {
    enum dtype dtype;
    struct style style;
    const char *id;
    struct objects parts; /* of struct merge_part */
    struct merge_layout layout;
    struct tensor output, log_sum_exp;
};

/* The members of the request; they fill struct join. */
const struct option_table *join_table(void);

bool join_check(struct join *join, const struct job_limits *limits, struct error *err);
double join_flops(const struct join *join); /* a multiplication and an addition for each number of each part */
bool join_run(struct join *join, struct arena *arena, struct error *err);

/* {"output","log_sum_exp"} */
bool join_reply(const struct join *join, struct text *out);

#endif
