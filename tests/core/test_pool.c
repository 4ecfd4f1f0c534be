/* Pool: every job and every task exactly once, slots apart, bounded queue, small jobs not behind large ones. */
#include "core/tensor/pool.h"

#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A door that jobs wait at: no test waits for time to pass. */
struct door {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    size_t arrived;
    bool open;
};

#define DOOR_CLOSED \
    { \
        .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER \
    }

static void door_pass(struct door *door)
{
    pthread_mutex_lock(&door->mutex);
    door->arrived++;
    pthread_cond_broadcast(&door->changed);
    while (!door->open)
        pthread_cond_wait(&door->changed, &door->mutex);
    pthread_mutex_unlock(&door->mutex);
}

static void door_await(struct door *door, size_t count)
{
    pthread_mutex_lock(&door->mutex);
    while (door->arrived < count)
        pthread_cond_wait(&door->changed, &door->mutex);
    pthread_mutex_unlock(&door->mutex);
}

static void door_open(struct door *door)
{
    pthread_mutex_lock(&door->mutex);
    door->open = true;
    pthread_cond_broadcast(&door->changed);
    pthread_mutex_unlock(&door->mutex);
}

static void wait_at_door(void *context)
{
    door_pass(context);
}

static void count_up(void *context)
{
    atomic_fetch_add((atomic_size_t *)context, 1);
}

#define RUN_TASKS 257

/* What one pool_run leaves behind. */
struct ledger {
    struct pool *pool;
    atomic_uint times[RUN_TASKS];
    atomic_bool busy[POOL_WORKERS_MAX + 1];
    atomic_size_t clashes;
    atomic_size_t finished;
};

static void keep_ledger(void *context, size_t index, size_t slot)
{
    struct ledger *ledger = context;
    if (slot >= pool_slots(ledger->pool) || atomic_exchange(&ledger->busy[slot], true))
        atomic_fetch_add(&ledger->clashes, 1);
    atomic_fetch_add(&ledger->times[index], 1);
    for (volatile int spin = 0; spin < (int)(index % 7) * 100; spin++)
        continue;
    if (slot < pool_slots(ledger->pool))
        atomic_store(&ledger->busy[slot], false);
    atomic_fetch_add(&ledger->finished, 1);
}

static void check_ledger(struct ledger *ledger)
{
    ck_assert_uint_eq(atomic_load(&ledger->clashes), 0);
    ck_assert_uint_eq(atomic_load(&ledger->finished), RUN_TASKS);
    for (size_t i = 0; i < RUN_TASKS; i++)
        ck_assert_uint_eq(atomic_load(&ledger->times[i]), 1);
}

START_TEST(each_task_runs_once)
{
    for (size_t workers = 1; workers <= 5; workers++) {
        struct pool *pool = pool_start(workers, 4);
        ck_assert_ptr_nonnull(pool);
        ck_assert_uint_eq(pool_workers(pool), workers);
        ck_assert_uint_eq(pool_slots(pool), workers + 1);
        for (size_t round = 0; round < 50; round++) {
            struct ledger *ledger = calloc(1, sizeof *ledger);
            ledger->pool = pool;
            pool_run(pool, RUN_TASKS, keep_ledger, ledger);
            check_ledger(ledger);
            free(ledger);
        }
        pool_stop(pool);
    }
}
END_TEST

static void run_ledger(void *context)
{
    struct ledger *ledger = context;
    pool_run(ledger->pool, RUN_TASKS, keep_ledger, ledger);
}

static void *run_ledger_outside(void *context)
{
    run_ledger(context);
    return NULL;
}

/* Runs started by jobs and by outside threads, all at once. */
START_TEST(concurrent_runs_do_not_mix)
{
    enum { RUNS = 40, OUTSIDE = 4 };
    struct pool *pool = pool_start(4, RUNS);
    struct ledger *ledgers = calloc(RUNS + OUTSIDE, sizeof *ledgers);
    pthread_t threads[OUTSIDE];
    for (size_t i = 0; i < RUNS + OUTSIDE; i++)
        ledgers[i].pool = pool;
    for (size_t i = 0; i < OUTSIDE; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, run_ledger_outside, &ledgers[RUNS + i]), 0);
    for (size_t i = 0; i < RUNS; i++)
        ck_assert(pool_submit(pool, run_ledger, &ledgers[i]));
    for (size_t i = 0; i < OUTSIDE; i++)
        pthread_join(threads[i], NULL);
    pool_stop(pool);
    for (size_t i = 0; i < RUNS + OUTSIDE; i++)
        check_ledger(&ledgers[i]);
    free(ledgers);
}
END_TEST

static void note_order(void *context, size_t index, size_t slot)
{
    size_t *next = context;
    ck_assert_uint_eq(slot, 0);
    ck_assert_uint_eq(index, *next);
    (*next)++;
}

START_TEST(without_a_pool_the_caller_works_in_order)
{
    size_t next = 0;
    pool_run(NULL, 100, note_order, &next);
    ck_assert_uint_eq(next, 100);
    pool_run(NULL, 0, note_order, &next);
    ck_assert_uint_eq(next, 100);
    ck_assert_uint_eq(pool_slots(NULL), 1);
}
END_TEST

static void run_nothing(void *context, size_t index, size_t slot)
{
    (void)index;
    (void)slot;
    count_up(context);
}

START_TEST(runs_of_none_and_one_work)
{
    struct pool *pool = pool_start(2, 2);
    atomic_size_t count = 0;
    pool_run(pool, 0, run_nothing, &count);
    ck_assert_uint_eq(atomic_load(&count), 0);
    pool_run(pool, 1, run_nothing, &count);
    ck_assert_uint_eq(atomic_load(&count), 1);
    pool_stop(pool);
}
END_TEST

START_TEST(the_queue_is_bounded)
{
    struct door door = DOOR_CLOSED;
    atomic_size_t done = 0;
    struct pool *pool = pool_start(2, 3);
    ck_assert(pool_submit(pool, wait_at_door, &door));
    ck_assert(pool_submit(pool, wait_at_door, &door));
    door_await(&door, 2);
    ck_assert_uint_eq(pool_running(pool), 2);
    for (size_t i = 0; i < 3; i++) {
        ck_assert_uint_eq(pool_waiting(pool), i);
        ck_assert(pool_submit(pool, count_up, &done));
    }
    ck_assert(!pool_submit(pool, count_up, &done));
    ck_assert_uint_eq(pool_waiting(pool), 3);
    ck_assert_uint_eq(atomic_load(&done), 0);
    door_open(&door);
    pool_stop(pool);
    ck_assert_uint_eq(atomic_load(&done), 3);
}
END_TEST

START_TEST(stop_runs_what_is_queued)
{
    for (size_t round = 0; round < 200; round++) {
        atomic_size_t done = 0;
        struct pool *pool = pool_start(1 + round % 3, 100);
        for (size_t i = 0; i < 100; i++)
            ck_assert(pool_submit(pool, count_up, &done));
        pool_stop(pool);
        ck_assert_uint_eq(atomic_load(&done), 100);
    }
}
END_TEST

/* A large job on an outside thread keeps the only worker busy with its tasks; a job that comes meanwhile must run
 * before those tasks have ended. */
struct large {
    struct pool *pool;
    pthread_t caller;
    struct door small_ran;
    atomic_size_t tasks, tasks_before_small;
    atomic_bool submitted, cut_in;
};

static void finish_small(void *context)
{
    struct large *large = context;
    atomic_store(&large->cut_in, pool_cutting_in(large->pool));
    atomic_store(&large->tasks_before_small, atomic_load(&large->tasks));
    door_open(&large->small_ran);
}

static void work_in_large(void *context, size_t index, size_t slot)
{
    struct large *large = context;
    bool calls = pthread_equal(large->caller, pthread_self());
    (void)index;
    ck_assert_uint_eq(slot, calls ? 0 : 1);
    if (!calls && !atomic_exchange(&large->submitted, true))
        ck_assert(pool_submit(large->pool, finish_small, large));
    else if (calls)
        door_pass(&large->small_ran);
    atomic_fetch_add(&large->tasks, 1);
}

START_TEST(a_small_job_overtakes_the_tasks_of_a_large_one)
{
    struct large large = {.small_ran = DOOR_CLOSED, .caller = pthread_self()};
    large.pool = pool_start(1, 1);
    pool_run(large.pool, 1000, work_in_large, &large);
    pool_stop(large.pool);
    ck_assert_uint_eq(atomic_load(&large.tasks), 1000);
    ck_assert_uint_eq(atomic_load(&large.tasks_before_small), 1);
    ck_assert(!atomic_load(&large.cut_in));
}
END_TEST

static void submit_once(void *context, size_t index, size_t slot)
{
    struct large *large = context;
    (void)index;
    (void)slot;
    ck_assert(!pool_cutting_in(large->pool));
    if (!atomic_exchange(&large->submitted, true))
        ck_assert(pool_submit_brief(large->pool, finish_small, large));
    atomic_fetch_add(&large->tasks, 1);
}

static void run_large(void *context)
{
    struct large *large = context;
    pool_run(large->pool, 1000, submit_once, large);
}

START_TEST(a_brief_job_waits_for_a_task_when_all_workers_have_large_jobs)
{
    struct large large = {.small_ran = DOOR_CLOSED};
    large.pool = pool_start(1, 2);
    ck_assert(pool_submit(large.pool, run_large, &large));
    pool_stop(large.pool);
    ck_assert_uint_eq(atomic_load(&large.tasks), 1000);
    ck_assert_uint_eq(atomic_load(&large.tasks_before_small), 1);
    ck_assert(atomic_load(&large.cut_in));
}
END_TEST

/* Two runs, one worker to help: it takes their tasks in turn. */
struct turns {
    struct door both_started, callers;
    atomic_size_t taken;
    char order[8];
};

struct turn_run {
    struct turns *turns;
    struct pool *pool;
    char name;
};

static void take_turn(void *context, size_t index, size_t slot)
{
    struct turn_run *run = context;
    struct turns *turns = run->turns;
    (void)index;
    if (slot == 0) { /* the caller */
        door_pass(&turns->callers);
        return;
    }
    size_t at = atomic_fetch_add(&turns->taken, 1);
    if (at < sizeof turns->order)
        turns->order[at] = run->name;
    if (at + 1 == sizeof turns->order)
        door_open(&turns->callers);
}

static void *start_turn_run(void *context)
{
    struct turn_run *run = context;
    pool_run(run->pool, 100, take_turn, run);
    return NULL;
}

START_TEST(runs_are_helped_in_turn)
{
    struct turns turns = {.both_started = DOOR_CLOSED, .callers = DOOR_CLOSED};
    struct pool *pool = pool_start(1, 1);
    ck_assert(pool_submit(pool, wait_at_door, &turns.both_started));
    door_await(&turns.both_started, 1);
    struct turn_run runs[2] = {{&turns, pool, 'a'}, {&turns, pool, 'b'}};
    pthread_t threads[2];
    for (size_t i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, start_turn_run, &runs[i]), 0);
    door_await(&turns.callers, 2);
    door_open(&turns.both_started);
    for (size_t i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    pool_stop(pool);
    for (size_t i = 1; i < sizeof turns.order; i++)
        ck_assert_msg(turns.order[i] != turns.order[i - 1], "order %.8s", turns.order);
}
END_TEST

struct few {
    size_t slots;
    atomic_size_t ended, faults;
    atomic_bool busy[POOL_WORKERS_MAX + 1];
};

static void run_one_of_few(void *context, size_t index, size_t slot)
{
    struct few *few = context;
    if (slot >= few->slots || atomic_exchange(&few->busy[slot], true))
        atomic_fetch_add(&few->faults, 1);
    if (index % 16 == 0)
        sched_yield();
    atomic_store(&few->busy[slot], false);
    atomic_fetch_add(&few->ended, 1);
}

/* However many workers are free, no more tasks at a time than there are slots. */
START_TEST(few_slots_are_kept_to)
{
    struct pool *pool = pool_start(4, 1);
    for (size_t slots = 1; slots <= pool_slots(pool); slots++) {
        struct few few = {.slots = slots};
        pool_run_few(pool, slots, 2000, run_one_of_few, &few);
        ck_assert_uint_eq(atomic_load(&few.ended), 2000);
        ck_assert_uint_eq(atomic_load(&few.faults), 0);
    }
    pool_stop(pool);
}
END_TEST

static void note_mask(void *context)
{
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    *(bool *)context = sigismember(&blocked, SIGTERM) == 1 && sigismember(&blocked, SIGINT) == 1;
}

static void note_stack(void *context)
{
    pthread_attr_t attributes;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstacksize(&attributes, context);
    pthread_attr_destroy(&attributes);
}

START_TEST(workers_block_signals_and_have_their_stack)
{
    bool blocked = false;
    size_t stack = 0;
    struct pool *pool = pool_start(1, 2);
    ck_assert(pool_submit(pool, note_mask, &blocked));
    ck_assert(pool_submit(pool, note_stack, &stack));
    pool_stop(pool);
    ck_assert(blocked);
    ck_assert_uint_ge(stack, (size_t)2 * 1024 * 1024);
    sigset_t here;
    pthread_sigmask(SIG_SETMASK, NULL, &here);
    ck_assert_int_eq(sigismember(&here, SIGTERM), 0);
}
END_TEST

struct pinned {
    struct door *door;
    cpu_set_t allowed;
};

static void note_processors(void *context)
{
    struct pinned *pinned = context;
    sched_getaffinity(0, sizeof pinned->allowed, &pinned->allowed);
    door_pass(pinned->door);
}

START_TEST(pinned_workers_have_a_processor_each)
{
    cpu_set_t ours;
    cpu_set_t all;
    struct door door = DOOR_CLOSED;
    struct pinned pinned[POOL_WORKERS_MAX];
    ck_assert_int_eq(sched_getaffinity(0, sizeof ours, &ours), 0);
    size_t count = (size_t)CPU_COUNT(&ours);
    if (count >= POOL_WORKERS_MAX)
        return;
    struct pool *more = pool_start(count + 1, 1);
    ck_assert(!pool_pin(more));
    pool_stop(more);
    struct pool *pool = pool_start(count, count);
    ck_assert(pool_pin(pool));
    for (size_t i = 0; i < count; i++) {
        pinned[i].door = &door;
        ck_assert(pool_submit(pool, note_processors, &pinned[i]));
    }
    door_await(&door, count);
    door_open(&door);
    pool_stop(pool);
    CPU_ZERO(&all);
    for (size_t i = 0; i < count; i++) {
        ck_assert_int_eq(CPU_COUNT(&pinned[i].allowed), 1);
        CPU_OR(&all, &all, &pinned[i].allowed);
    }
    ck_assert(CPU_EQUAL(&all, &ours));
}
END_TEST

START_TEST(impossible_pools_are_refused)
{
    ck_assert_ptr_null(pool_start(0, 1));
    ck_assert_ptr_null(pool_start(POOL_WORKERS_MAX + 1, 1));
    struct pool *pool = pool_start(1, 0);
    ck_assert_ptr_nonnull(pool);
    atomic_size_t done = 0;
    ck_assert(!pool_submit(pool, count_up, &done));
    pool_stop(pool);
}
END_TEST

Suite *pool_suite(void);

Suite *pool_suite(void)
{
    Suite *suite = suite_create("pool");
    TCase *tests = tcase_create("pool");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, each_task_runs_once);
    tcase_add_test(tests, concurrent_runs_do_not_mix);
    tcase_add_test(tests, without_a_pool_the_caller_works_in_order);
    tcase_add_test(tests, runs_of_none_and_one_work);
    tcase_add_test(tests, the_queue_is_bounded);
    tcase_add_test(tests, stop_runs_what_is_queued);
    tcase_add_test(tests, a_small_job_overtakes_the_tasks_of_a_large_one);
    tcase_add_test(tests, a_brief_job_waits_for_a_task_when_all_workers_have_large_jobs);
    tcase_add_test(tests, runs_are_helped_in_turn);
    tcase_add_test(tests, few_slots_are_kept_to);
    tcase_add_test(tests, workers_block_signals_and_have_their_stack);
    tcase_add_test(tests, pinned_workers_have_a_processor_each);
    tcase_add_test(tests, impossible_pools_are_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
