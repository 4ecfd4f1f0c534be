/* What x is made of: rows of an embedding, and positions added to them (Vaswani et al. 2017, sections 3.4 and 3.5;
 * without the factor sqrt(d_model)). */
#ifndef CORE_BACKWARD_EMBEDDING_H
#define CORE_BACKWARD_EMBEDDING_H

#include "core/request.h"
#include "core/tensor/arena.h"

/* Refuses ids beside x or without an embedding, ids that are no row of it, positions without either. */
bool embedding_check(const struct attention_request *request, struct error *err);

/* Sets request->x of a checked request: the rows of `ids`, or x itself, in new memory where it changes; positions begin
 * with the length of the past: PE(p, 2t) = sin(p 10000^(-2t/D)), PE(p, 2t + 1) = cos of the same. */
bool embedding_gather(struct attention_request *request, struct arena *arena, struct error *err);

/* d embedding from d x [rows of x][d_model]: rows of equal ids are summed in order, in double. */
bool embedding_scatter(const struct attention_request *request, const void *by_x, void *out, struct arena *arena,
                       struct error *err);

#endif
