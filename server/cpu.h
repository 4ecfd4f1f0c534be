/* How many processors this process may use. */
#ifndef SERVER_CPU_H
#define SERVER_CPU_H

#include <stddef.h>
#include <stdio.h>

/* The least of the processors online, this process's affinity and the quota of its control groups, rounded up; at
 * least 1. */
size_t cpu_count(void);

/* Processors that the text of a cpu.max file grants ("200000 100000" is 2, "max 100000" is 0: no bound). */
double cpu_quota(FILE *file);

#endif
