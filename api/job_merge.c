/* POST /v1/attention/merge. */
#include "api/job_operations.h"

#include "api/request/merge_request.h"
#include "api/writing/array.h"

#define TEXT_BESIDE 4096.0 /* bytes of a reply that are not numbers */

static struct merge_request *state_of(struct job *job)
{
    return (struct merge_request *)(void *)job->state;
}

static const struct merge_request *read_state(const struct job *job)
{
    return (const struct merge_request *)(const void *)job->state;
}

static bool decode(struct job *job, const struct document *document, struct error *err)
{
    struct merge_request *merge = state_of(job);
    return job_decode(job, document, merge_request_table(), &merge->dtype, merge, err);
}

static bool check(struct job *job, struct error *err)
{
    return merge_request_check(state_of(job), &job->limits, err) && job_check_flops(job, err);
}

static double count_flops(const struct job *job)
{
    return merge_request_flops(read_state(job));
}

static size_t count_numbers(const struct job *job)
{
    return tensor_count(read_state(job)->output) + tensor_count(read_state(job)->log_sum_exp);
}

/* The decimals of style are those of the request; the text of a number is no longer than that of a double. */
static struct price find_price(const struct job *job)
{
    double numbers = (double)count_numbers(job);
    size_t length = array_number_room(&read_state(job)->style, DTYPE_FLOAT64);
    return (struct price){.results = numbers * sizeof(double), .text = TEXT_BESIDE + numbers * (double)length};
}

static bool run(struct job *job, struct pool *pool, const atomic_bool *cancel, struct error *err)
{
    (void)pool;
    (void)cancel;
    return merge_request_run(state_of(job), job->arena, err);
}

static bool write_block(const struct job *job, size_t index, struct buffer *out)
{
    (void)index;
    return merge_request_reply(read_state(job), out);
}

const struct job_operations *job_merge(void)
{
    static const struct job_operations operations = {
        .size = sizeof(struct merge_request),
        .cleared = sizeof(struct merge_request),
        .decode = decode,
        .check = check,
        .flops = count_flops,
        .numbers = count_numbers,
        .price = find_price,
        .run = run,
        .blocks = job_one_block,
        .block = write_block,
        .media_type = job_json_type,
    };
    return &operations;
}
