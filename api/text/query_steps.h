/* One query, every step of it, computed again and widened to double: for text and explanations. */
#ifndef API_TEXT_QUERY_STEPS_H
#define API_TEXT_QUERY_STEPS_H

#include "api/numbers/buffer.h"
#include "core/attention.h"

#include <stdbool.h>

/* of[x]: the numbers of quantity x, [m] or one; NULL where the request has none (and for OUTPUT, LOG_SUM_EXP, PRODUCTS,
 * CONTRIBUTIONS). ALLOWED holds 0 and 1. */
struct query_steps {
    const struct attention *a;
    size_t b, h, i;
    double *of[QUANTITY_COUNT];
    struct buffer *owner;    /* the text that is written of it: lends all of it */
    struct query_rows *rows; /* keys and values that are decoded by tiles */
};

/* At most how many bytes reading one query takes, and its contributions besides. For a checked request. */
size_t query_steps_room(const struct attention *a);
size_t query_steps_contributions_room(const struct attention *a);

/* Of a request that attention_run has accepted. False when `owner` has no room; free in any case. */
bool query_steps_read(struct query_steps *query, const struct attention *a, size_t b, size_t h, size_t i,
                      struct buffer *owner);
void query_steps_free(struct query_steps *query);

/* Contributions of `count` keys to this query, [count][e], and the products of one key, [d]: the owner takes them back;
 * NULL when it has no room. */
double *query_steps_contributions(const struct query_steps *query, size_t first, size_t count);
double *query_steps_products(const struct query_steps *query, size_t j);

/* What multiplies the values: DROPPED where there is dropout, else WEIGHTS. */
enum quantity query_steps_mixing(const struct attention *a);

/* Feature t of q of this query, of k and v of key j. */
double query_steps_q(const struct query_steps *query, size_t t);
double query_steps_k(const struct query_steps *query, size_t j, size_t t);
double query_steps_v(const struct query_steps *query, size_t j, size_t t);

#endif
