/* Worker threads that share all work: one mutex, one queue of jobs, one ring of runs whose tasks wait for a taker. */
#include "core/tensor/pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

#define STACK_BYTES ((size_t)2 * 1024 * 1024)

struct job {
    pool_job *run;
    void *context;
    bool brief;
};

/* One pool_run; lives on its caller's stack, everything in it under the pool's mutex. */
struct run {
    struct run *next; /* in the ring */
    pool_task *task;
    void *context;
    size_t count, taken, ended;
    uint64_t free; /* bit x: slot x + 1 is free; the caller has slot 0 */
    pthread_cond_t all_ended;
};

struct worker {
    struct pool *pool;
    pthread_t thread;
    bool cutting_in; /* runs a brief job between the tasks of its run */
};

struct pool {
    pthread_mutex_t mutex;
    pthread_cond_t work;
    struct run *first, *last; /* runs with tasks left to take, the next one to be helped first */
    size_t idle, running;
    size_t head, waiting, queue; /* of `jobs`, a ring */
    size_t brief;                /* of those waiting */
    size_t workers;
    bool stopping;
    struct job *jobs;
    struct worker worker[POOL_WORKERS_MAX];
};

static void append_run(struct pool *pool, struct run *run)
{
    run->next = NULL;
    if (pool->first)
        pool->last->next = run;
    else
        pool->first = run;
    pool->last = run;
}

static void remove_run(struct pool *pool, struct run *run)
{
    struct run *before = NULL;
    struct run *at = pool->first;
    for (; at && at != run; at = at->next)
        before = at;
    if (!at)
        return;
    if (before)
        before->next = run->next;
    else
        pool->first = run->next;
    if (pool->last == run)
        pool->last = before;
}

/* One task of `run`, which has some left; the mutex is held on entry and on return. */
static void run_task(struct pool *pool, struct run *run, size_t slot)
{
    size_t index = run->taken++;
    if (run->taken == run->count)
        remove_run(pool, run);
    pthread_mutex_unlock(&pool->mutex);
    run->task(run->context, index, slot);
    pthread_mutex_lock(&pool->mutex);
    if (++run->ended == run->count)
        pthread_cond_signal(&run->all_ended);
}

static size_t take_slot(struct run *run)
{
    size_t slot = 0;
    while (!(run->free >> slot & 1))
        slot++;
    run->free &= ~((uint64_t)1 << slot);
    return slot + 1;
}

/* A run is in the ring while it has tasks left and a slot free. */
static void help_next_run(struct pool *pool)
{
    struct run *run = pool->first;
    size_t slot = take_slot(run);
    remove_run(pool, run);
    if (run->free)
        append_run(pool, run);
    run_task(pool, run, slot);
    bool was_full = run->free == 0;
    run->free |= (uint64_t)1 << (slot - 1);
    if (was_full && run->taken < run->count)
        append_run(pool, run);
}

static struct job *job_at(struct pool *pool, size_t place)
{
    return &pool->jobs[(pool->head + place) % pool->queue];
}

/* Takes the job at `place` of the queue out; those before it move up. */
static struct job take_job(struct pool *pool, size_t place)
{
    struct job job = *job_at(pool, place);
    for (; place > 0; place--)
        *job_at(pool, place) = *job_at(pool, place - 1);
    pool->head = (pool->head + 1) % pool->queue;
    pool->waiting--;
    pool->brief -= job.brief;
    return job;
}

static void run_job(struct pool *pool, size_t place)
{
    struct job job = take_job(pool, place);
    pool->running++;
    pthread_mutex_unlock(&pool->mutex);
    job.run(job.context);
    pthread_mutex_lock(&pool->mutex);
    pool->running--;
}

/* False when the worker shall end. */
static bool work_once(struct pool *pool)
{
    if (pool->waiting > 0)
        run_job(pool, 0);
    else if (pool->first)
        help_next_run(pool);
    else if (pool->stopping)
        return false;
    else {
        pool->idle++;
        pthread_cond_wait(&pool->work, &pool->mutex);
        pool->idle--;
    }
    return true;
}

static void *work(void *context)
{
    struct worker *self = context;
    struct pool *pool = self->pool;
    pthread_mutex_lock(&pool->mutex);
    while (work_once(pool))
        continue;
    pthread_mutex_unlock(&pool->mutex);
    return NULL;
}

/* Signals belong to the thread that waits for them, so workers start with all of them blocked. The mutex is held until
 * all handles are written: a worker reads them (find_slot). */
static void start_threads(struct pool *pool, size_t count, const pthread_attr_t *attributes)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_mutex_lock(&pool->mutex);
    for (; pool->workers < count; pool->workers++) {
        struct worker *worker = &pool->worker[pool->workers];
        *worker = (struct worker){.pool = pool};
        if (pthread_create(&worker->thread, attributes, work, worker) != 0)
            break;
    }
    pthread_mutex_unlock(&pool->mutex);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void start_workers(struct pool *pool, size_t count)
{
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return;
    if (pthread_attr_setstacksize(&attributes, STACK_BYTES) == 0)
        start_threads(pool, count, &attributes);
    pthread_attr_destroy(&attributes);
}

struct pool *pool_start(size_t workers, size_t queue)
{
    if (workers == 0 || workers > POOL_WORKERS_MAX)
        return NULL;
    struct pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return NULL;
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->work, NULL);
    pool->queue = queue;
    pool->jobs = calloc(queue ? queue : 1, sizeof *pool->jobs);
    if (pool->jobs)
        start_workers(pool, workers);
    if (pool->workers == workers)
        return pool;
    pool_stop(pool);
    return NULL;
}

bool pool_pin(const struct pool *pool)
{
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || (size_t)CPU_COUNT(&allowed) != pool->workers)
        return false;
    size_t processor = 0;
    for (size_t i = 0; i < pool->workers; i++, processor++) {
        cpu_set_t own;
        while (!CPU_ISSET(processor, &allowed))
            processor++;
        CPU_ZERO(&own);
        CPU_SET(processor, &own);
        pthread_setaffinity_np(pool->worker[i].thread, sizeof own, &own);
    }
    return true;
}

void pool_stop(struct pool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    pool->stopping = true;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->mutex);
    for (size_t i = 0; i < pool->workers; i++)
        pthread_join(pool->worker[i].thread, NULL);
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->mutex);
    free(pool->jobs);
    free(pool);
}

static bool submit(struct pool *pool, struct job job)
{
    pthread_mutex_lock(&pool->mutex);
    bool room = pool->waiting < pool->queue;
    if (room) {
        *job_at(pool, pool->waiting++) = job;
        pool->brief += job.brief;
        pthread_cond_signal(&pool->work);
    }
    pthread_mutex_unlock(&pool->mutex);
    return room;
}

bool pool_submit(struct pool *pool, pool_job *run, void *context)
{
    return submit(pool, (struct job){run, context, false});
}

bool pool_submit_brief(struct pool *pool, pool_job *run, void *context)
{
    return submit(pool, (struct job){run, context, true});
}

/* Which worker this thread is; of any other thread the number past them. */
static size_t find_self(const struct pool *pool)
{
    for (size_t i = 0; i < pool->workers; i++)
        if (pthread_equal(pool->worker[i].thread, pthread_self()))
            return i;
    return pool->workers;
}

static void run_alone(size_t count, pool_task *task, void *context)
{
    for (size_t i = 0; i < count; i++)
        task(context, i, 0);
}

bool pool_cutting_in(const struct pool *pool)
{
    size_t self = find_self(pool);
    return self < pool->workers && pool->worker[self].cutting_in;
}

/* A waiting brief job, on a worker that is in no such job already; the mutex is held on entry and on return. */
static void cut_in(struct pool *pool, size_t self)
{
    if (pool->brief == 0 || self == pool->workers || pool->worker[self].cutting_in)
        return;
    size_t place = 0;
    while (!job_at(pool, place)->brief)
        place++;
    pool->worker[self].cutting_in = true;
    run_job(pool, place);
    pool->worker[self].cutting_in = false;
}

static void run_shared(struct pool *pool, struct run *run, size_t self)
{
    pthread_cond_init(&run->all_ended, NULL);
    pthread_mutex_lock(&pool->mutex);
    if (run->free)
        append_run(pool, run);
    for (size_t i = 1; run->free && i < run->count && i <= pool->idle; i++)
        pthread_cond_signal(&pool->work);
    while (run->taken < run->count) {
        run_task(pool, run, 0);
        cut_in(pool, self);
    }
    while (run->ended < run->count)
        pthread_cond_wait(&run->all_ended, &pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
    pthread_cond_destroy(&run->all_ended);
}

static uint64_t free_slots(size_t slots)
{
    return slots > POOL_WORKERS_MAX ? UINT64_MAX : ((uint64_t)1 << (slots - 1)) - 1;
}

void pool_run_few(struct pool *pool, size_t slots, size_t count, pool_task *task, void *context)
{
    if (!pool || count < 2) {
        run_alone(count, task, context);
        return;
    }
    struct run run = {.task = task, .context = context, .count = count, .free = free_slots(slots)};
    run_shared(pool, &run, find_self(pool));
}

void pool_run(struct pool *pool, size_t count, pool_task *task, void *context)
{
    pool_run_few(pool, pool_slots(pool), count, task, context);
}

size_t pool_workers(const struct pool *pool)
{
    return pool ? pool->workers : 0;
}

size_t pool_slots(const struct pool *pool)
{
    return pool ? pool->workers + 1 : 1;
}

size_t pool_waiting(struct pool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    size_t waiting = pool->waiting;
    pthread_mutex_unlock(&pool->mutex);
    return waiting;
}

size_t pool_running(struct pool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    size_t running = pool->running;
    pthread_mutex_unlock(&pool->mutex);
    return running;
}
