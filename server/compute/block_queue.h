/* Blocks of replies on their way to the workers. They have places of their own beside those of requests; a block that
 * finds none waits in line for the next, so that a stream goes on, if slowly, whatever the load. */
#ifndef SERVER_COMPUTE_BLOCK_QUEUE_H
#define SERVER_COMPUTE_BLOCK_QUEUE_H

#include "core/tensor/pool.h"

#include <stdbool.h>
#include <stddef.h>

struct block_queue;

/* Part of what it is about. `run` is called once, on a worker, and may free it. */
struct block_task {
    void (*run)(struct block_task *task);
    struct block_queue *queue; /* the queue's, as the next one is */
    struct block_task *next;   /* in line */
};

/* The pool must have room for so many jobs beside all others. NULL: no memory. */
struct block_queue *block_queue_new(struct pool *pool, size_t places);
void block_queue_free(struct block_queue *queue); /* when the pool has ended; NULL is fine */

/* Has the task run if there is a place for it now; else false. */
bool block_queue_try(struct block_queue *queue, struct block_task *task);

/* Has the task run, when its turn comes. */
void block_queue_submit(struct block_queue *queue, struct block_task *task);

#endif
