/* A request of the Open Inference Protocol, taken apart: what the contract calls it, and which outputs are wanted. */
#ifndef API_INFER_INFER_REQUEST_H
#define API_INFER_INFER_REQUEST_H

#include "api/json/document.h"
#include "api/request/result.h"

/* An output as it was asked for. */
struct infer_wish {
    enum result_id id;
    bool binary;
};

struct infer_request {
    const char *id; /* NULL: none */
    size_t id_length;
    struct infer_wish *wishes; /* in the order of the request; at least one */
    size_t wish_count;
    enum dtype datatype; /* of the tensors: what comes back in it is rounded to it */
};

/* The bytes behind the JSON. */
struct infer_bytes {
    unsigned char *data;
    size_t length;
};

/* Reads `document` and fills `contract`: its tensors and a root of its own (the caller's to release), a request as
 * /v1/attention takes it; decoding that says what is wrong with options and shapes. Names, datatypes, sizes, counts and
 * the bytes have been judged then: ERROR_INVALID names what is at fault as the protocol calls it. All lives in the
 * arena; the bytes must last as long. */
bool infer_request_read(const struct document *document, struct infer_bytes bytes, struct arena *arena,
                        struct document *contract, struct infer_request *request, struct error *err);

#endif
