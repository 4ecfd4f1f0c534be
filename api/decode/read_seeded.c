/* A tensor's third spelling. */
#include "api/decode/read_seeded.h"

#include "core/tensor/normal.h"

#include <math.h>

#define SEED_MAX 9007199254740991.0 /* 2^53 - 1: what JSON readers keep exactly */

const struct option_table *read_seeded_table(void)
{
    static const struct option seed[] = {
        {"seed", OPTION_INTEGER, "0", .minimum = 0, .maximum = SEED_MAX, .offset = offsetof(struct seeded, seed),
         .meaning = "the same seed draws the same numbers"},
    };
    static const struct option_table seeds = {"NormalSeed", seed, 1, NULL, NULL};
    static const struct option members[] = {
        {"normal", OPTION_OBJECT, "", .required = true, .inner = &seeds, .meaning = "numbers of mean 0 and variance 1"},
        {"shape", OPTION_INTEGERS, "", .required = true, .minimum = 1, .maximum = HUGE_VAL,
         .offset = offsetof(struct seeded, shape), .shape = "[rank]", .meaning = "filled row-major"},
    };
    static const struct option_table table = {"NormalTensor", members, sizeof members / sizeof *members, NULL, NULL};
    return &table;
}

static bool count_numbers(struct decoder *d, const struct seeded *s, const struct json_path *at, size_t *shape,
                          size_t *count)
{
    size_t bytes = sizeof(double);
    if (s->shape.count > TENSOR_RANK_MAX)
        return json_path_fault(d->err, at, "has a shape of %zu sizes; %d are the most.", s->shape.count,
                               TENSOR_RANK_MAX);
    for (size_t axis = 0; axis < s->shape.count; axis++) {
        shape[axis] = (size_t)s->shape.values[axis];
        if (!size_multiply(bytes, shape[axis], &bytes))
            return error_set(d->err, ERROR_TOO_LARGE, "", "A tensor's shape has more numbers than can be counted.");
    }
    *count = bytes / sizeof(double);
    return decoder_count(d, *count);
}

bool read_seeded(struct decoder *d, const struct seeded *s, const struct json_path *at, struct tensor *out)
{
    struct normal normal = {(uint64_t)s->seed};
    size_t shape[TENSOR_RANK_MAX];
    size_t count = 0;
    if (!count_numbers(d, s, at, shape, &count))
        return false;
    double *numbers = arena_alloc(d->arena, count * sizeof *numbers, d->err);
    if (!numbers)
        return false;
    normal_fill(&normal, numbers, count);
    struct tensor t = tensor_dense(DTYPE_FLOAT64, s->shape.count, shape, numbers);
    if (*d->dtype == DTYPE_FLOAT64) {
        *out = t;
        return true;
    }
    if (!decoder_narrow(d, t, at))
        return false;
    void *data = arena_resize(d->arena, numbers, count * sizeof(float), d->err);
    if (data)
        *out = tensor_dense(DTYPE_FLOAT32, t.rank, t.shape, data);
    return data != NULL;
}
