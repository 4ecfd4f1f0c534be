/* Memory: the machine's and the control group's. */
#include "server/machine/memory.h"

#include "server/machine/cgroup.h"

#include <math.h>
#include <stdint.h>
#include <unistd.h>

#define NO_BOUND 1e18 /* version 1 says it with a number: the largest that is whole pages */

static double read_limit(const char *folder)
{
    double limit = 0;
    double none = 0;
    if (cgroup_read_numbers(folder, "memory.max", &limit, &none) < 1 &&
        cgroup_read_numbers(folder, "memory.limit_in_bytes", &limit, &none) < 1)
        return 0;
    return limit < NO_BOUND ? limit : 0;
}

double memory_limit(const char *root, FILE *groups)
{
    return cgroup_least(root, groups, "memory", read_limit);
}

size_t memory_granted(void)
{
    long pages = sysconf(_SC_PHYS_PAGES);
    long bytes = sysconf(_SC_PAGESIZE);
    double machine = pages > 0 && bytes > 0 ? (double)pages * (double)bytes : NO_BOUND;
    double limit = cgroup_own("memory", read_limit);
    return (size_t)(limit > 0 ? fmin(machine, limit) : machine);
}
