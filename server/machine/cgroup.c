/* Control groups. */
#include "server/machine/cgroup.h"

#include <stdbool.h>
#include <string.h>

#define PATH_SIZE 1024

int cgroup_read_numbers(const char *folder, const char *name, double *first, double *second)
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

static double lesser(double a, double b)
{
    return a > 0 && (b <= 0 || a < b) ? a : b;
}

/* The group itself may be below the one that has the bound. */
static double least_of_group(const char *root, const char *group, cgroup_reader *read)
{
    char folder[PATH_SIZE];
    double least = 0;
    snprintf(folder, sizeof folder, "%s%s", root, group);
    for (;;) {
        least = lesser(least, read(folder));
        if (strlen(folder) <= strlen(root))
            return least;
        *strrchr(folder, '/') = '\0';
    }
}

static bool names_controller(const char *list, const char *controller)
{
    for (;;) {
        size_t length = strcspn(list, ",");
        if (length == strlen(controller) && strncmp(list, controller, length) == 0)
            return true;
        if (list[length] == '\0')
            return false;
        list += length + 1;
    }
}

/* A line is number:controllers:group; version 2 names no controllers. */
static double least_of_line(const char *root, char *line, const char *controller, cgroup_reader *read)
{
    char folder[PATH_SIZE];
    line[strcspn(line, "\n")] = '\0';
    char *controllers = strchr(line, ':');
    char *group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group)
        return 0;
    *group++ = '\0';
    if (*++controllers == '\0')
        return least_of_group(root, group, read);
    if (!names_controller(controllers, controller))
        return 0;
    snprintf(folder, sizeof folder, "%s/%s", root, controller);
    return least_of_group(folder, group, read);
}

double cgroup_least(const char *root, FILE *groups, const char *controller, cgroup_reader *read)
{
    char line[PATH_SIZE / 2];
    double least = read(root);
    while (groups && fgets(line, sizeof line, groups))
        least = lesser(least, least_of_line(root, line, controller, read));
    return least;
}

double cgroup_own(const char *controller, cgroup_reader *read)
{
    FILE *groups = fopen("/proc/self/cgroup", "re");
    double least = cgroup_least(CGROUP_ROOT, groups, controller, read);
    if (groups)
        fclose(groups);
    return least;
}
