/* Subnormal numbers cost a processor up to a hundred times what others cost: between flush_begin and flush_end the
 * calling thread takes them for 0 and rounds to 0 what would be one (FTZ and DAZ of x86-64, FZ of arm64). Between
 * flush_pause and flush_end it keeps them, wherever it was. */
#ifndef CORE_FORWARD_FLUSH_H
#define CORE_FORWARD_FLUSH_H

#include <stdint.h>

/* What the thread's control word was. flush_end puts it back. */
uint64_t flush_begin(void);
uint64_t flush_pause(void);
void flush_end(uint64_t control);

/* The control word as it is; 0 where the processor has none that is known here. */
uint64_t flush_control(void);

#endif
