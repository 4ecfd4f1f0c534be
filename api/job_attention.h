/* What jobs that compute attention for one request share. For the files of this folder alone. */
#ifndef API_JOB_ATTENTION_H
#define API_JOB_ATTENTION_H

#include "api/job_operations.h"

/* Stands first in the state of such a job. */
struct attention_job {
    struct reply reply;
    struct attention attention;
    struct options options;
};

/* Reads the document into the options. */
bool job_attention_decode(struct job *job, const struct document *document, const struct option_table *table,
                          struct error *err);

/* Refuses what is wrong with the request, then what is with the reply that is asked for, which it plans. */
bool job_attention_check(struct job *job, struct error *err);
bool job_attention_plan(struct job *job, struct error *err);

double job_attention_flops(const struct job *job);
size_t job_attention_numbers(const struct job *job);
struct price job_attention_price(const struct job *job);

/* All that the reply needs in memory. */
bool job_attention_compute(struct job *job, struct pool *pool, const atomic_bool *cancel, struct error *err);

#endif
