/* Attention as it is written on paper, in double, one number at a time: what core is compared with. Shares no code with
 * core. */
#ifndef TESTS_CORE_REFERENCE_H
#define TESTS_CORE_REFERENCE_H

#include "core/quantity.h"
#include "core/request.h"

#include <stdbool.h>
#include <stddef.h>

/* Form A only: q, k, v of rank 2, 3, 4 or packed, with every option but readout. */
struct reference {
    const struct attention_request *request;
    size_t batch, heads, kv_heads, queries, keys, past, d_k, d_v;
    double scale;
    double
        *of[QUANTITY_COUNT]; /* dense [b][h][n][width], whatever the layout; NULL where the request has no such thing */
};

/* Computes all there is, for a valid request. Aborts when memory is short. Free with reference_free. */
void reference_run(struct reference *ref, const struct attention_request *request);
void reference_free(struct reference *ref);

/* The rules of the mask, for the sizes in `ref`: may query i see key j, the bias not counted; the sum of mask.bias and
 * ALiBi. */
void reference_sizes(struct reference *ref, const struct attention_request *request);
bool reference_sees(const struct reference *ref, size_t b, size_t h, size_t i, size_t j);
bool reference_has_bias(const struct attention_request *request);
double reference_bias(const struct reference *ref, size_t b, size_t h, size_t i, size_t j);

/* |P(i) - R(j)|, and the uniform number of dropout for weight `index`. */
double reference_distance(const struct reference *ref, size_t b, size_t i, size_t j);
double reference_dropout(int64_t seed, size_t index);

/* What enters the scores: row i of the queries of head h, row j of the keys and one value of head g; j counts the past,
 * whose keys are rotated already. */
void reference_query(const struct reference *ref, size_t b, size_t h, size_t i, double *row);
void reference_key(const struct reference *ref, size_t b, size_t g, size_t j, double *row);
double reference_value(const struct reference *ref, size_t b, size_t g, size_t j, size_t t);

/* Element `index` (in the tensor's own strides) as a double. */
double reference_element(struct tensor t, size_t index);

#endif
