/* A reply of the Open Inference Protocol: JSON with the numbers of some outputs, then the bytes of the others. */
#ifndef API_INFER_INFER_REPLY_H
#define API_INFER_INFER_REPLY_H

#include "api/infer/infer_request.h"
#include "api/raw/raw_reply.h"

struct infer_output {
    const struct section *section;
    enum dtype dtype; /* as which it is sent */
    bool binary;
};

struct infer_reply {
    const struct reply *reply;
    const struct infer_request *request;
    struct infer_output *outputs; /* in the order of the request */
    size_t count;
    size_t blocks;      /* one when the reply is whole */
    size_t json_length; /* of a reply with binary outputs, once infer_reply_prepare has counted it */
    size_t length;      /* of all of it; 0: not known */
};

/* Makes of the wishes what /v1/attention calls `include`. */
void infer_reply_include(const struct infer_request *request, struct include *list);

/* Fills a zeroed reply from the plan; ERROR_INVALID for what this request does not have, or JSON does not. */
bool infer_reply_plan(struct infer_reply *infer, const struct reply *reply, const struct infer_request *request,
                      struct arena *arena, struct error *err);

/* After computing: counts the bytes of the JSON, where its length must be known before it is sent. `room`: what a block
 * takes, and what is computed again for it. */
bool infer_reply_prepare(struct infer_reply *infer, size_t room, struct pool *pool, struct error *err);

bool infer_reply_is_binary(const struct infer_reply *infer);

/* At most how many bytes a block has. */
size_t infer_reply_room(const struct infer_reply *infer);

/* One of infer->blocks pieces; false when there is no memory. Any thread. */
bool infer_reply_block(const struct infer_reply *infer, size_t index, struct buffer *out);

/* The *length bytes of a block where they lie, or NULL: they have to be written. */
const void *infer_reply_view(const struct infer_reply *infer, size_t index, size_t *length);

#endif
