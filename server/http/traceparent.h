/* The trace that a request belongs to (W3C Trace Context, level 1). */
#ifndef SERVER_HTTP_TRACEPARENT_H
#define SERVER_HTTP_TRACEPARENT_H

#include <stdbool.h>

#define TRACEPARENT_SIZE 33

/* Takes the trace id out of a traceparent field (NULL: none); false, and "" in `out`, when it is not valid. */
bool traceparent_read(char out[TRACEPARENT_SIZE], const char *traceparent);

#endif
