/* What a request takes in memory: known before anything is computed. */
#ifndef API_PRICE_H
#define API_PRICE_H

#include "api/reply/reply.h"
#include "api/reply/section_rows.h"

/* Bytes at most, beside those of the request as it came; scratch that of one worker. */
struct price {
    double operands; /* queries, keys and values made of others: projected, turned, joined, quantised */
    double results;
    double scratch;
    double lasting; /* of the operands, at least: what stays to the end, whatever is asked for */
    double text;    /* of a reply in one piece, and what is computed again for it */
};

/* Which parts of an answer are asked for. */
struct price_order {
    bool in_one_piece;
    bool shows_keys;  /* of an absorbed latent request too */
    bool tells_query; /* in words (query_steps.h) */
    double drawn;     /* bytes of a picture, or of colours */
};

/* Of a planned reply. */
struct price price_find(const struct reply *reply, struct price_order order);
double price_sum(struct price price);

/* ERROR_TOO_LARGE, with what it is made of, when that and the bytes `given` are more than `limit`. */
bool price_check(struct price price, size_t given, size_t limit, struct error *err);

/* Bytes of the text of all numbers of a reply. */
double price_numbers(const struct reply *reply);

/* Bytes that reading the rows of any section takes at most. */
double price_rows(const struct reply *reply);

#endif
