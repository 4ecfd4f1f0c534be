/* The long checks of numbers: all floats, and as many random doubles and decimals as asked for.
 *
 *     numbers [COUNT [FLOAT_STEP]]     default 100000000 and 1 (every float)
 */
#include "api/numbers/number.h"
#include "core/tensor/pool.h"
#include "tests/api/number_check.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TASKS 1024

/* One kind of check: `run` judges the values of one task and returns how many were wrong. */
struct check {
    const char *title;
    size_t (*run)(const struct check *check, size_t task);
    size_t count; /* of values, over all tasks */
    size_t step;
    atomic_size_t wrong;
};

static size_t report(bool good, const char *what, size_t length)
{
    if (!good)
        printf("  wrong: %.*s\n", (int)length, what);
    return !good;
}

static size_t report_value(bool good, double value)
{
    if (!good)
        printf("  wrong: %a\n", value);
    return !good;
}

static size_t check_floats(const struct check *check, size_t task)
{
    size_t wrong = 0;
    size_t share = ((size_t)1 << 32) / TASKS;
    for (size_t i = task * share; i < (task + 1) * share; i += check->step) {
        uint32_t bits = (uint32_t)i;
        float value;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value))
            wrong += report_value(number_check_float32_quickly(value), (double)value);
    }
    return wrong;
}

static size_t check_doubles(const struct check *check, size_t task)
{
    size_t wrong = 0;
    uint64_t state = 1000 + task;
    for (size_t i = 0; i < check->count / TASKS; i++) {
        double value = number_check_draw_float64(&state);
        wrong += report_value(number_check_float64(value), value);
    }
    return wrong;
}

static size_t check_rounding(const struct check *check, size_t task)
{
    size_t wrong = 0;
    uint64_t state = 2000000 + task;
    for (size_t i = 0; i < check->count / TASKS; i++) {
        double value = number_check_draw_float64(&state);
        wrong += report_value(number_check_rounded(value, (int)(i % 18)), value);
    }
    return wrong;
}

static size_t check_reading(const struct check *check, size_t task)
{
    size_t wrong = 0;
    uint64_t state = 3000000 + task;
    char text[NUMBER_CHECK_TEXT];
    for (size_t i = 0; i < check->count / TASKS; i++) {
        size_t length = number_check_draw_text(&state, text);
        wrong += report(number_check_read(text, length), text, length);
    }
    return wrong;
}

static void run_task(void *context, size_t task, size_t slot)
{
    struct check *check = context;
    (void)slot;
    atomic_fetch_add(&check->wrong, check->run(check, task));
}

static bool hold(struct pool *pool, struct check *check)
{
    printf("%s ...\n", check->title);
    fflush(stdout);
    pool_run(pool, TASKS, run_task, check);
    printf("  %zu values, %zu wrong\n", check->count, atomic_load(&check->wrong));
    return atomic_load(&check->wrong) == 0;
}

int main(int count, char **arguments)
{
    size_t values =
        count > 1 ? strtoul(arguments[1], NULL, 10) / TASKS * TASKS : (size_t)100000000 / TASKS * TASKS + TASKS;
    size_t step = count > 2 ? strtoul(arguments[2], NULL, 10) : 1;
    if (values == 0 || step == 0) {
        fprintf(stderr, "usage: numbers [COUNT [FLOAT_STEP]], a count of at least %d\n", TASKS);
        return EXIT_FAILURE;
    }
    struct check checks[] = {
        {.title = "random and adversarial decimals read as strtod reads them", .run = check_reading, .count = values},
        {.title = "random float64 print shortest, nearest, and read back", .run = check_doubles, .count = values},
        {.title = "random float64 rounded to 0 .. 17 decimals as printf does", .run = check_rounding, .count = values},
        {.title = "float32 print shortest, nearest, and read back",
         .run = check_floats,
         .count = ((size_t)1 << 32) / step,
         .step = step},
    };
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    struct pool *pool = processors > 1 ? pool_start((size_t)(processors > 64 ? 64 : processors) - 1, 1) : NULL;
    bool good = true;
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        good &= hold(pool, &checks[i]);
    if (pool)
        pool_stop(pool);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
