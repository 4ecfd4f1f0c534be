/* Sending a reply: the one place that knows which headers every reply carries. */
#ifndef SERVER_EXCHANGE_ANSWER_H
#define SERVER_EXCHANGE_ANSWER_H

#include "api/numbers/buffer.h"
#include "server/http/reply_head.h"

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>

#define ANSWER_PART ((size_t)256 * 1024) /* bytes of a reply that a client takes in each --write-timeout */

struct exchange;
struct settings;
struct page_cache_page;
struct stream;

/* Zero-initialise; what is not set is not sent. */
struct answer {
    struct reply_head head;             /* what is of the request is filled in */
    struct buffer body;                 /* taken over */
    const struct page_cache_page *page; /* instead of body: stays where it is */
    struct stream *stream;              /* taken over; instead of body */
    bool packed;                        /* the body is gzip already */
};

/* Sends it; what libmicrohttpd's handler has to return. */
enum MHD_Result answer_send(struct exchange *exchange, struct answer *answer);

/* Sends a refusal, with what belongs to it (Retry-After and such). `text` is its JSON when it was made before (taken
 * over), or empty. */
enum MHD_Result answer_problem(struct exchange *exchange, const struct problem *problem, struct buffer *text);

/* The reply that needs no memory when it is wanted. */
struct MHD_Response *answer_make_spent(const struct settings *settings);

#endif
