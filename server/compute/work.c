/* A computation between a connection and the pool. */
#include "server/compute/work.h"

#include "api/writing/indent.h"

#include "server/coding/content_packing.h"
#include "server/http/request_id.h"
#include "server/service/service.h"
#include "server/watch/clock.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define TINY_BODY ((size_t)16 * 1024)
#define TINY_WORK 50e3                   /* operations: a few times what a thread hop costs */
#define BRIEF_BODY ((size_t)1024 * 1024) /* read in a few milliseconds */
#define BRIEF_WORK 300e6                 /* operations: about ten milliseconds */
#define BRIEF_ROOM ((double)(16 << 20))  /* bytes: they come on top of --request-memory for each worker */

enum work_state {
    WORK_PENDING,
    WORK_DONE,     /* the result is there */
    WORK_GIVEN_UP, /* and what the client is told is added to this */
};

struct work {
    struct service *service;
    struct MHD_Connection *connection;
    struct work_order order;
    char request_id[REQUEST_ID_SIZE];
    struct buffer body;
    size_t charged; /* for the body until it is decoded, and for a job that waits again */
    bool bomb;      /* the body unpacks to more than --max-body */
    bool computed;  /* what is left to do is packing */
    bool submitted; /* the event thread's */
    int64_t queued; /* when */
    struct work_result result;
    atomic_int state; /* enum work_state */
    atomic_bool cancel;
    atomic_int holders;
};

struct work *work_new(struct service *service, struct MHD_Connection *connection, const struct work_order *order,
                      struct buffer *body, size_t *charged)
{
    struct work *work = calloc(1, sizeof *work);
    if (!work)
        return NULL;
    work->service = service;
    work->connection = connection;
    work->order = *order;
    work->order.request_id = strncpy(work->request_id, order->request_id, sizeof work->request_id - 1);
    work->body = *body;
    work->charged = *charged;
    *body = (struct buffer){0};
    *charged = 0;
    atomic_init(&work->state, WORK_PENDING);
    atomic_init(&work->holders, 1);
    return work;
}

static void hold(void *context)
{
    struct work *work = context;
    atomic_fetch_add(&work->holders, 1);
}

/* What it was charged for waiting; the body goes with its text. */
static void give_back(struct work *work)
{
    budget_give(&work->service->held, work->charged);
    work->charged = 0;
}

void work_release(struct work *work)
{
    if (!work || atomic_fetch_sub(&work->holders, 1) > 1)
        return;
    give_back(work);
    buffer_free(&work->body);
    budget_give(&work->service->held, work->result.charged);
    job_free(work->result.job);
    buffer_free(&work->result.text);
    free(work);
}

/* Here, for it may be large and freeing it takes a while. */
static void drop_job(struct work_result *result)
{
    job_free(result->job);
    result->job = NULL;
}

/* A body that unpacks to more than a body may have is a body that is too large. */
static void set_problem(struct work *work, const struct error *err)
{
    struct work_result *result = &work->result;
    struct problem problem = {.code = problem_of_error(err), .err = err};
    if (work->bomb) {
        problem.code = PROBLEM_BODY_TOO_LARGE;
        problem.limit = work->service->settings.max_body;
    }
    problem.code = problem_for(work->order.path, problem.code);
    result->problem = problem.code;
    drop_job(result);
    buffer_free(&result->text);
    result->text = buffer_new(BUFFER_PAGE);
    problem_write(&result->text, &problem, work->request_id, work->order.path);
}

static bool unpack(struct work *work, struct error *err)
{
    size_t limit = work->service->settings.max_body;
    if (content_encoding_unpack(&work->body, work->order.coding, limit, &work->service->held, &work->charged, err))
        return true;
    work->bomb = err->code == ERROR_TOO_LARGE;
    return false;
}

static bool refuse_for_good(const struct work *work, double bytes, const char *reason, struct error *err)
{
    return error_set(err, ERROR_TOO_LARGE, "", "%s would take %.0f bytes; the limit is %zu (--memory).", reason, bytes,
                     work->service->held.limit);
}

#define STREAM_REASON "This reply in blocks"

/* What can never be sent is not computed. */
static bool check_stream(const struct work *work, struct error *err)
{
    const struct job *job = work->result.job;
    double bytes = job_blocks(job) == 1 ? 0 : job_lasting(job) + (double)job_block_room(job);
    return bytes <= (double)work->service->held.limit || refuse_for_good(work, bytes, STREAM_REASON, err);
}

static bool read_job(struct work *work, struct read_context means, struct error *err)
{
    const struct work_order *order = &work->order;
    work->result.job = job_new(&work->service->limits, &order->job, &work->body, means, err);
    if (work->result.job && !check_stream(work, err))
        drop_job(&work->result);
    return work->result.job != NULL;
}

static bool decode(struct work *work, struct read_context means, struct error *err)
{
    if (!work->result.job && work->order.coding != CONTENT_ENCODING_NONE && !unpack(work, err))
        return false;
    bool good = work->result.job || read_job(work, means, err);
    give_back(work);
    return good;
}

/* What a job holds while no worker is at it counts for all requests together. */
static bool charge(struct work *work, size_t bytes, size_t *charged, const char *reason, struct error *err)
{
    struct budget *held = &work->service->held;
    if (bytes > held->limit)
        return refuse_for_good(work, (double)bytes, reason, err);
    if (!budget_take(held, bytes))
        return error_set(err, ERROR_MEMORY, "", "%s would take %zu bytes, which do not fit now.", reason, bytes);
    *charged = bytes;
    return true;
}

static bool charge_stream(struct work *work, struct error *err)
{
    const struct job *job = work->result.job;
    return charge(work, job_held(job) + job_block_room(job), &work->result.charged, STREAM_REASON, err);
}

static void note_figures(struct work_result *result)
{
    result->media_type = job_media_type(result->job);
    result->parse = job_parse_seconds(result->job);
    result->compute = job_compute_seconds(result->job);
    result->numbers = job_numbers(result->job);
    result->json_length = job_json_length(result->job);
}

static bool encode(struct work *work, struct error *err)
{
    struct work_result *result = &work->result;
    note_figures(result);
    if (job_blocks(result->job) != 1)
        return charge_stream(work, err);
    int64_t start = clock_now();
    result->text = buffer_new(job_text_room(result->job));
    result->text.failed |= !job_block(result->job, 0, &result->text);
    if (!buffer_check(&result->text, "the text of the reply", err))
        return false;
    result->serialize = clock_now() - start;
    drop_job(result);
    return true;
}

/* Problems are JSON whatever the format is. */
static void indent(struct work *work)
{
    struct work_result *result = &work->result;
    struct buffer indented = buffer_new(indent_most(&result->text));
    bool json = result->problem != PROBLEM_NONE || (work->order.job.format == JOB_JSON && result->json_length == 0);
    if (!work->order.pretty || !json || result->text.length == 0 || result->text.failed)
        return;
    indent_json(&result->text, &indented);
    if (indented.failed) { /* as it is, then */
        buffer_free(&indented);
        return;
    }
    buffer_free(&result->text);
    result->text = indented;
}

static bool wants_packing(const struct work *work)
{
    return work->order.wanted != CONTENT_ENCODING_NONE && work->result.coding == CONTENT_ENCODING_NONE &&
           work->result.text.length >= CONTENT_PACKING_LEAST;
}

/* The last step; the reply in blocks is packed block by block instead. */
static void pack(struct work *work)
{
    int64_t start = clock_now();
    if (!wants_packing(work))
        return;
    if (content_packing_pack(&work->result.text, work->order.wanted))
        work->result.coding = work->order.wanted;
    work->result.serialize += clock_now() - start;
}

bool work_try(struct work *work)
{
    struct error err;
    if (work->body.length > TINY_BODY || work->order.coding != CONTENT_ENCODING_NONE || job_may_draw(&work->body))
        return false;
    error_init(&err);
    if (decode(work, (struct read_context){.memory = work->service->memory, .defaults = work->service->defaults},
               &err) &&
        job_work(work->result.job) > TINY_WORK)
        return false;
    if (!work->result.job || !job_run(work->result.job, NULL, &work->cancel, &err) || !encode(work, &err))
        set_problem(work, &err);
    indent(work);
    work->computed = true;
    if (wants_packing(work))
        return false;
    atomic_store(&work->state, WORK_DONE);
    return true;
}

/* Ends in `state`, if nobody came first, and wakes the connection: after that nothing of its request may be touched. */
static void settle(struct work *work, int state)
{
    int pending = WORK_PENDING;
    if (atomic_compare_exchange_strong(&work->state, &pending, state))
        connections_resume(work->service->connections, work->connection);
}

/* Waits for tasks of large requests, not for their ends. What a body asks for is known when it has been read. */
static bool is_brief(const struct work *work)
{
    const struct job *job = work->result.job;
    if (work->computed)
        return true;
    return job ? job_work(job) <= BRIEF_WORK && job_room(job) <= BRIEF_ROOM
               : work->body.length <= BRIEF_BODY && work->order.coding == CONTENT_ENCODING_NONE;
}

static void run_work(void *context);

/* Takes one of its references. */
static void enqueue(struct work *work)
{
    struct service *service = work->service;
    bool (*submit)(struct pool *, pool_job *, void *) = is_brief(work) ? pool_submit_brief : pool_submit;
    if (atomic_fetch_add(&service->waiting, 1) < service->settings.queue && submit(service->pool, run_work, work))
        return;
    atomic_fetch_sub(&service->waiting, 1);
    settle(work, WORK_GIVEN_UP + PROBLEM_QUEUE_FULL);
    work_release(work);
}

/* A small body may ask for much. Between the tasks of another job it would hold that one up, and memory beside it that
 * no limit counts: it waits for its turn, charged. */
static bool put_back(struct work *work, struct error *err)
{
    return pool_cutting_in(work->service->pool) && !is_brief(work) &&
           charge(work, job_held(work->result.job), &work->charged, "This request, while it waits,", err);
}

/* False: it has been put back into the queue. */
static bool compute(struct work *work, struct error *err)
{
    struct pool *pool = work->service->pool;
    if (atomic_load(&work->cancel))
        error_set(err, ERROR_CANCELLED, "", "Nobody waits for this any more.");
    else if (decode(work,
                    (struct read_context){.pool = pool, .defaults = work->service->defaults, .cancel = &work->cancel},
                    err)) {
        if (put_back(work, err))
            return false;
        if (err->code == ERROR_NONE && job_run(work->result.job, pool, &work->cancel, err))
            encode(work, err);
    }
    if (err->code != ERROR_NONE)
        set_problem(work, err);
    indent(work);
    work->computed = true;
    return true;
}

static void run_work(void *context)
{
    struct work *work = context;
    struct error err;
    error_init(&err);
    atomic_fetch_sub(&work->service->waiting, 1);
    work->result.queue = clock_now() - work->queued;
    if (!work->computed && !compute(work, &err)) {
        enqueue(work);
        return;
    }
    pack(work);
    settle(work, WORK_DONE);
    work_release(work);
}

void work_submit(struct work *work)
{
    work->submitted = true;
    work->queued = clock_now();
    hold(work);
    enqueue(work);
}

bool work_is_submitted(const struct work *work)
{
    return work->submitted;
}

static void abandon(void *context, enum problem_code reason)
{
    struct work *work = context;
    atomic_store(&work->cancel, true);
    settle(work, WORK_GIVEN_UP + (int)reason);
    work_release(work);
}

struct connection_wait work_wait(struct work *work)
{
    return (struct connection_wait){.what = work, .keep = hold, .abandon = abandon};
}

struct work_result *work_find_result(struct work *work, enum problem_code *reason)
{
    int state = atomic_load(&work->state);
    *reason = state > WORK_GIVEN_UP ? (enum problem_code)(state - WORK_GIVEN_UP) : PROBLEM_NONE;
    return state == WORK_DONE ? &work->result : NULL;
}
