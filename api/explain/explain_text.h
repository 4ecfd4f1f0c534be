/* One cell as lines of arithmetic. */
#ifndef API_EXPLAIN_EXPLAIN_TEXT_H
#define API_EXPLAIN_EXPLAIN_TEXT_H

#include "api/explain/explain_gradient.h"
#include "api/numbers/buffer.h"
#include "api/request/options.h"
#include "api/text/query_steps.h"

struct explain_text {
    const struct options *options;
    const struct query_steps *query;
    size_t j;
    const char *const *reasons; /* what hides the key */
    size_t reason_count;
    const struct explain_gradient *gradient;
};

/* Appends the lines; numbers with three decimals unless the options say otherwise. False when there is no memory. */
bool explain_text_write(struct buffer *out, const struct explain_text *lines);

#endif
