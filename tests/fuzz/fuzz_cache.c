/* Quantised sides of a cache: whatever is asked of whatever numbers, there is a refusal with words, or codes in their
 * range. */
#include "core/cache/quantize.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HEAD 8
#define NUMBERS 512

static void demand(bool held)
{
    if (!held)
        abort();
}

/* What the first bytes say. */
static struct quantize_request read_request(const uint8_t *data)
{
    struct quantize_request r = {.on = true, .keep_first = data[4] % 3, .keep_last = data[4] / 3 % 3};
    r.k = (struct quantize_side){.on = true,
                                 .method = (enum quantize_method)(data[0] % QUANTIZE_METHOD_COUNT),
                                 .bits = data[1] % 10,
                                 .axis = (enum quantize_axis)(data[2] % 3),
                                 .has_axis = data[2] & 64,
                                 .group = data[3] % 5,
                                 .rotation.kind = (enum quantize_rotation)(data[2] / 4 % 3),
                                 .has_rotation = data[2] & 128,
                                 .seed = data[7],
                                 .has_seed = data[7] > 0,
                                 .qjl = data[5] & 1,
                                 .exact_centroids = data[5] & 2,
                                 .renormalize = data[5] & 4};
    return r;
}

static void check_codes(const struct quantized *q)
{
    const int16_t *codes = q->codes.data;
    for (size_t x = 0; x < tensor_count(q->codes); x++)
        demand(codes[x] >= -127 && codes[x] <= 255);
    for (size_t x = 0; q->sign.rank && x < tensor_count(q->sign); x++)
        demand(((const int16_t *)q->sign.data)[x] == 1 || ((const int16_t *)q->sign.data)[x] == -1);
}

static void run(const struct quantize_request *r, struct tensor x, struct arena *arena)
{
    struct error err = {0};
    const size_t *shape = x.shape;
    if (!quantize_check(r, &r->k, "quantize.k", shape[2], shape[3], &err)) {
        demand(err.code == ERROR_INVALID && err.faults[0].text[0]);
        return;
    }
    struct quantized q = quantize_plan(r, &r->k, x.dtype, shape[0], shape[1], shape[2], shape[3], false);
    demand(q.bits > 0 && quantize_numbers(&q) > 0 && quantize_flops(&q) > 0);
    if (quantize_run(&q, x, "quantize.k", arena, NULL, &err))
        check_codes(&q);
    else
        demand(err.code != ERROR_NONE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static double numbers[NUMBERS];
    if (size < HEAD)
        return 0;
    const struct quantize_request request = read_request(data);
    size_t width = 1 + data[6] % 9;
    size_t tokens = 1 + data[6] / 16;
    const size_t shape[4] = {1, 1, tokens, width};
    struct arena *arena = arena_new(1 << 22);
    demand(arena != NULL);
    memset(numbers, 0, sizeof numbers);
    size_t bytes = size - HEAD < sizeof numbers ? size - HEAD : sizeof numbers;
    memcpy(numbers, data + HEAD, bytes);
    run(&request, tensor_dense(DTYPE_FLOAT64, 4, shape, numbers), arena);
    arena_free(arena);
    return 0;
}
