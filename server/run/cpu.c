/* Processors: affinity and control group. */
#include "server/run/cpu.h"

#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROOT "/sys/fs/cgroup"
#define PATH_SIZE 1024

/* How many of two numbers a file begins with. */
static int read_numbers(const char *folder, const char *name, double *first, double *second)
{
    char path[PATH_SIZE];
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = length > 0 && (size_t)length < sizeof path ? fopen(path, "re") : NULL;
    if (!file)
        return 0;
    int count = fscanf(file, "%lf %lf", first, second);
    fclose(file);
    return count;
}

/* Of version 2 of control groups, which has one file ("max 100000": no bound), or 1, which has two (-1: no bound). */
static double read_quota(const char *folder)
{
    double quota = 0;
    double period = 0;
    double none = 0;
    if (read_numbers(folder, "cpu.max", &quota, &period) < 2 &&
        (read_numbers(folder, "cpu.cfs_quota_us", &quota, &none) < 1 ||
         read_numbers(folder, "cpu.cfs_period_us", &period, &none) < 1))
        return 0;
    return quota > 0 && period > 0 ? quota / period : 0;
}

static double lesser_quota(double a, double b)
{
    return a > 0 && (b <= 0 || a < b) ? a : b;
}

/* The group itself may be below the one that has the quota. */
static double least_quota(const char *root, const char *group)
{
    char folder[PATH_SIZE];
    double least = 0;
    snprintf(folder, sizeof folder, "%s%s", root, group);
    for (;;) {
        least = lesser_quota(least, read_quota(folder));
        if (strlen(folder) <= strlen(root))
            return least;
        *strrchr(folder, '/') = '\0';
    }
}

static bool names_cpu(const char *controllers)
{
    for (;;) {
        size_t length = strcspn(controllers, ",");
        if (length == strlen("cpu") && strncmp(controllers, "cpu", length) == 0)
            return true;
        if (controllers[length] == '\0')
            return false;
        controllers += length + 1;
    }
}

/* A line is number:controllers:group; version 2 names no controllers. */
static double line_quota(const char *root, char *line)
{
    char folder[PATH_SIZE];
    line[strcspn(line, "\n")] = '\0';
    char *controllers = strchr(line, ':');
    char *group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group)
        return 0;
    *group++ = '\0';
    if (*++controllers == '\0')
        return least_quota(root, group);
    if (!names_cpu(controllers))
        return 0;
    snprintf(folder, sizeof folder, "%s/cpu", root);
    return least_quota(folder, group);
}

double cpu_quota(const char *root, FILE *groups)
{
    char line[PATH_SIZE / 2];
    double least = read_quota(root);
    while (groups && fgets(line, sizeof line, groups))
        least = lesser_quota(least, line_quota(root, line));
    return least;
}

static double find_quota(void)
{
    FILE *groups = fopen("/proc/self/cgroup", "re");
    double quota = cpu_quota(ROOT, groups);
    if (groups)
        fclose(groups);
    return quota;
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
