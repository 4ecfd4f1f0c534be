/* Processors: affinity and control group. */
#include "server/cpu.h"

#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROOT "/sys/fs/cgroup"

double cpu_quota(FILE *file)
{
    double quota = 0;
    double period = 0;
    return fscanf(file, "%lf %lf", &quota, &period) == 2 && quota > 0 && period > 0 ? quota / period : 0;
}

static double read_quota(const char *folder)
{
    char path[1024];
    int length = snprintf(path, sizeof path, "%s/cpu.max", folder);
    FILE *file = length > 0 && (size_t)length < sizeof path ? fopen(path, "re") : NULL;
    if (!file)
        return 0;
    double quota = cpu_quota(file);
    fclose(file);
    return quota;
}

/* The folder of this process's group, which may be below the one that has the quota. */
static bool find_group(char *folder, size_t size)
{
    char line[512];
    bool found = false;
    FILE *file = fopen("/proc/self/cgroup", "re");
    if (!file)
        return false;
    while (!found && fgets(line, sizeof line, file))
        if (strncmp(line, "0::/", 4) == 0) {
            line[strcspn(line, "\n")] = '\0';
            snprintf(folder, size, "%s%s", ROOT, line + 3);
            found = true;
        }
    fclose(file);
    return found;
}

static double find_quota(void)
{
    char folder[800] = ROOT;
    double least = 0;
    find_group(folder, sizeof folder);
    for (;;) {
        double quota = read_quota(folder);
        if (quota > 0 && (least <= 0 || quota < least))
            least = quota;
        if (strcmp(folder, ROOT) == 0 || strlen(folder) <= strlen(ROOT))
            return least;
        *strrchr(folder, '/') = '\0';
    }
}

size_t cpu_count(void)
{
    cpu_set_t set;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    double count = online > 0 ? (double)online : 1;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        count = fmin(count, CPU_COUNT(&set));
    double quota = find_quota();
    if (quota > 0)
        count = fmin(count, ceil(quota));
    return count < 1 ? 1 : (size_t)count;
}
