/* Formats of the stages, and what rounding does. */
#include "core/cache/precision.h"

#include "core/attention.h"
#include "core/forward/rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const char *precision_stage_name(enum precision_stage stage)
{
    static const char *const names[PRECISION_STAGE_COUNT] = {
#define PRECISION_NAME(id, name, what) name,
        PRECISION_STAGES(PRECISION_NAME)
#undef PRECISION_NAME
    };
    return names[stage];
}

/* --- check --- */

static enum format format_of_dtype(enum dtype dtype)
{
    return dtype == DTYPE_FLOAT64 ? FORMAT_FLOAT64 : FORMAT_FLOAT32;
}

static enum format format_of_profile(enum precision_profile profile, enum precision_stage stage)
{
    static const struct {
        enum format narrow, output, other;
    } profiles[] = {
        [PRECISION_BF16_KERNEL] = {FORMAT_BFLOAT16, FORMAT_BFLOAT16, FORMAT_FLOAT32},
        [PRECISION_FP16] = {FORMAT_FLOAT16, FORMAT_FLOAT16, FORMAT_FLOAT32},
        [PRECISION_BF16_ALL] = {FORMAT_BFLOAT16, FORMAT_BFLOAT16, FORMAT_BFLOAT16},
        [PRECISION_FP8] = {FORMAT_FLOAT8_E4M3, FORMAT_BFLOAT16, FORMAT_FLOAT32},
    };
    if (stage == PRECISION_INPUTS || stage == PRECISION_WEIGHTS)
        return profiles[profile].narrow;
    return stage == PRECISION_OUTPUT ? profiles[profile].output : profiles[profile].other;
}

static void resolve(const struct precision_request *r, enum dtype dtype, struct precision *p)
{
    *p = (struct precision){.on = r->on, .pairwise = r->pairwise};
    for (size_t x = 0; x < PRECISION_STAGE_COUNT; x++)
        p->stage[x] = r->given[x]      ? r->stage[x]
                      : r->has_profile ? format_of_profile(r->profile, (enum precision_stage)x)
                                       : format_of_dtype(dtype);
}

static bool check_others(const struct attention *a, struct error *err)
{
    const struct attention_request *r = a->request;
    bool good = true;
    if (r->latent.on)
        good = error_set(err, ERROR_INVALID, "precision",
                         "precision follows keys and values of heads; it does not go with latent.");
    if (r->variant == VARIANT_LINEAR)
        good = error_set(err, ERROR_INVALID, "variant", "precision follows a softmax; variant linear has none.");
    if (r->quantize.on)
        good = error_set(err, ERROR_INVALID, "quantize",
                         "quantize and precision do not go together: the error of one would hide that of the other.");
    return good;
}

/* Steps are kept in the dtype of the request. */
static bool check_width(const struct attention *a, struct error *err)
{
    char name[48];
    for (size_t x = 0; a->dtype == DTYPE_FLOAT32 && x < PRECISION_STAGE_COUNT; x++) {
        if (a->precision.stage[x] != FORMAT_FLOAT64)
            continue;
        snprintf(name, sizeof name, "precision.%s", precision_stage_name((enum precision_stage)x));
        return error_set(err, ERROR_INVALID, name, "float64 is wider than dtype float32, in which steps are kept.");
    }
    return true;
}

bool precision_check(struct attention *a, struct error *err)
{
    const struct precision_request *r = &a->request->precision;
    if (!r->on)
        return true;
    resolve(r, a->dtype, &a->precision);
    if (!check_others(a, err) || !check_width(a, err))
        return false;
    return rows_are_small(a) ||
           error_set(
               err, ERROR_INVALID, "precision",
               "precision is emulated in small heads, where queries * keys * (d_k + d_v) is at most %d; here it is "
               "%.0f.",
               ROWS_SMALL_TERMS, (double)a->queries * (double)a->keys * (double)(a->d_k + a->d_v));
}

/* --- rounding --- */

double precision_round(const struct precision *p, enum precision_stage stage, double x, struct precision_tally *tally)
{
    double y = format_round(p->stage[stage], x);
    if (tally && y != x) {
        tally->saturated += isfinite(y) && fabs(x) > format_largest(p->stage[stage]);
        tally->zeroed += y == 0;
    }
    return y;
}

static bool round_tensor(const struct attention *a, struct tensor *t, struct arena *arena, struct error *err)
{
    struct tensor rounded = tensor_dense(t->dtype, 4, t->shape, NULL);
    rounded.data = arena_calloc(arena, tensor_count(rounded), dtype_size(t->dtype), err);
    if (!rounded.data)
        return false;
    for (size_t row = 0; row < t->shape[0] * t->shape[1] * t->shape[2]; row++) {
        const void *from =
            tensor_row(*t, row / t->shape[2] / t->shape[1], row / t->shape[2] % t->shape[1], row % t->shape[2]);
        for (size_t x = 0; x < t->shape[3]; x++)
            dtype_set(t->dtype, rounded.data, row * t->shape[3] + x,
                      precision_round(&a->precision, PRECISION_INPUTS, dtype_get(t->dtype, from, x), NULL));
    }
    *t = rounded;
    return true;
}

bool precision_round_inputs(struct attention *a, struct arena *arena, struct error *err)
{
    return round_tensor(a, &a->q, arena, err) && round_tensor(a, &a->k, arena, err) &&
           round_tensor(a, &a->v, arena, err);
}

/* --- counting --- */

static void count_row(const struct attention *a, struct tensor t, size_t b, size_t h, size_t row,
                      struct precision_tally *tally)
{
    const void *from = tensor_row(t, b, h, row);
    for (size_t x = 0; x < t.shape[3]; x++)
        precision_round(&a->precision, PRECISION_INPUTS, dtype_get(t.dtype, from, x), tally);
}

/* Queries that see a key, keys that some query sees; used: [b][g][m]. */
static void count_inputs(const struct attention *a, unsigned char *used, unsigned char *visible,
                         struct precision_tally *tally)
{
    size_t group = a->heads / a->kv_heads;
    for (size_t row = 0; row < a->batch * a->heads * a->queries; row++) {
        size_t i = row % a->queries;
        size_t h = row / a->queries % a->heads;
        size_t b = row / a->queries / a->heads;
        struct mask_span span = mask_row(&a->mask, b, h, i, 0, a->keys, visible);
        if (span.begin < span.end)
            count_row(a, a->kept_q, b, h, i, tally);
        for (size_t j = span.begin; j < span.end; j++)
            used[(b * a->kv_heads + h / group) * a->keys + j] |= !span.some || visible[j];
    }
    for (size_t x = 0; x < a->batch * a->kv_heads * a->keys; x++) {
        if (!used[x])
            continue;
        count_row(a, a->kept_k, x / a->keys / a->kv_heads, x / a->keys % a->kv_heads, x % a->keys, tally);
        count_row(a, a->kept_v, x / a->keys / a->kv_heads, x / a->keys % a->kv_heads, x % a->keys, tally);
    }
}

bool precision_count(const struct attention *a, struct precision_tally *tally, struct arena *arena, struct error *err)
{
    unsigned char *used = arena_calloc(arena, a->batch * a->kv_heads + 1, a->keys, err);
    void *scratch = arena_calloc(arena, 1, rows_scratch(a), err);
    void *output = arena_calloc(arena, attention_block(a, 0).count * a->d_v, dtype_size(a->dtype), err);
    *tally = (struct precision_tally){0};
    if (!used || !scratch || !output)
        return false;
    count_inputs(a, used, used + a->batch * a->kv_heads * a->keys, tally);
    for (size_t block = 0; block < attention_blocks(a); block++) {
        struct rows rows = {.a = a, .at = attention_block(a, block), .output_stride = a->d_v, .tally = tally};
        rows.of[QUANTITY_OUTPUT] = output;
        rows_run(&rows, scratch);
    }
    arena_drop(arena, output);
    arena_drop(arena, scratch);
    arena_drop(arena, used);
    return true;
}
