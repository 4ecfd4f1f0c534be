/* P4, P5, P6, P14, P16, P19, and P11 without its socket: attention in the core beside OpenBLAS's own product and
 * PyTorch's attention (BENCH_PYTHON: a python3 that has torch), in one run, medians. A row tells milliseconds on one
 * thread, GFLOP/s (4 h n n d operations), that over sgemm's at 2048^3, the time of the causal mask over that without,
 * and how many times as fast two threads are; then how many times as fast as SDPA on one thread, SDPA's own causal
 * ratio, and two threads over the better of SDPA's one and two. Usage: attention [n d [heads]] */
#include "core/backward/backward.h"
#include "core/simd/simd.h"
#include "core/tensor/blas.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define REPEATS 7
#define LARGE 1e11 /* operations: fewer repeats */

struct setup {
    enum dtype dtype;
    size_t heads, n, d;
    bool causal;
    struct pool *pool;
    size_t queries; /* 0: n */
    bool rope, weights;
    double far; /* a bias for two keys of three; 0: none */
};

static int count_repeats(const struct setup *s)
{
    return 4.0 * (double)s->heads * (double)s->n * (double)s->n * (double)s->d > LARGE ? 3 : REPEATS;
}

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

static double attend(const struct setup *s, const struct attention_request *request, void *out, void *weights)
{
    struct error err = {0};
    struct attention a;
    struct arena *arena = arena_new((size_t)8 << 30);
    const struct attention_results results = {.of = {[QUANTITY_OUTPUT] = out, [QUANTITY_WEIGHTS] = weights}};
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

/* [1][n], float32 */
static void *far_bias(const struct setup *s)
{
    float *bias = s->far == 0 ? NULL : numbers(DTYPE_FLOAT32, s->n);
    for (size_t j = 0; bias && j < s->n; j++)
        bias[j] = j % 3 == 0 ? 0 : (float)s->far;
    return bias;
}

static double median_attention(const struct setup *s)
{
    const size_t shape[3] = {s->heads, s->n, s->d};
    const size_t query[3] = {s->heads, s->queries ? s->queries : s->n, s->d};
    size_t count = s->heads * s->n * s->d;
    struct attention_request request = {.dtype = s->dtype, .mask.causal = s->causal};
    request.q = tensor_dense(s->dtype, 3, query, numbers(s->dtype, count));
    request.k = tensor_dense(s->dtype, 3, shape, numbers(s->dtype, count));
    request.v = tensor_dense(s->dtype, 3, shape, numbers(s->dtype, count));
    request.rope = (struct rope_request){.on = s->rope, .theta = 1e4};
    request.mask.bias = tensor_dense(DTYPE_FLOAT32, 2, (const size_t[]){1, s->n}, far_bias(s));
    void *out = numbers(s->dtype, count);
    void *weights = s->weights ? numbers(s->dtype, s->heads * s->n * s->n) : NULL;
    double times[REPEATS] = {0};
    int repeats = count_repeats(s);
    attend(s, &request, out, weights);
    for (int r = 0; r < repeats; r++)
        times[r] = attend(s, &request, out, weights);
    qsort(times, (size_t)repeats, sizeof *times, compare);
    free(request.q.data);
    free(request.k.data);
    free(request.v.data);
    free(request.mask.bias.data);
    free(weights);
    free(out);
    return times[repeats / 2];
}

static double median_product(enum dtype dtype, size_t n)
{
    void *a = numbers(dtype, n * n);
    void *b = numbers(dtype, n * n);
    void *c = numbers(dtype, n * n);
    double times[REPEATS] = {0};
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

/* PyTorch in a process of its own, which answers a line for a line; NULL where it is not installed. */
struct connection {
    FILE *ask, *answer;
};

struct peer_times {
    double plain, causal, shared; /* seconds */
};

static bool open_peer(struct connection *peer)
{
    const char *named = getenv("BENCH_PYTHON");
    char *command[] = {(char *)(uintptr_t)(named ? named : "python3"), "tests/bench/attention_sdpa.py", NULL};
    int to[2], from[2];
    pid_t child;
    posix_spawn_file_actions_t actions;
    signal(SIGPIPE, SIG_IGN);
    setenv("OPENBLAS_NUM_THREADS", "1", 1); /* PyTorch's one thread would have OpenBLAS's two otherwise */
    if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0)
        return false;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, to[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, from[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    bool started = posix_spawnp(&child, command[0], &actions, NULL, command, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    close(to[0]);
    close(from[1]);
    *peer = (struct connection){fdopen(to[1], "w"), fdopen(from[0], "r")};
    return started && peer->ask && peer->answer;
}

/* Where it does not answer it is asked no more. */
static bool ask_peer(struct connection *peer, const struct setup *s, struct peer_times *times)
{
    char line[200] = "";
    if (!peer->ask || fprintf(peer->ask, "%zu %zu %zu %d\n", s->heads, s->n, s->d, count_repeats(s)) < 0 ||
        fflush(peer->ask) != 0 || !fgets(line, sizeof line, peer->answer) ||
        sscanf(line, "%lf %lf %lf", &times->plain, &times->causal, &times->shared) != 3) {
        peer->ask = NULL;
        return false;
    }
    return true;
}

static void compare_shape(struct setup s, struct pool *two, struct connection *peer)
{
    struct peer_times theirs;
    double product = 2e-9 * 2048 * 2048 * 2048 / median_product(s.dtype, 2048);
    double flops = 4e-9 * (double)s.heads * (double)s.n * (double)s.n * (double)s.d;
    double plain = median_attention(&s);
    s.causal = true;
    double causal = median_attention(&s);
    s.causal = false;
    s.pool = two;
    double shared = median_attention(&s);
    printf("%s %2zu %6zu %4zu %10.2f %8.1f %6.2f %8.2f %8.2f", dtype_name(s.dtype), s.heads, s.n, s.d, plain * 1e3,
           flops / plain, flops / plain / product, causal / plain, plain / shared);
    if (s.dtype == DTYPE_FLOAT32 && ask_peer(peer, &s, &theirs))
        printf(" %8.2f %8.2f %8.2f", theirs.plain / plain, theirs.causal / theirs.plain,
               (theirs.plain < theirs.shared ? theirs.plain : theirs.shared) / shared);
    printf("\n");
    fflush(stdout);
}

/* One query: keys and values are read once, so memcpy of them is the measure. */
static void compare_decode(struct pool *two)
{
    struct setup s = {.dtype = DTYPE_FLOAT32, .heads = 32, .n = 4096, .d = 128, .queries = 1};
    size_t bytes = 2 * s.heads * s.n * s.d * sizeof(float);
    char *from = numbers(DTYPE_FLOAT32, bytes / sizeof(float));
    char *to = numbers(DTYPE_FLOAT32, bytes / sizeof(float));
    double times[REPEATS] = {0};
    for (size_t r = 0; r < REPEATS; r++) {
        double start = now();
        memcpy(to, from, bytes);
        times[r] = now() - start;
    }
    qsort(times, REPEATS, sizeof *times, compare);
    free(from);
    free(to);
    double one = median_attention(&s);
    s.pool = two;
    double shared = median_attention(&s);
    printf("decode: 1 query, h %zu, m %zu, d %zu: %.2f ms, two threads %.2f; memcpy of keys and values %.2f\n", s.heads,
           s.n, s.d, one * 1e3, shared * 1e3, times[REPEATS / 2] * 1e3);
}

/* P14: weights of e^-100, which are subnormal, beside those of e^-1000, which are 0. */
static void compare_values(bool weights)
{
    struct setup s = {.dtype = DTYPE_FLOAT32, .heads = 8, .n = 1024, .d = 64, .weights = weights, .far = -1000};
    double twin = median_attention(&s);
    s.far = -100;
    double far = median_attention(&s);
    printf("values: h 8, n 1024, d 64, %s: subnormal weights %.1f ms, without %.1f, %.2f times\n",
           weights ? "output and weights" : "output", far * 1e3, twin * 1e3, far / twin);
}

/* P16 */
static void compare_rope(struct pool *pool)
{
    struct setup s = {.dtype = DTYPE_FLOAT32, .heads = 16, .n = 1024, .d = 64, .pool = pool};
    double plain = median_attention(&s);
    s.rope = true;
    double turned = median_attention(&s);
    printf("rotary embedding: h 16, n 1024, d 64, %s: %.1f ms, without %.1f, %.2f times\n",
           pool ? "two threads" : "one thread", turned * 1e3, plain * 1e3, turned / plain);
}

/* Forward, then dQ, dK and dV; seconds of both. */
static double go_back(const struct attention_request *request, double *forward)
{
    struct error err = {0};
    struct attention a;
    struct arena *arena = arena_new((size_t)8 << 30);
    size_t count = tensor_count(request->q);
    double *sums = calloc(request->q.shape[0] * request->q.shape[1], sizeof *sums);
    void *out = numbers(request->dtype, count);
    const struct attention_results results = {.of = {[QUANTITY_OUTPUT] = out}, .log_sums = sums};
    struct backward back = {.a = &a, .by_output = request->v.data, .mixed = out, .log_sum_exp = sums};
    struct backward_results gradients = {.of = {NULL}};
    for (int x = 0; x < 3; x++)
        gradients.of[GRADIENT_Q + x] = numbers(request->dtype, count);
    double start = now();
    bool good = arena && sums && attention_check(&a, request, &err) && attention_prepare(&a, arena, NULL, &err) &&
                attention_run(&a, &results, NULL, NULL, arena, &err);
    *forward = now() - start;
    good =
        good && backward_prepare(&back, NULL, arena, &err) && backward_run(&back, &gradients, NULL, NULL, arena, &err);
    double seconds = now() - start;
    if (!good)
        exit(1);
    for (int x = 0; x < 3; x++)
        free(gradients.of[GRADIENT_Q + x]);
    free(out);
    free(sums);
    arena_free(arena);
    return seconds;
}

/* P19: n 2048, h 8, d 64, float32, one thread. */
static void compare_backward(void)
{
    const size_t shape[3] = {8, 2048, 64};
    size_t count = shape[0] * shape[1] * shape[2];
    struct attention_request request = {.dtype = DTYPE_FLOAT32, .backward = true};
    double forward[REPEATS], both[REPEATS];
    request.q = tensor_dense(DTYPE_FLOAT32, 3, shape, numbers(DTYPE_FLOAT32, count));
    request.k = tensor_dense(DTYPE_FLOAT32, 3, shape, numbers(DTYPE_FLOAT32, count));
    request.v = tensor_dense(DTYPE_FLOAT32, 3, shape, numbers(DTYPE_FLOAT32, count));
    go_back(&request, &forward[0]);
    for (size_t r = 0; r < REPEATS; r++)
        both[r] = go_back(&request, &forward[r]);
    qsort(forward, REPEATS, sizeof *forward, compare);
    qsort(both, REPEATS, sizeof *both, compare);
    printf("backward: h 8, n 2048, d 64: forward %.1f ms, forward and backward %.1f ms, %.2f times the forward pass\n",
           forward[REPEATS / 2] * 1e3, both[REPEATS / 2] * 1e3, both[REPEATS / 2] / forward[REPEATS / 2]);
    free(request.q.data);
    free(request.k.data);
    free(request.v.data);
}

static void print_head(const struct connection *peer)
{
    printf("OpenBLAS kernel %s, rows by %s\n", blas_core(), simd_best()->name);
    printf("          h      n    d         ms  GFLOP/s  /gemm   causal  2 cores%s\n",
           peer->ask ? "   * SDPA   causal  2 cores" : "; PyTorch is not installed");
}

int main(int count, char **words)
{
    static const size_t sizes[] = {64, 256, 1024, 2048, 4096, 16384};
    static const size_t widths[] = {32, 64, 80, 128, 256};
    struct error err = {0};
    struct connection peer = {0};
    struct peer_times first;
    struct setup s = {.dtype = DTYPE_FLOAT32, .heads = count > 3 ? strtoul(words[3], NULL, 10) : 8, .n = 64, .d = 64};
    if (!blas_start(&err)) {
        fprintf(stderr, "%s\n", err.faults[0].text);
        return 1;
    }
    if (!open_peer(&peer) || !ask_peer(&peer, &s, &first))
        peer.ask = NULL;
    struct pool *two = pool_start(1, 1); /* the caller is the second worker */
    print_head(&peer);
    if (count >= 3) {
        s.n = strtoul(words[1], NULL, 10);
        s.d = strtoul(words[2], NULL, 10);
        compare_shape(s, two, &peer);
    }
    for (size_t x = 0; count < 3 && x < sizeof sizes / sizeof *sizes; x++)
        for (size_t y = 0; y < sizeof widths / sizeof *widths; y++)
            compare_shape(
                (struct setup){.heads = sizes[x] > 4096 ? 1 : 8, .n = sizes[x], .d = widths[y], .dtype = DTYPE_FLOAT32},
                two, &peer);
    if (count < 3) {
        compare_values(false);
        compare_values(true);
        compare_rope(NULL);
        compare_rope(two);
        compare_shape((struct setup){.heads = 8, .n = 2048, .d = 64, .dtype = DTYPE_FLOAT64}, two, &peer);
        compare_decode(two);
        compare_backward();
    }
    pool_stop(two);
    return 0;
}
