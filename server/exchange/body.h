/* The body of a request as it comes in: counted, charged to the budget of all requests, never larger than --max-body.
 */
#ifndef SERVER_EXCHANGE_BODY_H
#define SERVER_EXCHANGE_BODY_H

#include "api/numbers/buffer.h"
#include "server/http/problem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct service;

struct body {
    struct buffer text;
    size_t charged;  /* bytes of it in the budget */
    size_t received; /* bytes that came, kept or not */
    size_t lead;     /* blanks before them */
    int64_t deadline;
};

/* The announced length (0: none) is reserved at once, so that the body is never copied; pages are touched as bytes
 * arrive. What follows JSON of `json_length` bytes (0: nothing does) is aligned, by blanks before the JSON, so that it
 * can be used where it lies. */
void body_begin(struct body *body, const struct service *service, size_t length, size_t json_length);

/* Keeps what came. false: it cannot be kept, *problem says why. */
bool body_append(struct body *body, struct service *service, const char *data, size_t size, struct problem *problem);

/* Frees what was kept and gives its charge back. */
void body_drop(struct body *body, struct service *service);

/* The refusal of a body that is too large. Returns false. */
bool body_refuse_size(const struct service *service, struct problem *problem);

/* Bytes of a refused body that are read all the same, so that the connection can go on or the refusal arrives. */
size_t body_enough(const struct service *service);

#endif
