/* How much memory this process may have. */
#ifndef SERVER_MACHINE_MEMORY_H
#define SERVER_MACHINE_MEMORY_H

#include <stddef.h>
#include <stdio.h>

/* Bytes: the least of the machine's memory and the limit of this process's control groups. */
size_t memory_granted(void);

/* The limit that control groups set (memory.max, or memory.limit_in_bytes of version 1), as cgroup_least finds it; 0:
 * no bound. */
double memory_limit(const char *root, FILE *groups);

#endif
