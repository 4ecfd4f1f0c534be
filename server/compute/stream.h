/* A reply in blocks: workers encode a few blocks ahead, the event thread sends them in order, and a client that takes
 * nothing stops both. Memory is a window of blocks, whatever the size of the reply, and charged to the budget. */
#ifndef SERVER_COMPUTE_STREAM_H
#define SERVER_COMPUTE_STREAM_H

#include "api/job.h"
#include "server/coding/content_encoding.h"

#include <microhttpd.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct service;
struct stream;

#define STREAM_PART ((size_t)256 * 1024) /* bytes of a reply that a client takes in each --write-timeout */

/* `coding`: none, gzip or zstd. Takes over `job` and the bytes `charged` to the budget, for it and for one of its
 * blocks (also when it returns NULL: no memory). `sent` counts the bytes handed over; it must live as long as
 * stream_read may be called.
 */
struct stream *stream_new(struct service *service, struct MHD_Connection *connection, struct job *job, size_t charged,
                          enum content_encoding coding, atomic_size_t *sent);

/* For MHD_create_response_from_callback: the reader and its end. After stream_close the workers that still encode for
 * it keep what they need alive. */
ssize_t stream_read(void *stream, uint64_t position, char *out, size_t size);
void stream_close(void *stream);

#endif
