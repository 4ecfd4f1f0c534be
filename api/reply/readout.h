/* The readout: the last query's output row scored against a vocabulary. */
#ifndef API_REPLY_READOUT_H
#define API_REPLY_READOUT_H

#include "api/json/writer.h"
#include "api/request/options.h"
#include "core/arena.h"
#include "core/attention.h"

/* A word of the vocabulary: logit = row . w, the heads of the row side by side; probability = softmax of the logits. */
struct readout_word {
    double logit, probability;
    size_t index;
};

struct readout {
    size_t batch, words;
    struct readout_word *word; /* [batch][words], largest logit first, equal ones in the order of the vocabulary */
};

/* `output` is the result as returned. ERROR_INVALID when a logit overflows the dtype. */
bool readout_compute(struct readout *readout, const struct options *options, const struct attention *a,
                     const void *output, struct arena *arena, struct error *err);

/* Writes [{"token","logit","probability"}, ...]; a list of such lists where there is a batch axis. */
void readout_write(const struct readout *readout, const struct options *options, const struct attention *a,
                   struct writer *w);

/* How many numbers that has; its schema, as a value. */
size_t readout_numbers(const struct options *options, const struct attention *a);
void readout_schema(struct writer *w);

#endif
