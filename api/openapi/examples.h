/* Worked examples: requests that teach, ready to be sent to POST /v1/attention. */
#ifndef API_OPENAPI_EXAMPLES_H
#define API_OPENAPI_EXAMPLES_H

#include "api/numbers/buffer.h"

#include <stdbool.h>
#include <stddef.h>

struct example {
    const char *name; /* of lower-case letters and hyphens: the last part of /v1/examples/NAME */
    const char *title;
    const char *teaches; /* one sentence */
    const char *look;    /* what to look at in the reply, one sentence */
};

/* Example `index`, or NULL past the last; the example of that name, or NULL. */
const struct example *examples_at(size_t index);
const struct example *examples_find(const char *name);

/* JSON, what GET /v1/examples/NAME answers. */
const char *examples_body(const struct example *example);

/* Appends what GET /v1/examples answers: {"examples":[{"name","title","teaches","look","href"}, ..]}. False when there
 * is no memory. */
bool examples_list(struct buffer *out);

#endif
