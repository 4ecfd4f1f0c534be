/* Processors: affinity and control group. */
#include "server/machine/cpu.h"

#include "server/machine/cgroup.h"

#include <math.h>
#include <sched.h>
#include <unistd.h>

/* Of version 2 of control groups, which has one file ("max 100000": no bound), or 1, which has two (-1: no bound). */
static double read_quota(const char *folder)
{
    double quota = 0;
    double period = 0;
    double none = 0;
    if (cgroup_read_numbers(folder, "cpu.max", &quota, &period) < 2 &&
        (cgroup_read_numbers(folder, "cpu.cfs_quota_us", &quota, &none) < 1 ||
         cgroup_read_numbers(folder, "cpu.cfs_period_us", &period, &none) < 1))
        return 0;
    return quota > 0 && period > 0 ? quota / period : 0;
}

double cpu_quota(const char *root, FILE *groups)
{
    return cgroup_least(root, groups, "cpu", read_quota);
}

size_t cpu_count(void)
{
    cpu_set_t set;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    double count = online > 0 ? (double)online : 1;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        count = fmin(count, CPU_COUNT(&set));
    double quota = cgroup_own("cpu", read_quota);
    if (quota > 0)
        count = fmin(count, ceil(quota));
    return count < 1 ? 1 : (size_t)count;
}
