/* The kernel of OpenBLAS: where a build knows this processor too little, the program starts again with a better one. */
#ifndef SERVER_MACHINE_KERNEL_H
#define SERVER_MACHINE_KERNEL_H

#include "server/watch/log.h"

/* Call before any thread exists, with what main got. Unless the operator has set OPENBLAS_CORETYPE, kernels that use
 * more of the processor are tried, each by a process of its own that holds its products against plain loops; the first
 * that is right is taken by executing this program again. Returns when there is none, or when that was done. */
void kernel_choose(char **argv);

/* Logs the kernel, and a warning where it was chosen by us or is older than the processor. */
void kernel_report(struct log *log);

#endif
