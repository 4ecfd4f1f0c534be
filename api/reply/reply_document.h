/* The members of a reply that are no tensors: JSON of their own. */
#ifndef API_REPLY_REPLY_DOCUMENT_H
#define API_REPLY_REPLY_DOCUMENT_H

#include "api/reply/reply.h"

struct reply_document {
    size_t (*numbers)(const struct options *options, const struct attention *a); /* that count in the limit */
    void (*write)(struct writer *w, const struct reply *reply);
    const char *(*schema)(void); /* an object */
};

/* Of a result that is a document. */
const struct reply_document *reply_document(enum result_id id);

#endif
