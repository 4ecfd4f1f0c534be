/* Results held against what the request expects. */
#ifndef API_REPLY_CHECKS_H
#define API_REPLY_CHECKS_H

#include "api/request/options.h"
#include "api/writing/writer.h"
#include "core/tensor/arena.h"

#include <stdatomic.h>

struct reply;

/* How far one result is off. */
struct result_check {
    bool ok;
    double difference; /* the largest; infinite: a hidden cell and a number */
    bool has_shape;    /* of what is expected; false: nothing was compared */
    size_t at;         /* where the largest is, counted row-major */
};

/* Compares; every section of reply->checked is bound. */
bool checks_run(struct reply *reply, const atomic_bool *cancel, struct arena *arena, struct error *err);

/* Writes [{"name","ok","max_abs_difference","at"}, ..] in the order of the request; its schema. */
void checks_write(struct writer *w, const struct reply *reply);
const char *checks_schema(void);

#endif
