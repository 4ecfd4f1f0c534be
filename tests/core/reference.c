/* Attention as it is written on paper. */
#include "tests/core/reference.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void *allocate(size_t count, size_t size)
{
    void *block = calloc(count, size);
    if (block == NULL)
        abort();
    return block;
}

void reference_sizes(struct reference *ref, const struct attention_request *request)
{
    const struct tensor *q = &request->q, *k = &request->k, *v = &request->v;
    *ref = (struct reference){.request = request};
    bool packed = request->heads > 0;
    ref->batch = packed ? (q->rank == 3 ? q->shape[0] : 1) : (q->rank == 4 ? q->shape[0] : 1);
    ref->heads = packed ? request->heads : q->rank >= 3 ? q->shape[q->rank - 3] : 1;
    ref->kv_heads = packed ? (request->kv_heads > 0 ? request->kv_heads : request->heads)
                           : (q->rank >= 3 ? k->shape[k->rank - 3] : 1);
    ref->past = request->past_k.data == NULL ? 0 : request->past_k.shape[request->past_k.rank - 2];
    ref->queries = q->shape[q->rank - 2];
    ref->keys = ref->past + k->shape[k->rank - 2];
    ref->d_k = q->shape[q->rank - 1] / (packed ? ref->heads : 1);
    ref->d_v = v->shape[v->rank - 1] / (packed ? ref->kv_heads : 1);
    ref->scale = request->has_scale ? request->scale : 1 / sqrt((double)ref->d_k);
}

double reference_dropout(int64_t seed, size_t index)
{
    uint64_t z = (uint64_t)seed + (index + 1) * UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* The rows of quantities [b][h][i], or NULL. */
struct row {
    double *of[QUANTITY_COUNT];
    size_t b, h, i;
};

static size_t width_of(const struct reference *ref, enum quantity quantity)
{
    size_t width = 1;
    if (quantity_has_axis(quantity, AXIS_KEY))
        width *= ref->keys;
    if (quantity_has_axis(quantity, AXIS_FEATURE_K))
        width *= ref->d_k;
    if (quantity_has_axis(quantity, AXIS_FEATURE_V))
        width *= ref->d_v;
    return width;
}

static struct row row_of(const struct reference *ref, size_t b, size_t h, size_t i)
{
    struct row row = {.b = b, .h = h, .i = i};
    for (size_t x = 0; x < QUANTITY_COUNT; x++)
        if (ref->of[x] != NULL)
            row.of[x] = ref->of[x] + ((b * ref->heads + h) * ref->queries + i) * width_of(ref, (enum quantity)x);
    return row;
}

static void fill_scores(const struct reference *ref, const struct row *row, double *q, double *k)
{
    size_t d = ref->d_k, g = row->h / (ref->heads / ref->kv_heads);
    reference_query(ref, row->b, row->h, row->i, q);
    for (size_t j = 0; j < ref->keys; j++) {
        reference_key(ref, row->b, g, j, k);
        double score = 0;
        for (size_t t = 0; t < d; t++) {
            row->of[QUANTITY_PRODUCTS][j * d + t] = q[t] * k[t];
            score += q[t] * k[t];
        }
        row->of[QUANTITY_SCORES][j] = score;
        row->of[QUANTITY_SCALED][j] = ref->scale * score;
    }
}

/* Soft cap, bias, mask: what enters the softmax. Returns whether a key is visible. */
static bool fill_masked(const struct reference *ref, const struct row *row)
{
    bool any = false, after = ref->request->variant == VARIANT_MASK_AFTER_SOFTMAX;
    bool zero = ref->request->variant == VARIANT_MASK_WITH_ZERO;
    double cap = ref->request->softcap;
    for (size_t j = 0; j < ref->keys; j++) {
        double s = row->of[QUANTITY_SCALED][j];
        bool sees = reference_sees(ref, row->b, row->h, row->i, j);
        if (cap > 0)
            s = row->of[QUANTITY_CAPPED][j] = cap * tanh(s / cap);
        if (reference_has_bias(ref->request)) {
            double bias = row->of[QUANTITY_BIAS][j] = reference_bias(ref, row->b, row->h, row->i, j);
            s = row->of[QUANTITY_BIASED][j] = isinf(bias) ? -INFINITY : s + bias;
            sees = sees && !isinf(bias);
        }
        row->of[QUANTITY_ALLOWED][j] = sees;
        row->of[QUANTITY_MASKED][j] = sees || after ? s : zero ? 0 : -INFINITY;
        any = any || sees;
    }
    return any;
}

/* Whether key j keeps its weight: a visible one, and with mask_with_zero every key of a row that sees any. */
static bool keeps_weight(const struct reference *ref, const struct row *row, bool any, size_t j)
{
    return ref->request->variant == VARIANT_MASK_WITH_ZERO ? any : row->of[QUANTITY_ALLOWED][j] != 0;
}

static void fill_softmax(const struct reference *ref, const struct row *row, bool any)
{
    const double *masked = row->of[QUANTITY_MASKED];
    const double *sinks = ref->request->sinks.values;
    double max = sinks != NULL ? sinks[row->h] : -INFINITY, sum = 0;
    for (size_t j = 0; j < ref->keys; j++)
        max = fmax(max, masked[j]);
    for (size_t j = 0; j < ref->keys; j++) {
        row->of[QUANTITY_SHIFTED][j] = isinf(masked[j]) ? -INFINITY : masked[j] - max;
        row->of[QUANTITY_EXP][j] = isinf(masked[j]) ? 0 : exp(masked[j] - max);
        sum += row->of[QUANTITY_EXP][j];
    }
    if (sinks != NULL)
        sum += exp(sinks[row->h] - max);
    *row->of[QUANTITY_ROW_MAX] = max;
    *row->of[QUANTITY_ROW_SUM] = sum;
    *row->of[QUANTITY_LOG_SUM_EXP] = sum > 0 ? max + log(sum) : -INFINITY;
    for (size_t j = 0; j < ref->keys; j++) {
        double weight = sum > 0 ? row->of[QUANTITY_EXP][j] / sum : 0;
        row->of[QUANTITY_WEIGHTS][j] = keeps_weight(ref, row, any, j) ? weight : 0;
    }
}

static void fill_stats(const struct reference *ref, const struct row *row, bool any)
{
    double entropy = 0, sum = 0, max = -1, argmax = 0;
    for (size_t j = 0; j < ref->keys; j++) {
        double weight = row->of[QUANTITY_WEIGHTS][j];
        entropy -= weight > 0 ? weight * log2(weight) : 0;
        sum += weight;
        if (weight > max && keeps_weight(ref, row, any, j))
            argmax = (double)j;
        if (keeps_weight(ref, row, any, j))
            max = fmax(max, weight);
    }
    *row->of[QUANTITY_ENTROPY_BITS] = entropy;
    *row->of[QUANTITY_WEIGHT_SUM] = sum;
    *row->of[QUANTITY_MAX_WEIGHT] = fmax(max, 0);
    *row->of[QUANTITY_ARGMAX_KEY] = any ? argmax : (double)NAN;
}

/* What of the softmax is not in the weights: the sink's part, and hidden keys that went through it. */
static double rest_of(const struct reference *ref, const struct row *row)
{
    const double *sinks = ref->request->sinks.values;
    double sum = *row->of[QUANTITY_ROW_SUM], rest = 0;
    if (!(sum > 0))
        return 0;
    if (sinks != NULL)
        rest += exp(sinks[row->h] - *row->of[QUANTITY_ROW_MAX]) / sum;
    for (size_t j = 0; j < ref->keys; j++)
        if (ref->request->variant == VARIANT_MASK_AFTER_SOFTMAX && row->of[QUANTITY_ALLOWED][j] == 0)
            rest += row->of[QUANTITY_EXP][j] / sum;
    return rest;
}

/* By the definition of the matrix diag(w) - w w^T, whose diagonal has the other weights for 1 - w. */
static void fill_saturation(const struct reference *ref, const struct row *row)
{
    const double *w = row->of[QUANTITY_WEIGHTS];
    double rest = rest_of(ref, row), trace = 0, squares = 0, sum = 0, sum_of_squares = 0;
    for (size_t j = 0; j < ref->keys; j++) {
        double others = rest, crossed = 0;
        for (size_t l = 0; l < ref->keys; l++) {
            others += l == j ? 0 : w[l];
            crossed += l == j ? 0 : w[j] * w[l] * w[j] * w[l];
        }
        squares += crossed;
        trace += w[j] * others;
        squares += w[j] * others * w[j] * others;
        sum += w[j];
        sum_of_squares += w[j] * w[j];
    }
    *row->of[QUANTITY_JACOBIAN_TRACE] = trace;
    *row->of[QUANTITY_JACOBIAN_NORM] = sqrt(squares);
    *row->of[QUANTITY_EFFECTIVE_KEYS] = sum_of_squares > 0 ? sum * sum / sum_of_squares : 0;
}

static void fill_moments(const struct reference *ref, const struct row *row)
{
    double count = 0, sum = 0, squares = 0;
    for (size_t j = 0; j < ref->keys; j++)
        if (row->of[QUANTITY_ALLOWED][j] != 0) {
            count++;
            sum += row->of[QUANTITY_SCALED][j];
        }
    for (size_t j = 0; j < ref->keys; j++)
        if (row->of[QUANTITY_ALLOWED][j] != 0)
            squares += pow(row->of[QUANTITY_SCALED][j] - sum / count, 2);
    *row->of[QUANTITY_SCORE_MEAN] = count > 0 ? sum / count : (double)NAN;
    *row->of[QUANTITY_SCORE_VARIANCE] = count > 0 ? squares / count : (double)NAN;
}

static void fill_unshifted(const struct reference *ref, const struct row *row)
{
    const double *sinks = ref->request->sinks.values;
    double sum = sinks != NULL ? exp(sinks[row->h]) : 0;
    for (size_t j = 0; j < ref->keys; j++)
        sum += row->of[QUANTITY_EXP_UNSHIFTED][j] = exp(row->of[QUANTITY_MASKED][j]);
    *row->of[QUANTITY_ROW_SUM_UNSHIFTED] = sum;
}

static void fill_dropped(const struct reference *ref, const struct row *row)
{
    const struct attention_request *request = ref->request;
    size_t first = ((row->b * ref->heads + row->h) * ref->queries + row->i) * ref->keys;
    for (size_t j = 0; j < ref->keys; j++) {
        bool kept = reference_dropout(request->dropout_seed, first + j) >= request->dropout_p;
        row->of[QUANTITY_DROPPED][j] = kept ? row->of[QUANTITY_WEIGHTS][j] / (1 - request->dropout_p) : 0;
    }
}

static void fill_output(const struct reference *ref, const struct row *row)
{
    size_t e = ref->d_v, g = row->h / (ref->heads / ref->kv_heads);
    const double *weights = row->of[ref->request->has_dropout ? QUANTITY_DROPPED : QUANTITY_WEIGHTS];
    for (size_t j = 0; j < ref->keys; j++) {
        for (size_t t = 0; t < e; t++) {
            double term = weights[j] == 0 ? 0 : weights[j] * reference_value(ref, row->b, g, j, t);
            row->of[QUANTITY_CONTRIBUTIONS][j * e + t] = term;
            row->of[QUANTITY_OUTPUT][t] += term;
        }
    }
}

static void fill_row(const struct reference *ref, const struct row *row, double *q, double *k)
{
    fill_scores(ref, row, q, k);
    if (ref->request->variant == VARIANT_LINEAR) {
        memcpy(row->of[QUANTITY_WEIGHTS], row->of[QUANTITY_SCALED], ref->keys * sizeof(double));
    } else {
        bool any = fill_masked(ref, row);
        fill_softmax(ref, row, any);
        fill_stats(ref, row, any);
        fill_saturation(ref, row);
        fill_moments(ref, row);
        fill_unshifted(ref, row);
        if (ref->request->has_dropout)
            fill_dropped(ref, row);
    }
    fill_output(ref, row);
}

static bool has(const struct attention_request *request, enum quantity quantity)
{
    switch (quantity) {
    case QUANTITY_CAPPED:
        return request->softcap > 0;
    case QUANTITY_BIAS:
    case QUANTITY_BIASED:
        return reference_has_bias(request);
    case QUANTITY_DROPPED:
        return request->has_dropout;
    case QUANTITY_OUTPUT:
    case QUANTITY_WEIGHTS:
    case QUANTITY_SCORES:
    case QUANTITY_SCALED:
    case QUANTITY_PRODUCTS:
    case QUANTITY_CONTRIBUTIONS:
        return true;
    case QUANTITY_CONTRIBUTION_NORMS:
    case QUANTITY_TILE_MAX:
    case QUANTITY_RUNNING_MAX:
    case QUANTITY_RESCALE:
    case QUANTITY_TILE_EXP:
    case QUANTITY_TILE_SUM:
    case QUANTITY_RUNNING_SUM:
    case QUANTITY_ACCUMULATOR:
        return false;
    default:
        return request->variant != VARIANT_LINEAR;
    }
}

void reference_run(struct reference *ref, const struct attention_request *request)
{
    reference_sizes(ref, request);
    size_t rows = ref->batch * ref->heads * ref->queries;
    for (size_t x = 0; x < QUANTITY_COUNT; x++)
        if (has(request, (enum quantity)x))
            ref->of[x] = allocate(rows * width_of(ref, (enum quantity)x), sizeof(double));
    double *q = allocate(ref->d_k, sizeof(double)), *k = allocate(ref->d_k, sizeof(double));
    for (size_t b = 0; b < ref->batch; b++) {
        for (size_t h = 0; h < ref->heads; h++) {
            for (size_t i = 0; i < ref->queries; i++) {
                struct row row = row_of(ref, b, h, i);
                fill_row(ref, &row, q, k);
            }
        }
    }
    free(q);
    free(k);
}

void reference_free(struct reference *ref)
{
    for (size_t x = 0; x < QUANTITY_COUNT; x++)
        free(ref->of[x]);
}
