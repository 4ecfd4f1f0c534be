/* Joining partial results. */
#include "core/forward/merge.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NAME_TEXT 64
#define SHAPE_TEXT 128

/* --- checks --- */

static bool same_shape(struct tensor a, struct tensor b)
{
    return a.rank == b.rank && memcmp(a.shape, b.shape, a.rank * sizeof *a.shape) == 0;
}

static bool refuse(size_t part, const char *member, struct tensor t, const char *wanted, struct error *err)
{
    char name[NAME_TEXT];
    char shape[SHAPE_TEXT];
    snprintf(name, sizeof name, "parts.%zu.%s", part, member);
    return error_set(err, ERROR_INVALID, name, "It has shape %s; %s.", tensor_shape_text(t, shape, sizeof shape),
                     wanted);
}

/* [b][h][n] of a log_sum_exp, absent axes 1. */
static void read_rows(struct tensor lse, struct merge_layout *layout)
{
    layout->queries = lse.shape[lse.rank - 1];
    layout->heads = lse.rank > 1 ? lse.shape[lse.rank - 2] : 1;
    layout->batch = lse.rank > 2 ? lse.shape[0] : 1;
}

static bool find_layout(struct merge_part part, struct merge_layout *layout, struct error *err)
{
    struct tensor y = part.output;
    struct tensor l = part.log_sum_exp;
    if (y.rank < 2 || y.rank > 4)
        return refuse(0, "output", y, "an output has rank 2 to 4", err);
    layout->packed = l.rank == y.rank && y.rank < 4;
    if (!layout->packed && l.rank + 1 != y.rank)
        return refuse(0, "log_sum_exp", l, "it needs one number for each row (and head) of output", err);
    read_rows(l, layout);
    size_t last = y.shape[y.rank - 1];
    layout->width = layout->packed ? last / layout->heads : last;
    bool fits = layout->packed ? last % layout->heads == 0 && y.shape[y.rank - 2] == layout->queries &&
                                     (y.rank == 2 || y.shape[0] == layout->batch)
                               : memcmp(y.shape, l.shape, l.rank * sizeof *l.shape) == 0;
    char shape[SHAPE_TEXT];
    char wanted[SHAPE_TEXT + 64];
    snprintf(wanted, sizeof wanted, "output has shape %s, so it does not fit",
             tensor_shape_text(y, shape, sizeof shape));
    return fits || refuse(0, "log_sum_exp", l, wanted, err);
}

bool merge_check(const struct merge_part *parts, size_t count, struct merge_layout *layout, struct error *err)
{
    char first[SHAPE_TEXT];
    char wanted[SHAPE_TEXT + 64];
    bool good = find_layout(parts[0], layout, err);
    for (size_t p = 1; good && p < count; p++) {
        snprintf(wanted, sizeof wanted, "the first part has %s",
                 tensor_shape_text(parts[0].output, first, sizeof first));
        if (!same_shape(parts[p].output, parts[0].output))
            good = refuse(p, "output", parts[p].output, wanted, err);
        snprintf(wanted, sizeof wanted, "the first part has %s",
                 tensor_shape_text(parts[0].log_sum_exp, first, sizeof first));
        if (!same_shape(parts[p].log_sum_exp, parts[0].log_sum_exp))
            good = refuse(p, "log_sum_exp", parts[p].log_sum_exp, wanted, err);
    }
    return good;
}

/* --- the merge --- */

static double get(struct tensor t, size_t at)
{
    return dtype_get(t.dtype, t.data, at);
}

static double largest(const struct merge_part *parts, size_t count, size_t row)
{
    double most = -HUGE_VAL;
    for (size_t p = 0; p < count; p++)
        most = fmax(most, get(parts[p].log_sum_exp, row));
    return most;
}

/* share[p] = e^(l_p - M); returns their sum, 0 when all are -inf. */
static double find_shares(const struct merge_part *parts, size_t count, size_t row, double most, double *share)
{
    double sum = 0;
    for (size_t p = 0; p < count; p++) {
        double l = get(parts[p].log_sum_exp, row);
        share[p] = l == -HUGE_VAL ? 0 : exp(l - most);
        sum += share[p];
    }
    return sum;
}

/* sum_p share_p y_p / sum, kept between the least and the largest y_p: where the shares add up to a little more than 1
 * it might overflow. */
static double mix(const struct merge_part *parts, size_t count, size_t at, const double *share, double sum)
{
    double y = 0;
    double least = HUGE_VAL;
    double most = -HUGE_VAL;
    for (size_t p = 0; p < count; p++) {
        double part = get(parts[p].output, at);
        if (share[p] == 0)
            continue;
        y += share[p] / sum * part;
        least = fmin(least, part);
        most = fmax(most, part);
    }
    return sum == 0 ? 0 : fmin(fmax(y, least), most);
}

static size_t output_at(const struct merge_layout *s, size_t row)
{
    size_t i = row % s->queries;
    size_t h = row / s->queries % s->heads;
    size_t b = row / s->queries / s->heads;
    return s->packed ? ((b * s->queries + i) * s->heads + h) * s->width : row * s->width;
}

void merge_run(const struct merge_part *parts, size_t count, const struct merge_layout *s, double *share, void *output,
               void *log_sum_exp)
{
    enum dtype dtype = parts[0].output.dtype;
    for (size_t row = 0; row < s->batch * s->heads * s->queries; row++) {
        double most = largest(parts, count, row);
        double sum = find_shares(parts, count, row, most, share);
        size_t at = output_at(s, row);
        dtype_set(dtype, log_sum_exp, row, most == -HUGE_VAL ? most : most + log(sum));
        for (size_t f = at; f < at + s->width; f++)
            dtype_set(dtype, output, f, mix(parts, count, f, share, sum));
    }
}
