/* The arithmetic of one query, written out as on paper: dot products, softmax, mix. */
#ifndef API_STORY_H
#define API_STORY_H

#include "api/options.h"
#include "api/query.h"
#include "api/text.h"

struct story {
    const struct options *options;
    int decimals;
};

/* "cat . the = 1.1*-0.4 + ..", its products and their sum; lines of at most 80 columns. Indented by two. False when
 * there is no memory. */
bool story_product(struct text *out, const struct story *story, const struct query *query, size_t j);

/* Scores, exponentials and shares of the keys, and their totals. */
void story_softmax(struct text *out, const struct story *story, const struct query *query);

/* The weighted values and their sum, `output` (d_v numbers of the dtype). False when there is no memory. */
bool story_mix(struct text *out, const struct story *story, const struct query *query, const void *output);

#endif
