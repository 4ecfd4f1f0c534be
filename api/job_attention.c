/* POST /v1/attention, and POST /v1/attention/explain, which computes the same and tells one cell of it. */
#include "api/job_attention.h"

#include "api/explain/explain.h"
#include "api/picture/picture.h"
#include "api/reply/reply_json.h"
#include "api/text/reply_text.h"
#include "core/backward/embedding.h"
#include "core/cost.h"

#include <string.h>

static struct attention_job *state_of(struct job *job)
{
    return (struct attention_job *)(void *)job->state;
}

static const struct attention_job *read_state(const struct job *job)
{
    return (const struct attention_job *)(const void *)job->state;
}

/* --- the forms of a reply --- */

/* How a reply is written. */
struct writing {
    const char *media_type;
    bool (*prepare)(struct reply *reply, struct arena *arena, struct error *err); /* after computing; NULL: nothing */
    const char *for_people; /* "in plain text"; NULL: it is for programs */
    bool (*block)(const struct reply *reply, size_t index, struct buffer *out);
};

static bool write_text(const struct reply *reply, size_t index, struct buffer *out)
{
    (void)index;
    return reply_text_write(reply, REPLY_TEXT_PLAIN, out);
}

static bool write_shaded(const struct reply *reply, size_t index, struct buffer *out)
{
    (void)index;
    return reply_text_write(reply, REPLY_TEXT_SHADED, out);
}

static bool write_picture(const struct reply *reply, size_t index, struct buffer *out)
{
    (void)index;
    return picture_write(reply, out);
}

static const struct writing writings[JOB_FORMATS] = {
    [JOB_JSON] = {"application/json", reply_json_prepare, NULL, reply_json_block},
    [JOB_TEXT] = {"text/plain; charset=utf-8", NULL, "in plain text", write_text},
    [JOB_SHADED] = {"text/plain; charset=utf-8", NULL, "in plain text", write_shaded},
    [JOB_PICTURE] = {"image/svg+xml; charset=utf-8", NULL, "as a picture", write_picture},
};

static bool is_text(const struct job *job)
{
    return job->format == JOB_TEXT || job->format == JOB_SHADED;
}

/* --- decoding --- */

bool job_attention_decode(struct job *job, const struct document *document, const struct option_table *table,
                          struct error *err)
{
    struct options *options = &state_of(job)->options;
    if (job->defaults)
        memcpy(options, job->defaults, sizeof *options);
    else
        options_default(options);
    return job_decode(job, document, table, &options->attention.dtype, options, err);
}

static bool decode_attention(struct job *job, const struct document *document, struct error *err)
{
    return job_attention_decode(job, document, options_table(), err);
}

static bool decode_explain(struct job *job, const struct document *document, struct error *err)
{
    return job_attention_decode(job, document, options_explain_table(), err);
}

/* --- checks --- */

bool job_attention_check(struct job *job, struct error *err)
{
    struct attention_job *s = state_of(job);
    options_complete(&s->options);
    return embedding_check(&s->options.attention, err) && embedding_gather(&s->options.attention, job->arena, err) &&
           attention_check(&s->attention, &s->options.attention, err) && options_check(&s->options, &s->attention, err);
}

bool job_attention_plan(struct job *job, struct error *err)
{
    struct attention_job *s = state_of(job);
    return job_check_flops(job, err) &&
           reply_plan(&s->reply, &s->options, &s->attention, &job->limits, job->arena, err);
}

static bool check_attention(struct job *job, struct error *err)
{
    struct attention_job *s = state_of(job);
    const char *form = writings[job->format].for_people;
    if ((form && !options_for_people(&s->options, form, err)) || !job_attention_check(job, err))
        return false;
    return job_attention_plan(job, err) && (job->format != JOB_PICTURE || picture_check(&s->reply, err));
}

/* Whatever is included, explain computes the output alone, and one cell. */
static bool check_explain(struct job *job, struct error *err)
{
    struct attention_job *s = state_of(job);
    if (!job_attention_check(job, err))
        return false;
    s->options.include = (struct include){0};
    s->options.expect.count = 0;
    return explain_check(&s->options, &s->attention, err) && job_attention_plan(job, err);
}

/* --- what it takes --- */

double job_attention_flops(const struct job *job)
{
    const struct attention *a = &read_state(job)->attention;
    double flops = cost_count(a, cost_own(a)).total + way_back_flops(a);
    if (a->precision.on)
        flops *= 20;             /* each operation is several, and all is done four times */
    if (a->request->quantize.on) /* the exact result, and both once more to compare them */
        flops =
            4 * flops + quantize_flops(&a->quantized_k) + quantize_flops(&a->quantized_v) + attention_decode_flops(a);
    return flops;
}

size_t job_attention_numbers(const struct job *job)
{
    return read_state(job)->reply.sections.numbers;
}

/* Text and explanations show them always. */
static bool shows_keys(const struct job *job)
{
    return job->operations == job_explain() || is_text(job) || reply_shows_keys(&read_state(job)->reply);
}

static double price_drawing(const struct job *job)
{
    const struct reply *reply = &read_state(job)->reply;
    return job->format == JOB_PICTURE  ? picture_room(reply)
           : job->format == JOB_SHADED ? reply_text_shade_room(reply)
                                       : 0;
}

struct price job_attention_price(const struct job *job)
{
    bool explains = job->operations == job_explain();
    bool text = is_text(job);
    const struct price_order order = {.in_one_piece = explains || writings[job->format].for_people != NULL,
                                      .shows_keys = shows_keys(job),
                                      .tells_query = explains || text,
                                      .drawn = price_drawing(job)};
    return price_find(&read_state(job)->reply, order);
}

/* --- computing and encoding --- */

bool job_attention_compute(struct job *job, struct pool *pool, const atomic_bool *cancel, struct error *err)
{
    struct attention_job *s = state_of(job);
    s->attention.cancel = cancel;
    return attention_prepare(&s->attention, job->arena, pool, err) &&
           (!s->attention.inner || !shows_keys(job) || latent_expand(&s->attention, job->arena, pool, err)) &&
           (!reply_needs(&s->reply, RESULT_STEPS_CONTRIBUTION_NORMS) ||
            attention_norms(&s->attention, job->arena, err)) &&
           reply_compute(&s->reply, pool, cancel, job->arena, err);
}

static bool run_attention(struct job *job, struct pool *pool, const atomic_bool *cancel, struct error *err)
{
    const struct writing *writing = &writings[job->format];
    return job_attention_compute(job, pool, cancel, err) &&
           (!writing->prepare || writing->prepare(&state_of(job)->reply, job->arena, err));
}

static bool run_explain(struct job *job, struct pool *pool, const atomic_bool *cancel, struct error *err)
{
    struct attention_job *s = state_of(job);
    if (!job_attention_compute(job, pool, cancel, err))
        return false;
    job_text_begin(job);
    return explain_write(&s->options, &s->attention, s->attention.request->backward ? &s->reply.back.core : NULL,
                         is_text(job), job->arena, &job->text, err);
}

static size_t count_blocks(const struct job *job)
{
    return writings[job->format].for_people ? 1 : read_state(job)->reply.blocks;
}

static size_t count_block_room(const struct job *job)
{
    return reply_json_room(&read_state(job)->reply) + (size_t)price_rows(&read_state(job)->reply);
}

static bool write_block(const struct job *job, size_t index, struct buffer *out)
{
    return writings[job->format].block(&read_state(job)->reply, index, out);
}

static const char *find_media_type(const struct job *job)
{
    return writings[job->format].media_type;
}

static const char *find_explained_type(const struct job *job)
{
    return writings[is_text(job) ? JOB_TEXT : JOB_JSON].media_type;
}

/* --- the rows --- */

const struct job_operations *job_attention(void)
{
    static const struct job_operations operations = {
        .size = sizeof(struct attention_job),
        .cleared = offsetof(struct attention_job, attention),
        .decode = decode_attention,
        .check = check_attention,
        .flops = job_attention_flops,
        .numbers = job_attention_numbers,
        .price = job_attention_price,
        .run = run_attention,
        .blocks = count_blocks,
        .block = write_block,
        .block_room = count_block_room,
        .media_type = find_media_type,
    };
    return &operations;
}

const struct job_operations *job_explain(void)
{
    static const struct job_operations operations = {
        .size = sizeof(struct attention_job),
        .cleared = offsetof(struct attention_job, attention),
        .decode = decode_explain,
        .check = check_explain,
        .flops = job_attention_flops,
        .numbers = job_attention_numbers,
        .price = job_attention_price,
        .run = run_explain,
        .blocks = job_one_block,
        .block = job_text_block,
        .media_type = find_explained_type,
    };
    return &operations;
}
