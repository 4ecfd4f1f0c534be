/* Refusals of the way back, each where it belongs. */
#include "api/request/backward_check.h"

#include "api/request/json_path.h"
#include "core/backward/gradient.h"
#include "core/backward/loss.h"

#include <stdio.h>
#include <string.h>

static bool check_start(const struct options *o, struct error *err)
{
    const struct backward_options *b = &o->backward;
    int given = (b->output.data != NULL) + b->has_cell + (b->target.values != NULL);
    return given == 1 || error_set(err, ERROR_INVALID, "backward",
                                   "backward says what L is by exactly one of output, cell and target; it has %s.",
                                   given == 0   ? "none"
                                   : given == 2 ? "two"
                                                : "all three");
}

static bool check_output(const struct tensor given, const struct attention *a, struct error *err)
{
    const struct tensor wanted = gradient_shape(a, GRADIENT_OUTPUT);
    char found[96];
    char shape[96];
    bool same = given.rank == wanted.rank;
    for (size_t axis = 0; same && axis < given.rank; axis++)
        same = given.shape[axis] == wanted.shape[axis];
    return same ||
           error_set(err, ERROR_INVALID, "backward.output",
                     "backward.output has shape %s; it needs that of output, %s.",
                     tensor_shape_text(given, found, sizeof found), tensor_shape_text(wanted, shape, sizeof shape));
}

static bool check_index(int64_t index, size_t count, const char *name, const char *what, struct error *err)
{
    char pointer[48];
    snprintf(pointer, sizeof pointer, "backward.cell.%s", name);
    return (uint64_t)index < count || error_set(err, ERROR_INVALID, pointer, "%s %lld is not there: output has %zu %s.",
                                                name, (long long)index, count, what);
}

static bool check_cell(const struct output_cell *c, const struct attention *a, struct error *err)
{
    bool good = check_index(c->query, a->queries, "query", "queries", err);
    good &= check_index(c->feature, a->packed ? a->d_out : a->d_v, "feature", "features", err);
    if (c->has_head && (a->packed || !a->has_heads))
        return error_set(err, ERROR_INVALID, "backward.cell.head",
                         "output has no axis of heads: a cell is its query and its feature%s.",
                         a->packed ? ", which runs over all heads" : "");
    if (c->has_batch && !a->has_batch)
        return error_set(err, ERROR_INVALID, "backward.cell.batch", "output has no axis batch.");
    good &= check_index(c->head, a->packed ? 1 : a->heads, "head", "heads", err);
    return good & check_index(c->batch, a->batch, "batch", "batches", err);
}

/* --- target --- */

static size_t find_word(const struct strings tokens, const char *word)
{
    for (size_t x = 0; x < tokens.count; x++)
        if (strcmp(tokens.values[x], word) == 0)
            return x;
    return LOSS_NO_TARGET;
}

static void name_word(const struct words *t, size_t at, char out[64])
{
    if (t->scalar)
        snprintf(out, 64, "backward.target");
    else if (t->rows == 0)
        snprintf(out, 64, "backward.target.%zu", at);
    else
        snprintf(out, 64, "backward.target.%zu.%zu", at / (t->count / t->rows), at % (t->count / t->rows));
}

static bool check_words(const struct options *o, struct error *err)
{
    const struct words *t = &o->backward.target;
    bool good = true;
    size_t counting = 0;
    for (size_t at = 0; at < t->count; at++) {
        char name[64];
        char shown[JSON_PATH_SHOWN];
        counting += t->values[at] != NULL;
        if (!t->values[at] || find_word(o->readout_tokens, t->values[at]) != LOSS_NO_TARGET)
            continue;
        name_word(t, at, name);
        good = error_set(err, ERROR_INVALID, name, "\"%s\" is no word of readout.tokens.",
                         json_path_show(t->values[at], shown));
    }
    return good & (counting > 0 || error_set(err, ERROR_INVALID, "backward.target",
                                             "No row counts: every target is null, so there is no loss."));
}

static bool check_target_shape(const struct options *o, const struct attention *a, struct error *err)
{
    const struct words *t = &o->backward.target;
    size_t wanted = a->batch * (o->readout.all_rows ? a->queries : 1);
    bool listed = o->readout.all_rows || a->has_batch;
    bool nested = o->readout.all_rows && a->has_batch;
    bool fits = t->count == wanted && t->scalar == !listed && (t->rows == (nested ? a->batch : 0));
    return fits ||
           error_set(
               err, ERROR_INVALID, "backward.target", "It has %zu words; %s.", t->count,
               nested
                   ? "with readout.rows \"all\" and a batch it is one list of words per batch, a word or null per query"
               : o->readout.all_rows ? "with readout.rows \"all\" it is a list, a word or null per query"
               : a->has_batch        ? "with a batch it is a list, a word per batch"
                                     : "it is one word");
}

static bool check_target(const struct options *o, const struct attention *a, struct error *err)
{
    if (!o->readout_tokens.values)
        return error_set(err, ERROR_INVALID, "backward.target",
                         "A target is a word of a readout: give readout with w and tokens.");
    if (!a->packed && a->has_heads)
        return error_set(err, ERROR_INVALID, "backward.target",
                         "Here output has an axis of heads, so a row of it is no readout's row: heads side by side "
                         "(the member heads, or x with w_o) would do.");
    if (o->readout.has_top_k || o->readout.has_top_p)
        return error_set(err, ERROR_INVALID, o->readout.has_top_k ? "readout.top_k" : "readout.top_p",
                         "A loss needs the probability of every word; top_k and top_p leave words out.");
    return check_target_shape(o, a, err) && check_words(o, err);
}

void backward_targets(const struct options *o, size_t rows, size_t *target)
{
    const struct words *t = &o->backward.target;
    for (size_t row = 0; row < rows; row++)
        target[row] = t->values[row] ? find_word(o->readout_tokens, t->values[row]) : LOSS_NO_TARGET;
}

bool backward_check(const struct options *o, const struct attention *a, struct error *err)
{
    const struct backward_options *b = &o->backward;
    if (o->has_step && !o->attention.backward)
        return error_set(err, ERROR_INVALID, "step", "step follows gradients: backward would bring them.");
    if (!o->attention.backward)
        return true;
    if (o->attention.quantize.on)
        return error_set(err, ERROR_INVALID, "backward",
                         "Rounded numbers have no slope: quantize and backward exclude each other.");
    if (o->attention.precision.on)
        return error_set(err, ERROR_INVALID, "backward",
                         "Rounded numbers have no slope: precision and backward exclude each other.");
    if (!check_start(o, err))
        return false;
    return b->output.data ? check_output(b->output, a, err)
           : b->has_cell  ? check_cell(&b->cell, a, err)
                          : check_target(o, a, err);
}
