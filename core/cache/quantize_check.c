/* What a method may be asked for, and what it will hold. */
#include "core/cache/quantize.h"

#include <stdio.h>

static const struct {
    const char *name;
    size_t fewest, most;
} methods[QUANTIZE_METHOD_COUNT] = {
#define QUANTIZE_ROW(id, name, fewest, most) {name, fewest, most},
    QUANTIZE_METHODS(QUANTIZE_ROW)
#undef QUANTIZE_ROW
};

#define SHARED_BITS 16 /* of a scale, a zero, a norm, a number that is kept */
#define FLOAT8_BITS 8

struct asked {
    const struct quantize_side *side;
    enum quantize_axis axis;
    enum quantize_rotation rotation;
    const char *name;
    struct error *err;
};

static enum quantize_axis axis_of(const struct quantize_request *r, const struct quantize_side *s)
{
    return s->has_axis ? s->axis : s == &r->v ? QUANTIZE_TOKEN : QUANTIZE_CHANNEL;
}

static enum quantize_rotation rotation_of(const struct quantize_side *s)
{
    return s->has_rotation ? s->rotation.kind : s->method == QUANTIZE_TURBOQUANT ? QUANTIZE_RANDOM : QUANTIZE_PLAIN;
}

static bool refuse(const struct asked *asked, const char *member, const char *text)
{
    char name[64];
    snprintf(name, sizeof name, "%s.%s", asked->name, member);
    return error_set(asked->err, ERROR_INVALID, name, "%s", text);
}

/* --- refusals --- */

static bool check_bits(const struct asked *asked)
{
    const struct quantize_side *s = asked->side;
    size_t fewest = methods[s->method].fewest;
    size_t most = methods[s->method].most;
    char text[120];
    if (most == 0)
        return s->bits == 0 || refuse(asked, "bits", "A float8 format has its own eight bits: leave bits out.");
    if (s->bits >= fewest && s->bits <= most)
        return true;
    if (s->bits == 0)
        snprintf(text, sizeof text, "%s needs bits, from %zu to %zu.", methods[s->method].name, fewest, most);
    else
        snprintf(text, sizeof text, "bits is %zu; %s takes %zu to %zu.", s->bits, methods[s->method].name, fewest,
                 most);
    return refuse(asked, "bits", text);
}

/* Members that only turboquant has, and those that it has not. */
static bool check_members(const struct asked *asked)
{
    const struct quantize_side *s = asked->side;
    const struct {
        const char *name;
        bool given, of_turboquant;
    } members[] = {
        {"axis", s->has_axis, false},
        {"group", s->group > 0, false},
        {"residual", s->qjl, true},
        {"centroids", s->exact_centroids, true},
        {"renormalize", s->renormalize, true},
    };
    bool turboquant = s->method == QUANTIZE_TURBOQUANT;
    bool good = true;
    for (size_t x = 0; x < sizeof members / sizeof *members; x++) {
        char text[120];
        if (!members[x].given || members[x].of_turboquant == turboquant)
            continue;
        snprintf(text, sizeof text,
                 turboquant ? "turboquant scales every token by its norm: %s means nothing there."
                            : "Only turboquant has %s.",
                 members[x].name);
        good = refuse(asked, members[x].name, text);
    }
    if (s->has_seed && asked->rotation != QUANTIZE_HADAMARD && asked->rotation != QUANTIZE_RANDOM && !s->qjl)
        good =
            refuse(asked, "seed", "Nothing is drawn here: seed serves rotation hadamard or random, and residual qjl.");
    return good;
}

static bool check_rotation(const struct asked *asked, size_t width)
{
    const struct quantize_side *s = asked->side;
    char shape[64];
    char text[200];
    size_t next = 1;
    while (next < width)
        next *= 2;
    if (asked->rotation == QUANTIZE_HADAMARD && next != width) {
        snprintf(text, sizeof text, "A Hadamard matrix needs a power of two; the width is %zu, the next one is %zu.",
                 width, next);
        return refuse(asked, "rotation", text);
    }
    if (asked->rotation != QUANTIZE_GIVEN ||
        (s->rotation.given.rank == 2 && s->rotation.given.shape[0] == width && s->rotation.given.shape[1] == width))
        return true;
    snprintf(text, sizeof text, "It has shape %s; a rotation of these rows is [%zu][%zu].",
             tensor_shape_text(s->rotation.given, shape, sizeof shape), width, width);
    return refuse(asked, "rotation", text);
}

static bool check_group(const struct asked *asked, size_t count, size_t width)
{
    const struct quantize_side *s = asked->side;
    size_t whole = asked->axis == QUANTIZE_CHANNEL ? count : width;
    char text[160];
    if (s->group == 0)
        return true;
    if (asked->axis == QUANTIZE_TENSOR)
        return refuse(asked, "group",
                      "axis tensor has one scale for all numbers of a head: group means nothing there.");
    if (whole % s->group == 0)
        return true;
    snprintf(text, sizeof text, "group is %zu, which does not divide the %zu %s.", s->group, whole,
             asked->axis == QUANTIZE_CHANNEL ? "quantised tokens" : "features");
    return refuse(asked, "group", text);
}

static bool check_kept(const struct quantize_request *r, size_t tokens, struct error *err)
{
    return (uint64_t)r->keep_first < tokens && (uint64_t)r->keep_last < tokens - (size_t)r->keep_first
               ? true
               : error_set(err, ERROR_INVALID, "quantize.keep_last",
                           "keep_first %lld and keep_last %lld leave none of the %zu tokens to quantise.",
                           (long long)r->keep_first, (long long)r->keep_last, tokens);
}

bool quantize_check(const struct quantize_request *r, const struct quantize_side *s, const char *name, size_t tokens,
                    size_t width, struct error *err)
{
    const struct asked asked = {s, axis_of(r, s), rotation_of(s), name, err};
    if (!check_kept(r, tokens, err))
        return false;
    bool good = check_bits(&asked);
    good &= check_members(&asked);
    good &= check_rotation(&asked, width);
    if (s->exact_centroids && width < 3)
        good = refuse(&asked, "centroids", "The exact density of a coordinate needs a width of at least 3.");
    return good && (s->method == QUANTIZE_TURBOQUANT ||
                    check_group(&asked, tokens - (size_t)(r->keep_first + r->keep_last), width));
}

/* --- shapes --- */

static struct tensor shape_of(const struct quantized *q, enum dtype dtype, size_t rank, size_t rows, size_t columns)
{
    const size_t shape[4] = {q->batch, q->heads, rows, columns};
    return tensor_dense(dtype, rank, shape, NULL);
}

static void plan_scales(struct quantized *q, enum dtype dtype)
{
    const struct quantize_side *s = q->side;
    size_t whole = q->axis == QUANTIZE_CHANNEL ? q->count : q->width;
    q->group = s->group ? s->group : whole;
    if (q->axis == QUANTIZE_TENSOR)
        q->scale = shape_of(q, dtype, 2, 0, 0);
    else if (q->axis == QUANTIZE_CHANNEL)
        q->scale = shape_of(q, dtype, 4, q->count / q->group, q->width);
    else
        q->scale = shape_of(q, dtype, 4, q->count, q->width / q->group);
    if (s->method == QUANTIZE_AFFINE)
        q->zero = q->scale;
}

/* How many numbers a tensor has; an absent one none. */
static double numbers_of(struct tensor t)
{
    double count = t.rank > 0 ? 1 : 0;
    for (size_t a = 0; a < t.rank; a++)
        count *= (double)t.shape[a];
    return count;
}

static double count_bits(const struct quantized *q)
{
    double side = (double)q->batch * (double)q->heads * (double)q->width;
    double kept = (double)(q->tokens - q->count) * side;
    double shared = numbers_of(q->scale) + numbers_of(q->zero) + numbers_of(q->norm) + numbers_of(q->residual_norm);
    double bits = (double)(q->side->bits ? q->side->bits : FLOAT8_BITS);
    return bits * (double)q->count * side + SHARED_BITS * (shared + kept);
}

struct quantized quantize_plan(const struct quantize_request *r, const struct quantize_side *s, enum dtype dtype,
                               size_t batch, size_t heads, size_t tokens, size_t width, bool by_tile)
{
    struct quantized q = {
        .side = s, .batch = batch, .heads = heads, .tokens = tokens, .width = width, .by_tile = by_tile};
    const size_t square[2] = {width, width};
    q.axis = axis_of(r, s);
    q.rotation_kind = rotation_of(s);
    q.first = (size_t)r->keep_first;
    q.count = tokens - q.first - (size_t)r->keep_last;
    q.codes = shape_of(&q, DTYPE_INT16, 4, q.count, width);
    q.dequantized = shape_of(&q, dtype, 4, tokens, width);
    if (s->method == QUANTIZE_TURBOQUANT)
        q.norm = shape_of(&q, dtype, 3, q.count, 0);
    else
        plan_scales(&q, dtype);
    if (q.rotation_kind != QUANTIZE_PLAIN)
        q.rotation = tensor_dense(dtype, 2, square, NULL);
    if (s->qjl) {
        q.residual_norm = q.norm;
        q.sign = shape_of(&q, DTYPE_INT16, 4, q.count, width);
        q.sketch = tensor_dense(dtype, 2, square, NULL);
    }
    q.bits = count_bits(&q);
    return q;
}

double quantize_numbers(const struct quantized *q)
{
    const struct tensor held[] = {q->codes, q->sign, q->rotation, q->sketch};
    const struct tensor figures[] = {q->scale, q->zero, q->norm, q->residual_norm};
    double wide = q->dequantized.dtype == DTYPE_FLOAT64 ? 1 : 2; /* a double is two numbers of the dtype */
    double sum = q->by_tile ? 0 : numbers_of(q->dequantized);
    sum += wide * 2 * (numbers_of(q->rotation) + numbers_of(q->sketch)); /* by rows and by columns */
    for (size_t x = 0; x < sizeof held / sizeof *held; x++)
        sum += numbers_of(held[x]);
    for (size_t x = 0; x < sizeof figures / sizeof *figures; x++)
        sum += numbers_of(figures[x]) * (wide > 1 ? 1 + wide : 1);
    return sum;
}

static double count_tokens(const struct quantized *q)
{
    return (double)q->batch * (double)q->heads * (double)q->count;
}

/* A rotation turns every token to and fro, twice to where scales are found first; making one takes about 8/3 d^3. */
double quantize_flops(const struct quantized *q)
{
    double d = (double)q->width;
    double per_token = 20 * d;
    per_token += q->rotation.rank ? 6 * d * d : 0;
    per_token += q->sketch.rank ? 4 * d * d : 0;
    return count_tokens(q) * per_token + (q->rotation.rank ? 3 * d * d * d : 0);
}

double quantize_decode_flops(const struct quantized *q)
{
    double d = (double)q->width;
    double turns = (double)(q->rotation.rank > 0) + (double)(q->sketch.rank > 0);
    return count_tokens(q) * (3 * d + turns * 2 * d * d);
}
