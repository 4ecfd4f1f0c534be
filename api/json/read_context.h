/* What a thread has to read a request with. */
#ifndef API_JSON_READ_CONTEXT_H
#define API_JSON_READ_CONTEXT_H

#include "core/tensor/pool.h"

#include <stdatomic.h>

struct document_memory; /* api/json/document.h */
struct options;         /* api/request/options.h */

/* Each may be NULL; none changes what is read. */
struct read_context {
    struct pool *pool;              /* whose workers take part */
    struct document_memory *memory; /* of the calling thread alone */
    const struct options *defaults; /* made once, for all threads; without it they are made again */
    const atomic_bool *cancel;      /* when it becomes true, a large text is left with ERROR_CANCELLED */
};

#endif
