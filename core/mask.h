/* Which keys a query may see. */
#ifndef CORE_MASK_H
#define CORE_MASK_H

#include "core/request.h"
#include "core/tensor/arena.h"

#include <math.h>

/* The sizes that masks are checked against; keys count the past. */
struct mask_sizes {
    size_t batch, heads, queries, keys, past;
};

/* A mask made ready. Positions: P(i) = i + offset, R(j) = j; with documents both are counted inside the document:
 * R(j) = earlier keys with j's id, P(i) = earlier queries with i's id + the offset, which is the past keys of that id,
 * or with align_end the document's keys minus its queries; an explicit query_offset is taken as it is. */
struct mask {
    const struct mask_request *request;
    struct mask_sizes sizes;
    enum dtype dtype;              /* of the bias and of the scores that it is added to */
    const int64_t *query_position; /* [n], with documents: offset included unless it was explicit */
    const int64_t *key_position;   /* [m], with documents */
    struct tensor allow, bias;     /* rank-4 views, broadcast by stride 0 */
    bool bias_hides;               /* some entry of the bias is -inf */
    const double *slopes;          /* [h] with alibi */
};

/* Keys [begin, end) may be visible; `some` says that not all of them are (mask_row then knows which). */
struct mask_span {
    size_t begin, end;
    bool some;
};

/* Whether the bias `at` numbers from its start hides: it is -infinity. */
static inline bool mask_hides(struct tensor bias, size_t at)
{
    return bias.dtype == DTYPE_FLOAT64 ? ((const double *)bias.data)[at] == -HUGE_VAL
                                       : ((const float *)bias.data)[at] == -HUGE_VALF;
}

/* Refuses what does not fit the sizes or means nothing together. */
bool mask_check(const struct mask_request *request, struct mask_sizes sizes, struct error *err);

/* Resolves a checked request; memory from the arena. */
bool mask_prepare(struct mask *mask, const struct mask_request *request, struct mask_sizes sizes, enum dtype dtype,
                  struct arena *arena, struct error *err);

/* Which of the keys `from` .. `to` query i of (b, h) may see, those that the bias hides left out. When the span is
 * `some`, visible[j - from] is filled for the keys of the span; its ends are visible then, so that an empty span always
 * has begin == end. */
struct mask_span mask_row(const struct mask *mask, size_t b, size_t h, size_t i, size_t from, size_t to,
                          unsigned char *visible);

/* Adds mask.bias and the ALiBi bias, -slope |P(i) - R(j)|, of query i to row[j - from] for the keys `from` .. `to`, in
 * the request's dtype; a hiding bias gives -inf whatever stood there. */
bool mask_has_bias(const struct mask *mask);
void mask_add_bias(const struct mask *mask, size_t b, size_t h, size_t i, size_t from, size_t to, void *row);

/* |P(i) - R(j)| in batch b. */
double mask_distance(const struct mask *mask, size_t b, size_t i, size_t j);

/* Standard ALiBi slopes of `heads` heads (Press, Smith, Lewis 2022): 2^(-8(t+1)/H) for a power of two; otherwise with N
 * the largest power of two below H those of N, then 2^(-4(2t+1)/N). */
void mask_alibi_slopes(size_t heads, double *slopes);

#endif
