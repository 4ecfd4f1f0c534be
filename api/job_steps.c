/* POST /v1/decode: requests one after another, the present of each the past of the next. */
#include "api/job_operations.h"

#include "api/reply/reply_json.h"
#include "api/request/options.h"
#include "core/backward/embedding.h"
#include "core/cost.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TEXT "the text of the reply"
#define TEXT_BESIDE 4096.0 /* bytes of a step's reply that are not numbers, usually */

/* One step: what the job of POST /v1/attention has. */
struct step {
    struct attention attention;
    struct reply reply;
};

struct steps_job {
    struct steps_request request;
    struct step *steps;
};

static struct steps_job *state_of(struct job *job)
{
    return (struct steps_job *)(void *)job->state;
}

static const struct steps_job *read_state(const struct job *job)
{
    return (const struct steps_job *)(const void *)job->state;
}

static struct options *options_at(const struct steps_job *s, size_t index)
{
    return (struct options *)s->request.steps.items + index;
}

static bool decode(struct job *job, const struct document *document, struct error *err)
{
    struct steps_job *s = state_of(job);
    return job_decode(job, document, options_steps_table(), &s->request.unused, s, err);
}

/* --- checks --- */

/* Faults of a step stand under /steps/INDEX. */
static bool place_faults(struct error *err, size_t index)
{
    for (size_t f = 0; f < err->count; f++) {
        char name[sizeof err->faults[f].name];
        const char *old = err->faults[f].name;
        if (snprintf(name, sizeof name,
                     old[0] == '/' ? "/steps/%zu%s"
                     : old[0]      ? "steps.%zu.%s"
                                   : "steps.%zu",
                     index, old) < (int)sizeof name)
            memcpy(err->faults[f].name, name, sizeof name);
    }
    return false;
}

static bool refuse(struct error *err, const char *name, const char *why)
{
    return error_set(err, ERROR_INVALID, name, "%s", why);
}

/* Rows of one width for each key of the step before, with the axes that its reply has. */
static struct tensor past_of(const struct attention *a, bool by_head, size_t width, void *there)
{
    const size_t shape[4] = {a->batch, a->kv_heads, a->keys, width};
    size_t own[4];
    size_t rank = 0;
    for (size_t axis = 0; axis < 4; axis++)
        if ((axis != 0 || a->has_batch) && (axis != 1 || (by_head && a->has_heads)))
            own[rank++] = shape[axis];
    return tensor_dense(a->dtype, rank, own, there);
}

/* The shapes of what the step before leaves; `there` stands for numbers that are made later. */
static void take_past_shape(struct attention_request *r, const struct step *before, void *there)
{
    const struct attention *a = &before->attention;
    if (a->request->latent.on) {
        r->past_latent = past_of(a, false, a->latent.d_c, there);
        r->past_rope_key = past_of(a, false, a->latent.d_r, there);
    } else {
        r->past_k = past_of(a, true, a->d_k, there);
        r->past_v = past_of(a, true, a->d_v, there);
    }
}

static bool check_follows(const struct steps_job *s, size_t index, struct error *err)
{
    const struct attention_request *r = &options_at(s, index)->attention;
    const struct attention_request *first = &options_at(s, 0)->attention;
    if (index == 0)
        return true;
    if (r->past_k.data || r->past_v.data || r->past_latent.data || r->past_rope_key.data)
        return refuse(err, "past", "The present of the step before is its past: only the first step may have one.");
    return r->dtype == first->dtype || refuse(err, "dtype", "All steps have the dtype of the first.");
}

static bool check_step(struct job *job, size_t index, struct error *err)
{
    struct steps_job *s = state_of(job);
    struct options *o = options_at(s, index);
    struct step *step = &s->steps[index];
    options_complete(o);
    if (!o->has_include && !o->include.part[PART_OUTPUT])
        o->include.part[PART_OUTPUT] = o->include.part[PART_WEIGHTS] = true;
    if (!check_follows(s, index, err))
        return false;
    if (index > 0)
        take_past_shape(&o->attention, step - 1, s);
    return embedding_check(&o->attention, err) && embedding_gather(&o->attention, job->arena, err) &&
           attention_check(&step->attention, &o->attention, err) && options_check(o, &step->attention, err) &&
           reply_plan(&step->reply, o, &step->attention, &job->limits, job->arena, err);
}

static size_t count_numbers(const struct job *job)
{
    const struct steps_job *s = read_state(job);
    size_t numbers = 0;
    for (size_t x = 0; x < s->request.steps.count; x++)
        numbers += s->steps[x].reply.sections.numbers;
    return numbers;
}

static bool check(struct job *job, struct error *err)
{
    struct steps_job *s = state_of(job);
    s->steps = arena_calloc(job->arena, s->request.steps.count, sizeof *s->steps, err);
    if (!s->steps)
        return false;
    for (size_t x = 0; x < s->request.steps.count; x++)
        if (!check_step(job, x, err))
            return place_faults(err, x);
    if (count_numbers(job) > job->limits.reply_elements)
        return error_set(err, ERROR_TOO_LARGE, "steps",
                         "The replies would hold %zu numbers; the limit is %zu (--max-reply-elements).",
                         count_numbers(job), job->limits.reply_elements);
    return job_check_flops(job, err);
}

/* --- what it takes --- */

static double count_flops(const struct job *job)
{
    const struct steps_job *s = read_state(job);
    double flops = 0;
    for (size_t x = 0; s->steps && x < s->request.steps.count; x++) {
        const struct attention *a = &s->steps[x].attention;
        flops += cost_count(a, cost_own(a)).total + way_back_flops(a);
    }
    return flops;
}

/* What the next step gets of this one. */
static double price_handed(const struct attention *a)
{
    bool latent = a->request->latent.on;
    double keys = (double)a->batch * (double)a->keys;
    double width = latent ? (double)(a->latent.d_c + a->latent.d_r) : (double)a->kv_heads * (double)(a->d_k + a->d_v);
    return (double)dtype_size(a->dtype) * keys * width;
}

/* All stays until the reply is made but scratch, and rows that are computed again. */
static void add_step(struct price *sum, double *rows, const struct step *step)
{
    struct price price = price_find(&step->reply, (struct price_order){.shows_keys = reply_shows_keys(&step->reply)});
    sum->operands += price.operands;
    sum->lasting += price.lasting;
    sum->results += price.results + price_handed(&step->attention);
    sum->scratch = fmax(sum->scratch, price.scratch);
    sum->text += TEXT_BESIDE + price_numbers(&step->reply);
    *rows = fmax(*rows, price_rows(&step->reply));
}

/* The text is there twice when it is sent. */
static struct price find_price(const struct job *job)
{
    const struct steps_job *s = read_state(job);
    struct price sum = {0};
    double rows = 0;
    for (size_t x = 0; x < s->request.steps.count; x++)
        add_step(&sum, &rows, &s->steps[x]);
    sum.text = 2 * sum.text + rows;
    return sum;
}

/* --- computing --- */

/* The view without holes: a past is dense. */
static bool copy_dense(struct tensor view, struct tensor *past, struct arena *arena, struct error *err)
{
    size_t size = dtype_size(view.dtype);
    char *to = arena_alloc(arena, tensor_count(*past) * size, err);
    past->data = to;
    if (!to)
        return false;
    for (size_t b = 0; b < view.shape[0]; b++)
        for (size_t h = 0; h < view.shape[1]; h++)
            for (size_t x = 0; x < view.shape[2]; x++, to += view.shape[3] * size)
                memcpy(to,
                       (const char *)view.data + size * (b * view.stride[0] + h * view.stride[1] + x * view.stride[2]),
                       view.shape[3] * size);
    return true;
}

static bool hand_on(struct job *job, size_t index, struct error *err)
{
    struct steps_job *s = state_of(job);
    const struct attention *a = &s->steps[index].attention;
    struct attention_request *next = &options_at(s, index + 1)->attention;
    if (a->request->latent.on)
        return copy_dense(result_tensor(a, RESULT_PRESENT_LATENT), &next->past_latent, job->arena, err) &&
               copy_dense(result_tensor(a, RESULT_PRESENT_ROPE_KEY), &next->past_rope_key, job->arena, err);
    return copy_dense(result_tensor(a, RESULT_PRESENT_K), &next->past_k, job->arena, err) &&
           copy_dense(result_tensor(a, RESULT_PRESENT_V), &next->past_v, job->arena, err);
}

/* The line that POST /v1/attention would give, without its end. */
static bool write_reply(struct job *job, size_t index, struct error *err)
{
    const struct reply *reply = &read_state(job)->steps[index].reply;
    struct buffer *text = &job->text;
    bool good = true;
    job_text_begin(job);
    buffer_string(text, index == 0 ? "{\"steps\":[" : ",");
    for (size_t block = 0; good && block < reply->blocks; block++)
        good = reply_json_block(reply, block, text) || buffer_check(text, TEXT, err);
    if (good && text->length > 0 && text->data[text->length - 1] == '\n')
        text->length--;
    return good;
}

static bool run_step(struct job *job, size_t index, struct pool *pool, const atomic_bool *cancel, struct error *err)
{
    struct steps_job *s = state_of(job);
    struct step *step = &s->steps[index];
    bool norms = reply_needs(&step->reply, RESULT_STEPS_CONTRIBUTION_NORMS);
    bool expands = step->attention.request->latent.absorbed && reply_shows_keys(&step->reply);
    step->attention.cancel = cancel;
    return attention_prepare(&step->attention, job->arena, pool, err) &&
           (!expands || latent_expand(&step->attention, job->arena, pool, err)) &&
           (!norms || attention_norms(&step->attention, job->arena, err)) &&
           reply_compute(&step->reply, pool, cancel, job->arena, err) &&
           reply_json_prepare(&step->reply, job->arena, err) && write_reply(job, index, err) &&
           (index + 1 == s->request.steps.count || hand_on(job, index, err));
}

static bool run(struct job *job, struct pool *pool, const atomic_bool *cancel, struct error *err)
{
    struct steps_job *s = state_of(job);
    for (size_t x = 0; x < s->request.steps.count; x++)
        if (!run_step(job, x, pool, cancel, err))
            return place_faults(err, x);
    buffer_string(&job->text, "]}\n");
    return buffer_check(&job->text, TEXT, err);
}

static size_t measure_block(const struct job *job)
{
    return job->text.length;
}

const struct job_operations *job_steps(void)
{
    static const struct job_operations operations = {
        .size = sizeof(struct steps_job),
        .cleared = sizeof(struct steps_job),
        .decode = decode,
        .check = check,
        .flops = count_flops,
        .numbers = count_numbers,
        .price = find_price,
        .run = run,
        .blocks = job_one_block,
        .block = job_text_block,
        .block_room = measure_block,
        .media_type = job_json_type,
    };
    return &operations;
}
