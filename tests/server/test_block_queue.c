/* The line of blocks: who runs them, in which order, and that none is forgotten. */
#include "server/compute/block_queue.h"

#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

Suite *block_queue_suite(void);

#define COUNT 200

struct counted {
    struct block_task task; /* first: a task is its count */
    atomic_size_t *clock;   /* how many have run */
    size_t turn;            /* which it was */
    pthread_t thread;
};

static void count(struct block_task *task)
{
    struct counted *counted = (struct counted *)(void *)task;
    counted->thread = pthread_self();
    counted->turn = atomic_fetch_add(counted->clock, 1);
}

struct gate {
    struct block_task task;
    atomic_bool entered, open;
};

static void hold(struct gate *gate)
{
    atomic_store(&gate->entered, true);
    while (!atomic_load(&gate->open))
        sched_yield();
}

static void hold_task(struct block_task *task)
{
    hold((struct gate *)(void *)task);
}

static void hold_job(void *context)
{
    hold(context);
}

static void await(const atomic_bool *flag)
{
    while (!atomic_load(flag))
        sched_yield();
}

static void submit_all(struct block_queue *queue, struct counted *all, atomic_size_t *clock)
{
    for (size_t i = 0; i < COUNT; i++) {
        all[i] = (struct counted){.task.run = count, .clock = clock};
        block_queue_submit(queue, &all[i].task);
    }
}

/* Whoever submits runs none, though the places are taken and the queue of the pool is full. */
START_TEST(all_run_in_turn_on_workers)
{
    static struct counted all[COUNT];
    atomic_size_t clock = 0;
    struct gate gate = {.open = false};
    struct gate waiting = {.open = true};
    struct pool *pool = pool_start(1, 1 + 2);
    struct block_queue *queue = block_queue_new(pool, 2);
    ck_assert(pool_submit(pool, hold_job, &gate));
    await(&gate.entered);
    ck_assert(pool_submit(pool, hold_job, &waiting));
    submit_all(queue, all, &clock);
    ck_assert_uint_eq(pool_waiting(pool), 3);
    ck_assert_uint_eq(atomic_load(&clock), 0);
    atomic_store(&gate.open, true);
    pool_stop(pool);
    block_queue_free(queue);
    ck_assert_uint_eq(atomic_load(&clock), COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        ck_assert_uint_eq(all[i].turn, i);
        ck_assert(!pthread_equal(all[i].thread, pthread_self()));
    }
}
END_TEST

START_TEST(only_who_may_wait_waits)
{
    atomic_size_t clock = 0;
    struct counted refused = {.task.run = count, .clock = &clock};
    struct counted patient = refused;
    struct gate gate = {.task.run = hold_task};
    struct pool *pool = pool_start(1, 1);
    struct block_queue *queue = block_queue_new(pool, 1);
    ck_assert(block_queue_try(queue, &gate.task));
    await(&gate.entered);
    ck_assert(!block_queue_try(queue, &refused.task));
    block_queue_submit(queue, &patient.task);
    ck_assert(!block_queue_try(queue, &refused.task));
    atomic_store(&gate.open, true);
    while (atomic_load(&clock) == 0)
        sched_yield();
    while (!block_queue_try(queue, &refused.task)) /* the place is free soon after */
        sched_yield();
    pool_stop(pool);
    block_queue_free(queue);
    ck_assert_uint_eq(atomic_load(&clock), 2);
}
END_TEST

/* Places pass from worker to worker, also while the pool ends. */
START_TEST(many_threads_lose_none)
{
    static struct counted all[COUNT];
    atomic_size_t clock = 0;
    struct pool *pool = pool_start(4, 8);
    struct block_queue *queue = block_queue_new(pool, 8);
    submit_all(queue, all, &clock);
    pool_stop(pool);
    block_queue_free(queue);
    ck_assert_uint_eq(atomic_load(&clock), COUNT);
}
END_TEST

Suite *block_queue_suite(void)
{
    Suite *suite = suite_create("block_queue");
    TCase *tests = tcase_create("block_queue");
    tcase_add_test(tests, all_run_in_turn_on_workers);
    tcase_add_test(tests, only_who_may_wait_waits);
    tcase_add_loop_test(tests, many_threads_lose_none, 0, 20);
    suite_add_tcase(suite, tests);
    return suite;
}
