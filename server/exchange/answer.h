/* Sending a reply: the one place that hands replies to libmicrohttpd. */
#ifndef SERVER_EXCHANGE_ANSWER_H
#define SERVER_EXCHANGE_ANSWER_H

#include "api/numbers/buffer.h"
#include "server/coding/content_encoding.h"
#include "server/http/reply_head.h"

#include <microhttpd.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct page_cache_page;
struct request;
struct service;
struct settings;
struct stream;

/* What was sent, for who keeps the record. Zero-initialise; only answer_ functions and streams write it. */
struct reply {
    unsigned status; /* 0: none yet */
    enum problem_code problem;
    atomic_size_t sent; /* bytes of the body handed over */
};

/* Zero-initialise; what is not set is not sent. */
struct answer {
    struct reply_head head;             /* what is of the request is filled in */
    struct buffer body;                 /* taken over */
    const struct page_cache_page *page; /* instead of body: stays where it is */
    struct stream *stream;              /* taken over; instead of body */
    size_t length;                      /* of the stream; 0: not known */
    enum content_encoding coding;       /* of the body */
};

/* Sends it; what libmicrohttpd's handler has to return. */
enum MHD_Result answer_send(struct service *service, const struct request *request, struct answer *answer,
                            struct reply *reply);

/* Sends a refusal, with what belongs to it (Retry-After and such). */
enum MHD_Result answer_problem(struct service *service, const struct request *request, const struct problem *problem,
                               struct reply *reply);

/* The same when its JSON is there: in answer->body, in answer->coding. */
enum MHD_Result answer_problem_text(struct service *service, const struct request *request, enum problem_code code,
                                    struct answer *answer, struct reply *reply);

/* Indents answer->body, which is JSON, if the request wants that. */
void answer_indent(const struct request *request, struct answer *answer);

/* The reply that needs no memory when it is wanted. */
struct MHD_Response *answer_make_spent(const struct settings *settings);

#endif
