/* One cell as lines of arithmetic. */
#ifndef API_LINES_H
#define API_LINES_H

#include "api/options.h"
#include "api/query.h"
#include "api/text.h"

struct lines {
    const struct options *options;
    const struct query *query;
    size_t j;
    const char *const *reasons; /* what hides the key */
    size_t reason_count;
};

/* Appends the lines; numbers with three decimals unless the options say otherwise. False when there is no memory. */
bool lines_write(struct text *out, const struct lines *lines);

#endif
