/* The trace that a request belongs to (W3C Trace Context, level 1). */
#ifndef SERVER_TRACE_H
#define SERVER_TRACE_H

#include <stdbool.h>

#define TRACE_SIZE 33

/* Takes the trace id out of a traceparent field (NULL: none); false, and "" in `out`, when it is not valid. */
bool trace_read(char out[TRACE_SIZE], const char *traceparent);

#endif
