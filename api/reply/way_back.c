/* Upstream gradient, the run, the step. */
#include "api/reply/way_back.h"

#include "api/request/backward_check.h"
#include "core/backward/loss.h"
#include "core/cache/latent_backward.h"

#include <math.h>
#include <string.h>

static double load(enum dtype dtype, const void *data, size_t at)
{
    return dtype == DTYPE_FLOAT64 ? ((const double *)data)[at] : (double)((const float *)data)[at];
}

static void store(enum dtype dtype, void *data, size_t at, double value)
{
    if (dtype == DTYPE_FLOAT64)
        ((double *)data)[at] = value;
    else
        ((float *)data)[at] = (float)value;
}

/* --- what it takes --- */

double way_back_flops(const struct attention *a)
{
    const struct attention_request *r = a->request;
    double rows = (double)a->batch * (double)a->queries;
    double new_rows = (double)a->batch * (double)(a->keys - a->past);
    double pairs = rows * (double)a->heads * (double)a->keys;
    double weights = 0;
    const struct tensor by_rows[] = {r->w_q, r->w_o};
    const struct tensor by_keys[] = {r->w_k, r->w_v};
    if (!r->backward)
        return 0;
    for (size_t x = 0; x < 2; x++) {
        weights += by_rows[x].data ? 4 * rows * (double)tensor_count(by_rows[x]) : 0;
        weights += by_keys[x].data ? 4 * new_rows * (double)tensor_count(by_keys[x]) : 0;
    }
    if (r->has_target)
        weights += 6 * rows * (double)tensor_count(r->readout_w);
    return pairs * (6 * (double)a->d_k + 4 * (double)a->d_v + 12) + weights + latent_backward_flops(a);
}

double way_back_numbers(const struct attention *a, const struct section_list *sections)
{
    double queries = (double)a->batch * (double)a->heads * (double)a->queries;
    double keys = (double)a->batch * (double)a->kv_heads * (double)a->keys;
    double numbers = queries * (double)(2 * a->d_k + 2 * a->d_v) + 2 * keys * (double)(a->d_k + a->d_v);
    numbers += latent_backward_numbers(a);
    for (size_t x = 1; x < sections->count; x++)
        if (sections->at[x].result->gradient != GRADIENT_COUNT && sections->at[x].source == SECTION_VIEW)
            numbers += 2 * (double)sections->at[x].numbers;
    return a->request->backward ? numbers : 0;
}

/* --- L --- */

static bool lose(struct way_back *way, const struct options *o, const struct attention *a, const void *output,
                 const atomic_bool *cancel, struct arena *arena, struct error *err)
{
    struct loss_rows rows = {.all = o->readout.all_rows, .temperature = o->readout.temperature};
    rows.count = a->batch * (rows.all ? a->queries : 1);
    size_t *target = arena_calloc(arena, rows.count, sizeof *target, err);
    way->row_loss = target ? arena_calloc(arena, rows.count, sizeof *way->row_loss, err) : NULL;
    if (!way->row_loss)
        return false;
    backward_targets(o, rows.count, target);
    rows.target = target;
    way->losses = rows.count;
    return loss_run(a, &rows, output, way->row_loss, &way->loss, way->by_output, way->results.of[GRADIENT_READOUT_W],
                    arena, cancel, err);
}

static size_t cell_at(const struct options *o, const struct attention *a)
{
    const struct output_cell *c = &o->backward.cell;
    size_t row = a->packed ? (size_t)c->batch * a->queries + (size_t)c->query
                           : ((size_t)c->batch * a->heads + (size_t)c->head) * a->queries + (size_t)c->query;
    return row * (a->packed ? a->d_out : a->d_v) + (size_t)c->feature;
}

static bool start(struct way_back *way, const struct options *o, const struct attention *a, const void *output,
                  const atomic_bool *cancel, struct arena *arena, struct error *err)
{
    size_t count = gradient_count(a, GRADIENT_OUTPUT);
    way->by_output = o->backward.output.data;
    if (way->by_output)
        return true;
    way->by_output = arena_calloc(arena, count, dtype_size(a->dtype), err);
    if (!way->by_output)
        return false;
    if (o->backward.target.values)
        return lose(way, o, a, output, cancel, arena, err);
    store(a->dtype, way->by_output, cell_at(o, a), 1);
    return true;
}

/* --- what is wanted --- */

static bool is_in_memory(enum gradient gradient)
{
    return gradient_kind(gradient) == GRADIENT_TENSOR || gradient_kind(gradient) == GRADIENT_NUMBER;
}

static bool make_room(struct way_back *way, const struct attention *a, enum gradient gradient, struct arena *arena,
                      struct error *err)
{
    if (gradient == GRADIENT_OUTPUT || way->results.of[gradient])
        return true;
    way->results.of[gradient] = arena_calloc(arena, gradient_count(a, gradient), dtype_size(a->dtype), err);
    return way->results.of[gradient] != NULL;
}

bool way_back_want(struct way_back *way, const struct attention *a, const struct section_list *sections,
                   struct arena *arena, struct error *err)
{
    bool good = true;
    for (size_t x = 1; good && x < sections->count; x++) {
        enum gradient gradient = sections->at[x].result->gradient;
        if (gradient == GRADIENT_COUNT)
            continue;
        if (is_in_memory(gradient))
            good = make_room(way, a, gradient, arena, err);
        else
            way->core.wants[gradient == GRADIENT_PRODUCTS   ? GRADIENT_SCORES
                            : gradient == GRADIENT_JACOBIAN ? GRADIENT_ROW_DOT
                                                            : gradient] = true;
    }
    return good;
}

/* --- after it --- */

static bool show_row_dot(struct way_back *way, const struct attention *a, struct arena *arena, struct error *err)
{
    size_t count = a->batch * a->heads * a->queries;
    if (!way->core.wants[GRADIENT_ROW_DOT])
        return true;
    way->row_dot = arena_calloc(arena, count, dtype_size(a->dtype), err);
    for (size_t row = 0; way->row_dot && row < count; row++)
        store(a->dtype, way->row_dot, row, way->core.row_dot[row] + 0);
    return way->row_dot != NULL;
}

static bool update(struct way_back *way, const struct attention *a, double rate, enum gradient gradient,
                   struct arena *arena, struct error *err)
{
    const struct tensor value = gradient_member(a, gradient);
    size_t count = tensor_count(value);
    way->updated[gradient] = arena_alloc(arena, count * dtype_size(a->dtype), err);
    if (!way->updated[gradient])
        return false;
    for (size_t at = 0; at < count; at++) {
        double x = load(a->dtype, value.data, at) - rate * load(a->dtype, way->results.of[gradient], at);
        store(a->dtype, way->updated[gradient], at, x);
        if (!isfinite(load(a->dtype, way->updated[gradient], at)))
            return error_set(err, ERROR_INVALID, "step", "The step takes %s past the range of %s.",
                             gradient_name(gradient), dtype_name(a->dtype));
    }
    return true;
}

static bool update_all(struct way_back *way, const struct options *o, const struct attention *a,
                       const struct section_list *sections, struct arena *arena, struct error *err)
{
    bool good = true;
    for (size_t x = 1; good && x < sections->count; x++)
        if (sections->at[x].result->part == PART_UPDATED)
            good = update(way, a, o->rate, sections->at[x].result->gradient, arena, err);
    return good;
}

bool way_back_run(struct way_back *way, const struct options *o, const struct attention *a,
                  const struct section_list *sections, const void *output, const void *mixed, const double *log_sums,
                  struct pool *pool, const atomic_bool *cancel, struct arena *arena, struct error *err)
{
    if (!way_back_want(way, a, sections, arena, err) || !start(way, o, a, output, cancel, arena, err))
        return false;
    way->core.a = a;
    way->core.by_output = way->by_output;
    way->core.mixed = mixed;
    way->core.log_sum_exp = log_sums;
    return backward_prepare(&way->core, pool, arena, err) &&
           backward_run(&way->core, &way->results, pool, cancel, arena, err) && show_row_dot(way, a, arena, err) &&
           update_all(way, o, a, sections, arena, err);
}

void *way_back_data(const struct way_back *way, const struct result *result)
{
    if (result->part == PART_UPDATED)
        return way->updated[result->gradient];
    if (result->gradient == GRADIENT_OUTPUT)
        return way->by_output;
    return result->gradient == GRADIENT_ROW_DOT ? way->row_dot : way->results.of[result->gradient];
}

double way_back_number(const struct way_back *way, enum gradient gradient)
{
    return load(way->core.a->dtype, way->results.of[gradient], 0);
}
