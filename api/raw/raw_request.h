/* A request of raw tensors: JSON for its options, and tensors beside it, by the names of the contract. */
#ifndef API_RAW_RAW_REQUEST_H
#define API_RAW_RAW_REQUEST_H

#include "api/json/document.h"

/* How a protocol adds a tensor to a request, after document_read, whose `memory` was NULL, or to a document whose root
 * is its own: decode_object and all checks then take it like an array that stood there.
 *
 * `path` is the member's dotted name ("q", "past.k", "mask.allow"); objects are made on the way. `tensor` is dense; its
 * bytes are little-endian, need not be aligned, and last as long as the request: aligned ones of the request's dtype
 * are used where they lie (arena_adopt takes a body over). Booleans are DTYPE_BOOL. Whether such a member exists, and
 * takes such a tensor, is for decode_object to say. ERROR_INVALID when the member is there already, or something else
 * than an object stands on the way. */
bool raw_request_put(struct document *document, const char *path, struct tensor tensor, struct arena *arena,
                     struct error *err);

/* The same of any other value, which is taken over; NULL is an error. */
bool raw_request_put_value(struct document *document, const char *path, json_t *value, struct error *err);

/* Bytes of a tensor of that shape, or false when they cannot be counted. */
bool raw_request_bytes(enum dtype dtype, size_t rank, const size_t *shape, size_t *bytes);

#endif
