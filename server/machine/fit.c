/* Fitting settings to the machine. */
#include "server/machine/fit.h"

#include "core/tensor/pool.h"
#include "server/machine/cpu.h"

#include <stdio.h>

#define MIB ((size_t)1 << 20)
#define OWN (80 * MIB) /* the program, a thousand connections */
/* Of each worker: brief work beside a request, up to 16; OpenBLAS's buffer and its stack, 6 when measured. */
#define WORKER_OWN (24 * MIB)
#define MEMORY_MOST (2048 * MIB)
#define REQUEST_MOST (1024 * MIB)
#define LEAST MIB /* of either, however small the machine */

static size_t lesser(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t subtract(size_t from, size_t bytes)
{
    return from > bytes ? from - bytes : 0;
}

static size_t clamp(size_t bytes, size_t most)
{
    size_t whole = bytes - bytes % MIB;
    return whole < LEAST ? LEAST : lesser(whole, most);
}

/* The program itself may have no more than half of a small machine. */
static size_t find_own(const struct settings *settings, size_t granted)
{
    return lesser(OWN + settings->workers * WORKER_OWN, granted / 2);
}

static void fit_workers(struct settings *settings)
{
    if (settings->workers == 0)
        settings->workers = lesser(cpu_count(), POOL_WORKERS_MAX);
}

void fit_settings(struct settings *settings, size_t granted)
{
    fit_workers(settings);
    size_t room = granted - find_own(settings, granted);
    if (settings->memory == 0)
        settings->memory = settings->request_memory == 0
                               ? clamp(room / 2, MEMORY_MOST)
                               : clamp(subtract(room, settings->workers * settings->request_memory), MEMORY_MOST);
    if (settings->request_memory == 0)
        settings->request_memory = clamp(subtract(room, settings->memory) / settings->workers, REQUEST_MOST);
    settings->max_body = lesser(settings->max_body, settings->memory); /* a larger one could never be held */
}

bool fit_check(const struct settings *settings, size_t granted, char *why, size_t size)
{
    double own = (double)find_own(settings, granted);
    double workers = (double)settings->workers * (double)settings->request_memory;
    double sum = (double)settings->memory + workers + own;
    if (sum <= (double)granted)
        return true;
    snprintf(why, size,
             "the limits add up to %.0f MiB (--memory %.0f, %zu workers with --request-memory %.0f each, the program "
             "%.0f), but there are only %.0f here: the kernel may end the process before they refuse anything",
             sum / (double)MIB, (double)settings->memory / (double)MIB, settings->workers,
             (double)settings->request_memory / (double)MIB, own / (double)MIB, (double)granted / (double)MIB);
    return false;
}
