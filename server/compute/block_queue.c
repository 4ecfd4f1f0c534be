/* Blocks in line. */
#include "server/compute/block_queue.h"

#include <pthread.h>
#include <stdlib.h>

struct block_queue {
    struct pool *pool;
    pthread_mutex_t mutex;
    size_t places; /* that are free; none is while the line is not empty */
    struct block_task *first, *last;
};

struct block_queue *block_queue_new(struct pool *pool, size_t places)
{
    struct block_queue *queue = calloc(1, sizeof *queue);
    if (!queue)
        return NULL;
    queue->pool = pool;
    queue->places = places;
    pthread_mutex_init(&queue->mutex, NULL);
    return queue;
}

void block_queue_free(struct block_queue *queue)
{
    if (!queue)
        return;
    pthread_mutex_destroy(&queue->mutex);
    free(queue);
}

static bool take_place(struct block_queue *queue)
{
    bool free_place = queue->places > 0;
    queue->places -= free_place;
    return free_place;
}

static void append(struct block_queue *queue, struct block_task *task)
{
    task->next = NULL;
    if (queue->first)
        queue->last->next = task;
    else
        queue->first = task;
    queue->last = task;
}

/* The one that takes over a place; NULL: nobody waits, and the place is free. */
static struct block_task *find_next(struct block_queue *queue)
{
    pthread_mutex_lock(&queue->mutex);
    struct block_task *next = queue->first;
    if (next)
        queue->first = next->next;
    else
        queue->places++;
    pthread_mutex_unlock(&queue->mutex);
    return next;
}

/* On a worker. The pool has room for the next one as long as no more jobs are submitted than there are places; if it
 * has not, this worker goes on. */
static void run_task(void *context)
{
    struct block_task *task = context;
    while (task) {
        struct block_queue *queue = task->queue;
        task->run(task);
        task = find_next(queue);
        if (task && pool_submit_brief(queue->pool, run_task, task))
            return;
    }
}

static bool enter(struct block_queue *queue, struct block_task *task, bool waits)
{
    task->queue = queue;
    pthread_mutex_lock(&queue->mutex);
    bool placed = take_place(queue);
    if (placed && !pool_submit_brief(queue->pool, run_task, task)) {
        queue->places++;
        placed = false;
    }
    if (!placed && waits)
        append(queue, task);
    pthread_mutex_unlock(&queue->mutex);
    return placed;
}

bool block_queue_try(struct block_queue *queue, struct block_task *task)
{
    return enter(queue, task, false);
}

void block_queue_submit(struct block_queue *queue, struct block_task *task)
{
    enter(queue, task, true);
}
