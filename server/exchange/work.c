/* A computation between a connection and the pool. */
#include "server/exchange/work.h"

#include "server/exchange/service.h"
#include "server/watch/clock.h"

#include <stdlib.h>

#define TINY_BODY ((size_t)16 * 1024)
#define TINY_WORK 50e3                   /* operations: a few times what a thread hop costs */
#define BRIEF_BODY ((size_t)1024 * 1024) /* read in a few milliseconds */
#define BRIEF_WORK 300e6                 /* operations: about ten milliseconds */
#define BRIEF_ROOM ((double)(16 << 20))  /* bytes: they come on top of --request-memory for each worker */

struct work *work_new(struct service *service, struct MHD_Connection *connection, enum job_kind kind,
                      enum job_format format, struct buffer *body, size_t charged)
{
    struct work *work = calloc(1, sizeof *work);
    if (!work)
        return NULL;
    work->service = service;
    work->connection = connection;
    work->kind = kind;
    work->format = format;
    work->body = *body;
    work->charged = charged;
    *body = (struct buffer){0};
    atomic_init(&work->state, WORK_PENDING);
    atomic_init(&work->holders, 1);
    return work;
}

static void hold(void *context)
{
    struct work *work = context;
    atomic_fetch_add(&work->holders, 1);
}

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
    job_free(work->job);
    buffer_free(&work->body);
    buffer_free(&work->reply);
    free(work);
}

static void set_problem(struct work *work, const struct error *err)
{
    struct problem problem = {.code = problem_of_error(err), .err = err};
    work->problem = problem.code;
    job_free(work->job);
    work->job = NULL;
    buffer_free(&work->reply);
    work->packed = false;
    problem_write(&work->reply, &problem, work->request_id, work->instance);
}

static bool decode(struct work *work, struct read_context means, struct error *err)
{
    if (!work->job) {
        size_t limit = work->service->settings.max_body;
        if (work->coding != CONTENT_ENCODING_NONE &&
            !content_encoding_unpack(&work->body, work->coding, limit, &work->service->held, &work->charged, err))
            return false;
        work->job = job_new(&work->service->limits, work->kind, work->format, &work->body, means, err);
    }
    give_back(work);
    return work->job != NULL;
}

/* What a job holds while no worker is at it counts for all requests together. */
static bool charge_job(struct work *work, const char *reason, struct error *err)
{
    size_t held = job_held(work->job);
    if (!budget_take(&work->service->held, held))
        return error_set(err, ERROR_MEMORY, "", "The %zu bytes for %s do not fit now.", held, reason);
    work->charged = held;
    return true;
}

static bool encode(struct work *work, struct error *err)
{
    if (job_blocks(work->job) != 1)
        return charge_job(work, "a reply in blocks", err);
    int64_t start = clock_now();
    if (job_block(work->job, 0, &work->reply) && !work->reply.failed) {
        work->packed =
            work->wants_gzip && work->reply.length >= CONTENT_ENCODING_LEAST && content_encoding_pack(&work->reply);
        work->serialize = clock_now() - start;
        return true;
    }
    return error_set(err, ERROR_MEMORY, "", "There was no memory for the reply.");
}

bool work_try(struct work *work)
{
    struct error err;
    if (work->body.length > TINY_BODY || work->coding != CONTENT_ENCODING_NONE)
        return false;
    err.code = ERROR_NONE;
    err.count = 0;
    err.placed = false;
    work->queued = work->begun = clock_now();
    if (decode(work, (struct read_context){.memory = work->service->memory}, &err) && job_work(work->job) > TINY_WORK)
        return false;
    if (!work->job || !job_run(work->job, NULL, &work->cancel, &err) || !encode(work, &err))
        set_problem(work, &err);
    atomic_store(&work->state, WORK_DONE);
    return true;
}

/* Ends in `state`, if nobody came first, and wakes the connection: after that nothing of its request may be touched. */
static void settle(struct work *work, enum work_state state)
{
    int pending = WORK_PENDING;
    if (atomic_compare_exchange_strong(&work->state, &pending, (int)state))
        connections_resume(work->service->connections, work->connection);
}

/* Waits for tasks of large requests, not for their ends. What a body asks for is known when it has been read. */
static bool is_brief(const struct work *work)
{
    return work->job ? job_work(work->job) <= BRIEF_WORK && job_room(work->job) <= BRIEF_ROOM
                     : work->body.length <= BRIEF_BODY && work->coding == CONTENT_ENCODING_NONE;
}

static void run_work(void *context);

/* Takes one of its references. */
static void enqueue(struct work *work)
{
    bool (*submit)(struct pool *, pool_job *, void *) = is_brief(work) ? pool_submit_brief : pool_submit;
    if (submit(work->service->pool, run_work, work))
        return;
    settle(work, WORK_REFUSED);
    work_release(work);
}

/* A small body may ask for much. Between the tasks of another job it would hold that one up, and memory beside it that
 * no limit counts: it waits for its turn, charged. */
static bool put_back(struct work *work, struct error *err)
{
    return pool_cutting_in(work->service->pool) && !is_brief(work) && charge_job(work, "a request that waits", err);
}

static void run_work(void *context)
{
    struct work *work = context;
    struct error err = {0};
    work->begun = clock_now();
    if (atomic_load(&work->cancel))
        error_set(&err, ERROR_CANCELLED, "", "Nobody waits for this any more.");
    else if (decode(work, (struct read_context){.pool = work->service->pool, .cancel = &work->cancel}, &err)) {
        if (put_back(work, &err)) {
            enqueue(work);
            return;
        }
        if (err.code == ERROR_NONE && job_run(work->job, work->service->pool, &work->cancel, &err))
            encode(work, &err);
    }
    if (err.code != ERROR_NONE)
        set_problem(work, &err);
    settle(work, WORK_DONE);
    work_release(work);
}

void work_submit(struct work *work)
{
    work->queued = clock_now();
    hold(work);
    enqueue(work);
}

static void abandon(void *context, enum problem_code reason)
{
    struct work *work = context;
    atomic_store(&work->cancel, true);
    settle(work, reason == PROBLEM_DEADLINE ? WORK_LATE : reason == PROBLEM_DRAINING ? WORK_STOPPED : WORK_UNWANTED);
    work_release(work);
}

struct connection_wait work_wait(struct work *work)
{
    return (struct connection_wait){.what = work, .keep = hold, .abandon = abandon};
}
