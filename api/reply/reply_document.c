/* The rows of documents. */
#include "api/reply/reply_document.h"

#include "api/reply/cost_json.h"

/* Of the bill nothing counts: it is as long for any request. */
static size_t count_none(const struct options *o, const struct attention *a)
{
    (void)o;
    (void)a;
    return 0;
}

static void write_cost(struct writer *w, const struct options *o, const struct attention *a, const struct readout *r)
{
    (void)o;
    (void)r;
    cost_json_write(w, a);
}

static void write_readout(struct writer *w, const struct options *o, const struct attention *a, const struct readout *r)
{
    readout_write(r, o, a, w);
}

const struct reply_document *reply_document(enum result_id id)
{
    static const struct reply_document documents[RESULT_COUNT] = {
        [RESULT_COST] = {count_none, write_cost, cost_json_schema},
        [RESULT_READOUT] = {readout_numbers, write_readout, readout_schema},
    };
    return &documents[id];
}
