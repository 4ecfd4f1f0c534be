/* What a thread has to read a request with. */
#ifndef API_MEANS_H
#define API_MEANS_H

#include "core/pool.h"

#include <stdatomic.h>

struct document_memory; /* api/document.h */

/* Each may be NULL; none changes what is read. */
struct means {
    struct pool *pool;              /* whose workers take part */
    struct document_memory *memory; /* of the calling thread alone */
    const atomic_bool *cancel;      /* when it becomes true, a large text is left with ERROR_CANCELLED */
};

#endif
