/* P4, P5, P6: attention in the core beside OpenBLAS's own product, one run, medians. Usage: attention [n d [heads]] */
#include "core/attention.h"
#include "core/blas.h"
#include "core/lanes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define REPEATS 5

struct setup {
    enum dtype dtype;
    size_t heads, n, d;
    bool causal;
    struct pool *pool;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void *numbers(enum dtype dtype, size_t count)
{
    void *data = aligned_alloc(64, (count * dtype_size(dtype) + 63) / 64 * 64);
    if (!data)
        exit(1);
    unsigned long long state = 1;
    for (size_t x = 0; x < count; x++) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        double value = (double)(state >> 11) * 0x1p-52 - 1;
        if (dtype == DTYPE_FLOAT64)
            ((double *)data)[x] = value;
        else
            ((float *)data)[x] = (float)value;
    }
    return data;
}

static double attend(const struct setup *s, const struct attention_request *request, void *out)
{
    struct error err = {0};
    struct attention a;
    struct arena *arena = arena_new((size_t)8 << 30);
    const struct attention_results results = {.of = {[QUANTITY_OUTPUT] = out}};
    double start = now();
    if (!arena || !attention_check(&a, request, &err) || !attention_prepare(&a, arena, s->pool, &err) ||
        !attention_run(&a, &results, s->pool, NULL, arena, &err)) {
        fprintf(stderr, "%s\n", err.faults[0].text);
        exit(1);
    }
    double seconds = now() - start;
    arena_free(arena);
    return seconds;
}

static double median_attention(const struct setup *s)
{
    const size_t shape[3] = {s->heads, s->n, s->d};
    size_t count = s->heads * s->n * s->d;
    struct attention_request request = {.dtype = s->dtype, .mask.causal = s->causal};
    request.q = tensor_dense(s->dtype, 3, shape, numbers(s->dtype, count));
    request.k = tensor_dense(s->dtype, 3, shape, numbers(s->dtype, count));
    request.v = tensor_dense(s->dtype, 3, shape, numbers(s->dtype, count));
    void *out = numbers(s->dtype, count);
    double times[REPEATS];
    attend(s, &request, out);
    for (size_t r = 0; r < REPEATS; r++)
        times[r] = attend(s, &request, out);
    qsort(times, REPEATS, sizeof *times, compare);
    free(request.q.data);
    free(request.k.data);
    free(request.v.data);
    free(out);
    return times[REPEATS / 2];
}

static double median_product(enum dtype dtype, size_t n)
{
    void *a = numbers(dtype, n * n);
    void *b = numbers(dtype, n * n);
    void *c = numbers(dtype, n * n);
    double times[REPEATS];
    for (size_t r = 0; r < REPEATS; r++) {
        double start = now();
        blas_product(dtype, BLAS_PLAIN, n, n, n, a, n, b, n, c, n);
        times[r] = now() - start;
    }
    qsort(times, REPEATS, sizeof *times, compare);
    free(a);
    free(b);
    free(c);
    return times[REPEATS / 2];
}

static void compare_shape(struct setup s, struct pool *two)
{
    double product = 2e-9 * 2048 * 2048 * 2048 / median_product(s.dtype, 2048);
    double flops = 4e-9 * (double)s.heads * (double)s.n * (double)s.n * (double)s.d;
    double plain = median_attention(&s);
    s.causal = true;
    double causal = median_attention(&s);
    s.causal = false;
    s.pool = two;
    double shared = median_attention(&s);
    printf(
        "%s h=%zu n=%zu d=%zu: %.2f ms, %.1f GFLOP/s, %.2f of gemm's %.1f; causal %.2f of that time; two workers %.2f "
        "times as fast\n",
        dtype_name(s.dtype), s.heads, s.n, s.d, plain * 1e3, flops / plain, flops / plain / product, product,
        causal / plain, plain / shared);
    fflush(stdout);
}

int main(int count, char **words)
{
    struct error err = {0};
    if (!blas_start(&err)) {
        fprintf(stderr, "%s\n", err.faults[0].text);
        return 1;
    }
    struct pool *two = pool_start(1, 1); /* the caller is the second worker */
    printf("OpenBLAS kernel %s, rows by %s\n", blas_core(), lanes_best()->name);
    const size_t shapes[][3] = {{8, 64, 64},   {8, 256, 64},   {8, 512, 64},   {8, 1024, 64},
                                {8, 2048, 64}, {8, 4096, 64},  {1, 16384, 64}, {8, 2048, 32},
                                {8, 2048, 80}, {8, 2048, 128}, {4, 2048, 256}};
    if (count >= 3) {
        struct setup s = {.dtype = DTYPE_FLOAT32, .heads = count > 3 ? strtoul(words[3], NULL, 10) : 8};
        s.n = strtoul(words[1], NULL, 10);
        s.d = strtoul(words[2], NULL, 10);
        compare_shape(s, two);
    }
    for (size_t x = 0; count < 3 && x < sizeof shapes / sizeof *shapes; x++)
        compare_shape((struct setup){DTYPE_FLOAT32, shapes[x][0], shapes[x][1], shapes[x][2], false, NULL}, two);
    if (count < 3)
        compare_shape((struct setup){DTYPE_FLOAT64, 8, 2048, 64, false, NULL}, two);
    pool_stop(two);
    return 0;
}
