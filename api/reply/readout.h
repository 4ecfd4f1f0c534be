/* The readout: output rows, the last query's or all, scored against a vocabulary. */
#ifndef API_REPLY_READOUT_H
#define API_REPLY_READOUT_H

#include "api/request/options.h"
#include "api/writing/writer.h"
#include "core/attention.h"
#include "core/tensor/arena.h"

/* What leaves words out, in this order: each has a probability of its own after it. */
enum readout_stage {
    READOUT_TEMPERATURE,
    READOUT_TOP_K, /* the likeliest k */
    READOUT_TOP_P, /* the smallest set of the likeliest whose probabilities reach p */
    READOUT_STAGES
};

/* A word of the vocabulary: logit = row . w, the heads of the row side by side; exp = e^(logit / T - the largest of
 * them); probability after the last stage. */
struct readout_word {
    double logit, exp, probability;
    double after[READOUT_STAGES];
    size_t index;
};

struct readout {
    size_t rows, words;        /* rows: of each batch the last, or all */
    struct readout_word *word; /* [rows][words], largest logit first, equal ones in the order of the vocabulary */
};

/* `output` is the result as returned. ERROR_INVALID when a logit overflows the dtype. */
bool readout_compute(struct readout *readout, const struct options *options, const struct attention *a,
                     const void *output, struct arena *arena, struct error *err);

/* Writes [{"token","logit","exp","probability"}, ...], with "after" where there are options; a list of such lists where
 * there is a batch axis, and where all rows are scored. */
void readout_write(const struct readout *readout, const struct options *options, const struct attention *a,
                   struct writer *w);

/* How many numbers that has; its schema, as a value. */
size_t readout_numbers(const struct options *options, const struct attention *a);
const char *readout_schema(void);

#endif
