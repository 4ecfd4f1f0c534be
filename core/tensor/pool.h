/* Worker threads that share all work: whole jobs from a bounded queue, and the tasks into which a running job is cut.
 */
#ifndef CORE_TENSOR_POOL_H
#define CORE_TENSOR_POOL_H

#include <stdbool.h>
#include <stddef.h>

#define POOL_WORKERS_MAX 64

struct pool;

/* A job runs once, on some worker. */
typedef void pool_job(void *context);

/* A task: `index` of a pool_run, on its slot `worker` (0 .. pool_slots - 1); a slot is in one task of that pool_run at
 * a time, and the lowest free one is taken. */
typedef void pool_task(void *context, size_t index, size_t worker);

/* Starts `workers` threads (1 .. POOL_WORKERS_MAX) whose queue holds at most `queue` waiting jobs; NULL when they
 * cannot be started. Stacks are 2 MiB. Signals are blocked in them. */
struct pool *pool_start(size_t workers, size_t queue);

/* Keeps each worker on a processor of its own; false, and nothing has changed, unless this process may run on exactly
 * as many as there are workers. */
bool pool_pin(const struct pool *pool);

/* Runs what is queued, then ends the threads and frees the pool. */
void pool_stop(struct pool *pool);

/* Queues a job; false when the queue is full. A brief one (some milliseconds) may also be run by a worker between two
 * tasks of its own pool_run, so that it waits for tasks and not for the large jobs that they belong to. */
bool pool_submit(struct pool *pool, pool_job *run, void *context);
bool pool_submit_brief(struct pool *pool, pool_job *run, void *context);

/* Whether the job that asks is run so, between two tasks of another. */
bool pool_cutting_in(const struct pool *pool);

/* Runs task(context, 0 .. count-1, slot), each once, and returns when all have ended. The caller takes part and spare
 * workers help; a worker prefers a waiting job to helping, so that small jobs are not stuck behind a large one.
 * pool == NULL: the caller alone, in order. */
void pool_run(struct pool *pool, size_t count, pool_task *task, void *context);

/* The same on at most `slots` (from 1) of them, for tasks that need memory of their own. */
void pool_run_few(struct pool *pool, size_t slots, size_t count, pool_task *task, void *context);

size_t pool_workers(const struct pool *pool);
size_t pool_slots(const struct pool *pool); /* how many slots pool_run uses: workers + 1; 1 for NULL */
size_t pool_waiting(struct pool *pool);     /* jobs in the queue now */
size_t pool_running(struct pool *pool);     /* jobs being run now */

#endif
