/* The arithmetic of one query, written out as on paper: dot products, softmax, mix. */
#ifndef API_TEXT_QUERY_ARITHMETIC_H
#define API_TEXT_QUERY_ARITHMETIC_H

#include "api/numbers/buffer.h"
#include "api/request/options.h"
#include "api/text/query_steps.h"

struct query_arithmetic {
    const struct options *options;
    int decimals;
};

/* "cat . the = 1.1*-0.4 + ..", its products and their sum; lines of at most 80 columns. Indented by two. False when
 * there is no memory. */
bool query_arithmetic_product(struct buffer *out, const struct query_arithmetic *arithmetic,
                              const struct query_steps *query, size_t j);

/* Scores, exponentials and shares of the keys, and their totals. */
void query_arithmetic_softmax(struct buffer *out, const struct query_arithmetic *arithmetic,
                              const struct query_steps *query);

/* The weighted values and their sum, `output` (d_v numbers of the dtype). False when there is no memory. */
bool query_arithmetic_mix(struct buffer *out, const struct query_arithmetic *arithmetic,
                          const struct query_steps *query, const void *output);

#endif
