/* What the pipeline needs besides its arithmetic type. */
#include "core/forward/rows.h"

#include "core/forward/flush.h"
#include "core/simd/simd.h"
#include "core/tensor/normal.h"

bool rows_are_small(const struct attention *a)
{
    size_t terms;
    return size_multiply(a->queries, a->keys, &terms) && size_multiply(terms, a->d_k + a->d_v, &terms) &&
           terms <= ROWS_SMALL_TERMS;
}

size_t rows_align(size_t size)
{
    return (size + ARENA_ALIGNMENT - 1) / ARENA_ALIGNMENT * ARENA_ALIGNMENT;
}

/* What emulated precision needs besides. */
static size_t emulation_scratch(const struct attention *a)
{
    size_t terms = a->keys > a->d_k ? a->keys : a->d_k;
    return a->precision.on ? rows_align(terms * sizeof(double)) + 2 * rows_align(a->keys * sizeof(double)) : 0;
}

/* Keys or values of a part, one after the other, and the scores of the part. */
static size_t decoding_scratch(const struct attention *a)
{
    size_t k = attention_keys_room(a, SIMD_ROW);
    size_t v = attention_values_room(a, SIMD_ROW);
    size_t scores = k ? rows_align(attention_block(a, 0).count * SIMD_ROW * dtype_size(a->dtype)) : 0;
    return (k > v ? k : v) + scores;
}

size_t rows_scratch(const struct attention *a)
{
    size_t count = attention_block(a, 0).count;
    return rows_align(count * a->keys * dtype_size(a->dtype)) + rows_align(count * a->d_v * sizeof(double)) +
           rows_align(count * a->d_v * dtype_size(a->dtype)) + rows_align(a->keys) + emulation_scratch(a) +
           decoding_scratch(a);
}

static void run_typed(const struct rows *rows, void *scratch)
{
    if (rows->a->dtype == DTYPE_FLOAT64)
        rows_run_float64(rows, scratch);
    else
        rows_run_float32(rows, scratch);
}

void rows_run(const struct rows *rows, void *scratch)
{
    if (rows_are_small(rows->a) || rows->a->precision.on) {
        run_typed(rows, scratch);
        return;
    }
    uint64_t control = flush_begin();
    run_typed(rows, scratch);
    flush_end(control);
}

double rows_dropout_uniform(int64_t seed, uint64_t index)
{
    uint64_t z = normal_mix((uint64_t)seed + (index + 1) * 0x9E3779B97F4A7C15U);
    return (double)(z >> 11) * 0x1p-53;
}
