/* Memory that runs out on demand: the program linked with tests/fault/fault.c counts its allocations on a page that it
 * shares with the test, and fails the one that the test asks for. */
#ifndef TESTS_FAULT_FAULT_H
#define TESTS_FAULT_FAULT_H

#include <stdatomic.h>

#define FAULT_FILE "ATTENTION_FAULT_FILE" /* the variable that names the shared file */

struct fault_page {
    atomic_long left;  /* allocations that still succeed; below 0: all of them */
    atomic_int lasts;  /* nonzero: after the one that fails, all others fail too */
    atomic_long count; /* allocations that failed */
};

#endif
