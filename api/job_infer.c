/* POST /v2/models/attention/infer: the Open Inference Protocol around the job of POST /v1/attention. */
#include "api/infer/infer_reply.h"
#include "api/job_attention.h"

/* Only `options` and `attention` of the first are written whole by decode and check. */
struct infer_job {
    struct attention_job attention;
    struct infer_request request;
    struct infer_reply reply;
};

static struct infer_job *state_of(struct job *job)
{
    return (struct infer_job *)(void *)job->state;
}

static const struct infer_job *read_state(const struct job *job)
{
    return (const struct infer_job *)(const void *)job->state;
}

static bool decode(struct job *job, const struct document *document, struct error *err)
{
    struct infer_job *s = state_of(job);
    struct document contract;
    bool good = infer_request_read(document, job->beside, job->arena, &contract, &s->request, err) &&
                job_attention_decode(job, &contract, options_table(), err);
    document_free(&contract);
    if (!good)
        return false;
    s->attention.options.has_include = true;
    infer_reply_include(&s->request, &s->attention.options.include);
    return true;
}

static bool check(struct job *job, struct error *err)
{
    struct infer_job *s = state_of(job);
    return job_attention_check(job, err) && job_attention_plan(job, err) &&
           infer_reply_plan(&s->reply, &s->attention.reply, &s->request, job->arena, err);
}

/* The text of a whole reply is there twice when it is sent. */
static struct price find_price(const struct job *job)
{
    struct price price = job_attention_price(job);
    price.text *= 2;
    return price;
}

static size_t measure_block(const struct job *job)
{
    const struct infer_job *s = read_state(job);
    return infer_reply_room(&s->reply) + (size_t)price_rows(&s->attention.reply);
}

static bool write_whole(struct job *job, struct error *err)
{
    if (read_state(job)->reply.blocks > 1)
        return true;
    job_text_begin(job);
    job->text.failed |= !infer_reply_block(&read_state(job)->reply, 0, &job->text);
    return buffer_check(&job->text, "the text of the reply", err);
}

static bool run(struct job *job, struct pool *pool, const atomic_bool *cancel, struct error *err)
{
    return job_attention_compute(job, pool, cancel, err) &&
           infer_reply_prepare(&state_of(job)->reply, job_block_room(job), pool, err) && write_whole(job, err);
}

static size_t count_blocks(const struct job *job)
{
    return read_state(job)->reply.blocks;
}

static bool write_block(const struct job *job, size_t index, struct buffer *out)
{
    const struct infer_job *s = read_state(job);
    return s->reply.blocks > 1 ? infer_reply_block(&s->reply, index, out) : job_text_block(job, index, out);
}

static const void *view_block(const struct job *job, size_t index, size_t *length)
{
    return infer_reply_view(&read_state(job)->reply, index, length);
}

static size_t measure_reply(const struct job *job)
{
    return read_state(job)->reply.length;
}

static size_t measure_json(const struct job *job)
{
    return read_state(job)->reply.json_length;
}

static const char *find_media_type(const struct job *job)
{
    return infer_reply_is_binary(&read_state(job)->reply) ? "application/octet-stream" : "application/json";
}

const struct job_operations *job_infer(void)
{
    static const struct job_operations operations = {
        .size = sizeof(struct infer_job),
        .cleared = sizeof(struct infer_job),
        .splits = true,
        .decode = decode,
        .check = check,
        .flops = job_attention_flops,
        .numbers = job_attention_numbers,
        .price = find_price,
        .run = run,
        .blocks = count_blocks,
        .block = write_block,
        .block_room = measure_block,
        .media_type = find_media_type,
        .view = view_block,
        .length = measure_reply,
        .json_length = measure_json,
    };
    return &operations;
}
