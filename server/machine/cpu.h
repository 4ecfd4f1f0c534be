/* How many processors this process may use. */
#ifndef SERVER_MACHINE_CPU_H
#define SERVER_MACHINE_CPU_H

#include <stddef.h>
#include <stdio.h>

/* The least of the processors online, this process's affinity and the quota of its control groups, rounded up; at
 * least 1. */
size_t cpu_count(void);

/* Processors that control groups grant to a process, as cgroup_least finds them; 0: no bound. */
double cpu_quota(const char *root, FILE *groups);

#endif
