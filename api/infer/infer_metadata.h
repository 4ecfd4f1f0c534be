/* What the Open Inference Protocol tells of the server and of its model. */
#ifndef API_INFER_INFER_METADATA_H
#define API_INFER_INFER_METADATA_H

#include "api/writing/writer.h"

#include <stdbool.h>
#include <stdint.h>

/* Each writes one JSON value: name, version and extensions of the server; inputs and outputs of the model; the same as
 * perf_analyzer reads them, with what each parameter means; the list of models. */
void infer_metadata_server(struct writer *w, const char *version);
void infer_metadata_model(struct writer *w);
void infer_metadata_config(struct writer *w);
void infer_metadata_index(struct writer *w, bool ready);

/* How often something was done, and nanoseconds of all of it together. */
struct infer_times {
    uint64_t count, ns;
};

struct infer_statistics {
    uint64_t last; /* milliseconds since 1970 */
    struct infer_times success, fail, queue, input, compute, output;
};

void infer_metadata_statistics(struct writer *w, const struct infer_statistics *statistics);

/* Lists for the schema: names of a kind, and of outputs. */
void infer_metadata_names(struct writer *w, bool inputs);

#endif
