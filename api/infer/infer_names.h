/* Names of the Open Inference Protocol for what the contract has: inputs, parameters and outputs, from its tables.
 * Members of `mask` and of `steps` have their own names, others those around them in front: mask.window.left is
 * window_left, past.k is past_k, steps.scores is scores. */
#ifndef API_INFER_INFER_NAMES_H
#define API_INFER_INFER_NAMES_H

#include "api/request/option.h"
#include "api/request/result.h"
#include "core/tensor/tensor.h"

#define INFER_MODEL "attention"
#define INFER_VERSION "1"

#define INFER_NAME_MAX 64

/* What an option is there. */
enum infer_kind {
    INFER_PARAMETER, /* a scalar */
    INFER_INPUT,     /* a tensor */
};

struct infer_name {
    char name[INFER_NAME_MAX];
    char path[INFER_NAME_MAX]; /* of the member, dotted */
    const struct option *option;
    enum infer_kind kind;
};

/* Calls `visit` for every one. */
typedef void infer_names_visit(void *context, const struct infer_name *name);
void infer_names_each(infer_names_visit *visit, void *context);

/* The one of that name and kind; false: there is none, and *suggestion is a close one, or empty. */
bool infer_names_find(const char *name, enum infer_kind kind, struct infer_name *found,
                      char suggestion[INFER_NAME_MAX]);

/* The name of a result that an output can be, or NULL: it is a document, or has the name of another. */
const char *infer_names_output(enum result_id id, char name[INFER_NAME_MAX]);

/* The result of that name, or RESULT_COUNT and a suggestion. */
enum result_id infer_names_find_output(const char *name, char suggestion[INFER_NAME_MAX]);

/* "FP32" for a dtype, or NULL; the other way round false where there is no such datatype here. */
const char *infer_names_datatype(enum dtype dtype);
bool infer_names_find_datatype(const char *datatype, enum dtype *dtype);

#endif
