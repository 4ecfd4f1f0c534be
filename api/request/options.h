/* What a request for attention holds: the inputs and options of core, and what only the reply needs. */
#ifndef API_REQUEST_OPTIONS_H
#define API_REQUEST_OPTIONS_H

#include "api/request/include.h"
#include "api/request/option.h"
#include "api/writing/style.h"
#include "core/cost.h"
#include "core/request.h"

/* What explain tells: one query and one key. */
struct cell {
    int64_t query, key, head, batch;
};

/* Where the way back starts: dL/d output, one number of the output, or a loss. */
struct output_cell {
    int64_t query, feature, head, batch;
    bool has_head, has_batch;
};

struct backward_options {
    struct tensor output;
    bool has_cell;
    struct output_cell cell;
    struct words target;
};

/* What a readout scores and how it leaves words out. */
struct readout_options {
    bool all_rows;
    double temperature;
    bool has_temperature, has_top_k, has_top_p;
    int64_t top_k;
    double top_p;
};

/* What results should be. */
struct expectation {
    enum result_id id;
    struct tensor value; /* rank 0: a number; -infinity: hidden */
};

struct expect {
    struct expectation *items; /* in the order of the request */
    size_t count;
    double tolerance;
};

struct options {
    struct attention_request attention;
    struct backward_options backward;
    bool has_step;
    double rate; /* of the step */
    struct readout_options readout;
    struct cost_plan cost;
    struct expect expect;
    bool has_include;
    struct include include;
    struct style style;
    const char *id;                          /* NULL: absent */
    struct strings query_tokens, key_tokens; /* the same list when one was given for both */
    struct strings readout_tokens;
    struct cell cell;
};

/* The members of POST /v1/attention, and of POST /v1/attention/explain; they fill struct options. */
const struct option_table *options_table(void);
const struct option_table *options_explain_table(void);

/* The request of POST /v1/decode: requests for attention, one after another. */
struct steps_request {
    enum dtype unused;    /* the reader wants one before it knows that of a step */
    struct objects steps; /* of struct options */
};
const struct option_table *options_steps_table(void);

/* Fills it with the defaults. */
void options_default(struct options *options);

/* A whole request that uses the option of the table (one of the two): its example, beside q, k, v of two queries and
 * three keys where those fit, and a cell where one is needed. */
void options_example(const struct option_table *table, const struct option *option, struct buffer *out);

/* What follows from options together: gradients are included where `backward` is given and `include` is not. */
void options_complete(struct options *options);

/* What a reply for people needs, `form` "in plain text" or "as a picture": all steps unless `include` says otherwise;
 * ERROR_INVALID for base64, which has no such form. */
bool options_for_people(struct options *options, const char *form, struct error *err);

/* Checks, after attention_check, what only the reply needs: lengths of labels, include, members that mean nothing
 * together. */
bool options_check(const struct options *options, const struct attention *a, struct error *err);

#endif
