/* What control groups, of version 1 or 2, grant to a process. */
#ifndef SERVER_MACHINE_CGROUP_H
#define SERVER_MACHINE_CGROUP_H

#include <stdio.h>

#define CGROUP_ROOT "/sys/fs/cgroup"

/* The amount that the files of a group's folder say; 0: no bound, or no such file. */
typedef double cgroup_reader(const char *folder);

/* The least amount of the `groups` that a process is in (/proc/self/cgroup; NULL: the root alone) and of those above
 * them, mounted at `root`, where version 1 has a folder for each controller ("cpu"); 0: no bound. */
double cgroup_least(const char *root, FILE *groups, const char *controller, cgroup_reader *read);

/* The same for this process, on this system. */
double cgroup_own(const char *controller, cgroup_reader *read);

/* For readers: how many of two numbers a file begins with. */
int cgroup_read_numbers(const char *folder, const char *name, double *first, double *second);

#endif
