/* Quantised sides of a cache: the published vectors, the properties of each method, and the statistics of turboquant.
 */
#include "core/cache/centroids.h"
#include "core/cache/quantize.h"
#include "core/cache/rotation.h"
#include "tests/core/draw.h"

#include <check.h>
#include <math.h>
#include <string.h>

/* One side of one head, rows of `width` numbers, and what became of it. */
struct cache {
    struct arena *arena;
    struct quantize_request request;
    struct tensor x;
    struct quantized q;
};

static void start(struct cache *c, enum quantize_method method, size_t bits, size_t tokens, size_t width, double *x)
{
    const size_t shape[4] = {1, 1, tokens, width};
    memset(c, 0, sizeof *c);
    c->arena = arena_new((size_t)1 << 28);
    c->request.k = (struct quantize_side){.on = true, .method = method, .bits = bits};
    c->x = tensor_dense(DTYPE_FLOAT64, 4, shape, x);
}

static bool try_run(struct cache *c, struct error *err)
{
    const size_t *shape = c->x.shape;
    const struct quantize_side *side = &c->request.k;
    if (!quantize_check(&c->request, side, "quantize.k", shape[2], shape[3], err))
        return false;
    c->q = quantize_plan(&c->request, side, c->x.dtype, shape[0], shape[1], shape[2], shape[3]);
    return quantize_run(&c->q, c->x, "quantize.k", c->arena, NULL, err);
}

static void run(struct cache *c)
{
    struct error err = {0};
    ck_assert_msg(try_run(c, &err), "%s: %s", err.faults[0].name, err.faults[0].text);
}

static void end(struct cache *c)
{
    arena_free(c->arena);
}

static void assert_codes(const struct cache *c, const int *wanted)
{
    for (size_t x = 0; x < tensor_count(c->q.codes); x++)
        ck_assert_int_eq(((const int16_t *)c->q.codes.data)[x], wanted[x]);
}

static void assert_numbers(struct tensor t, const double *wanted, double tolerance)
{
    for (size_t x = 0; x < tensor_count(t); x++)
        ck_assert_msg(fabs(((const double *)t.data)[x] - wanted[x]) <= tolerance, "number %zu is %.17g, not %.17g", x,
                      ((const double *)t.data)[x], wanted[x]);
}

/* --- affine, symmetric, float8 --- */

static double causal_k[] = {.5, 1, 0, 1, -.5, .5, 0, 1, 1, -1, .5, 0};

START_TEST(keys_by_channel_as_published)
{
    const int codes[] = {2, 3, 0, 3, 0, 2, 2, 3, 3, 0, 2, 0};
    const double scale[] = {2. / 3, .5, 1. / 3};
    const double zero[] = {-1, -.5, 0};
    const double back[] = {1. / 3, 1, 0, 1, -.5, 2. / 3, 1. / 3, 1, 1, -1, .5, 0};
    struct cache c;
    start(&c, QUANTIZE_AFFINE, 2, 4, 3, causal_k);
    run(&c);
    assert_codes(&c, codes);
    assert_numbers(c.q.scale, scale, 1e-15);
    assert_numbers(c.q.zero, zero, 0);
    assert_numbers(c.q.dequantized, back, 1e-15);
    ck_assert_double_eq(c.q.bits, 12 * 2 + 3 * 2 * 16); /* ten bits a number: toy caches */
    end(&c);
}
END_TEST

/* Two numbers that share a scale are its minimum and maximum: any number of bits keeps them. */
START_TEST(affine_keeps_two_numbers_to_rounding)
{
    double x[] = {1, 0, .3, -7, 1, 1, -1, 2};
    struct cache c;
    start(&c, QUANTIZE_AFFINE, 1, 4, 2, x);
    c.request.k.has_axis = true;
    c.request.k.axis = QUANTIZE_TOKEN;
    run(&c);
    assert_numbers(c.q.dequantized, x, 1e-15);
    end(&c);
}
END_TEST

/* Whatever shares a scale, no number is further than half a step from what it was; the scales stand where the axis
 * says.
 */
START_TEST(half_a_step_is_the_most_that_is_lost)
{
    const enum quantize_method methods[] = {QUANTIZE_AFFINE, QUANTIZE_SYMMETRIC};
    double x[12 * 8];
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct draw draw = {seed};
        struct cache c;
        enum quantize_method method = methods[seed % 2];
        enum quantize_axis axis = (enum quantize_axis)(seed / 2 % 3);
        for (size_t i = 0; i < 96; i++)
            x[i] = draw_real(&draw);
        start(&c, method, draw_size(&draw, 2, 8), 12, 8, x);
        c.request.k.has_axis = true;
        c.request.k.axis = axis;
        c.request.keep_first = (int64_t)draw_size(&draw, 0, 2);
        c.request.keep_last = 4 - c.request.keep_first;
        c.request.k.group = axis == QUANTIZE_TENSOR ? 0 : (size_t)1 << draw_size(&draw, 0, 3);
        run(&c);
        for (size_t j = 0; j < 12; j++)
            for (size_t t = 0; t < 8; t++) {
                const double *scale = c.q.scale.data;
                size_t row = j - c.q.first;
                bool kept = j < c.q.first || j >= c.q.first + 8;
                double step = kept                       ? 0
                              : axis == QUANTIZE_CHANNEL ? scale[row / c.q.group * 8 + t]
                              : axis == QUANTIZE_TOKEN   ? scale[row * (8 / c.q.group) + t / c.q.group]
                                                         : scale[0];
                double lost = fabs(((const double *)c.q.dequantized.data)[j * 8 + t] - x[j * 8 + t]);
                ck_assert_msg(lost <= step / 2 * (1 + 1e-12), "seed %d: token %zu lost %g of a step %g", (int)seed, j,
                              lost, step);
            }
        end(&c);
    }
}
END_TEST

START_TEST(float8_scales_to_its_largest_number)
{
    double x[] = {448, 0.3, -1e-9, 0, -224, 17};
    const int codes[] = {126, 42, 128, 0, 246, 88};
    const double back[] = {448, .3125, 0, 0, -224, 16};
    struct cache c;
    start(&c, QUANTIZE_FLOAT8_E4M3, 0, 2, 3, x);
    c.request.k.has_axis = true;
    c.request.k.axis = QUANTIZE_TENSOR;
    run(&c);
    ck_assert_double_eq(*(double *)c.q.scale.data, 1);
    assert_numbers(c.q.dequantized, back, 0);
    assert_codes(&c, codes);
    end(&c);
}
END_TEST

START_TEST(a_scale_of_zero_gives_code_zero)
{
    double x[] = {0, 0, 0, 0};
    const int codes[4] = {0};
    for (int method = QUANTIZE_AFFINE; method <= QUANTIZE_FLOAT8_E5M2; method++) {
        struct cache c;
        start(&c, (enum quantize_method)method, method <= QUANTIZE_SYMMETRIC ? 4 : 0, 2, 2, x);
        run(&c);
        assert_codes(&c, codes);
        assert_numbers(c.q.dequantized, x, 0);
        end(&c);
    }
}
END_TEST

/* --- turboquant --- */

static double cat_k[] = {-.4, -.3, .2, 1.2, 1.6, -.7, -.4, -.5};

/* H_4 / 2 without signs, as a given rotation; the codes and directions that were printed. */
START_TEST(the_cat_under_hadamard_as_published)
{
    static double half[] = {.5, .5, .5, .5, .5, -.5, .5, -.5, .5, .5, -.5, -.5, .5, -.5, -.5, .5};
    static const int codes[4][8] = {
        {1, 0, 0, 1, 1, 1, 1, 1}, {2, 1, 0, 2, 2, 3, 2, 3}, {5, 2, 1, 5, 4, 6, 5, 6}, {10, 4, 2, 10, 8, 12, 11, 12}};
    static const double back[4][8] = {{0, 0, 0, 1.049453, 1.484151, 0, 0, 0},
                                      {-.347776, -.347776, .347776, .943315, 1.825879, -.98366, 0, 0},
                                      {-.193317, -.193317, .193317, 1.187686, 1.715446, -.78437, -.237587, -.237587},
                                      {-.41, -.222188, .222188, 1.273832, 1.666283, -.670442, -.378507, -.378507}};
    const double norm[] = {1.31529464, 1.86010752};
    for (size_t bits = 1; bits <= 4; bits++) {
        struct cache c;
        start(&c, QUANTIZE_TURBOQUANT, bits, 2, 4, cat_k);
        c.request.k.has_rotation = true;
        c.request.k.rotation.kind = QUANTIZE_GIVEN;
        c.request.k.rotation.given = tensor_dense(DTYPE_FLOAT64, 2, (const size_t[]){4, 4}, half);
        run(&c);
        assert_codes(&c, codes[bits - 1]);
        assert_numbers(c.q.norm, norm, 5e-9);
        assert_numbers(c.q.dequantized, back[bits - 1], 5e-7);
        end(&c);
    }
}
END_TEST

/* The scores of q = cat with renormalised keys give the weights that were printed. */
START_TEST(renormalised_directions_have_their_norm)
{
    static const double weights[4] = {.304541, .248298, .272229, .267281};
    static double half[] = {.5, .5, .5, .5, .5, -.5, .5, -.5, .5, .5, -.5, -.5, .5, -.5, -.5, .5};
    const double query[] = {1.1, -.8, .2, .3};
    for (size_t bits = 1; bits <= 4; bits++) {
        struct cache c;
        double score[2] = {0};
        start(&c, QUANTIZE_TURBOQUANT, bits, 2, 4, cat_k);
        c.request.k.has_rotation = true;
        c.request.k.rotation.kind = QUANTIZE_GIVEN;
        c.request.k.rotation.given = tensor_dense(DTYPE_FLOAT64, 2, (const size_t[]){4, 4}, half);
        c.request.k.renormalize = true;
        run(&c);
        for (size_t j = 0; j < 2; j++) {
            const double *back = (const double *)c.q.dequantized.data + 4 * j;
            double length = 0;
            for (size_t t = 0; t < 4; t++) {
                score[j] += .5 * query[t] * back[t];
                length += back[t] * back[t];
            }
            ck_assert_double_eq_tol(sqrt(length), ((const double *)c.q.norm.data)[j], 1e-14);
        }
        ck_assert_double_eq_tol(1 / (1 + exp(score[1] - score[0])), weights[bits - 1], 6e-7);
        end(&c);
    }
}
END_TEST

START_TEST(a_vector_of_zeros_stays)
{
    double x[16] = {0};
    const int codes[] = {4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4};
    const double zero[16] = {0};
    struct cache c;
    start(&c, QUANTIZE_TURBOQUANT, 3, 2, 8, x);
    run(&c);
    assert_codes(&c, codes);
    assert_numbers(c.q.dequantized, zero, 0);
    end(&c);
}
END_TEST

/* Q of the QR of the seed's own matrix, first and last row: as NumPy has it (signs so that the diagonal of R is
 * positive). */
START_TEST(random_rotations_are_those_of_numpy)
{
    const double first[] = {0.4763301623810985, 0.3811990340605728, 0.47121400165044264, 0.595331819315826,
                            0.22657065652014133};
    const double last[] = {0.24263504512113096, 0.7213684596784403, -0.1502552755125776, -0.3331558406562165,
                           -0.5358976751932316};
    struct arena *arena = arena_new(1 << 20);
    struct error err = {0};
    struct rotation r;
    struct normal normal = {7};
    ck_assert(rotation_new(&r, 5, arena, &err) && rotation_random(&r, &normal, arena, &err));
    for (size_t t = 0; t < 5; t++) {
        ck_assert_double_eq_tol(r.rows[t], first[t], 1e-14);
        ck_assert_double_eq_tol(r.rows[20 + t], last[t], 1e-14);
    }
    arena_free(arena);
}
END_TEST

START_TEST(rotations_are_orthogonal)
{
    struct arena *arena = arena_new(1 << 26);
    struct error err = {0};
    for (size_t width = 1; width <= 128; width = width * 2 + (width % 3 == 0)) {
        double x[256], y[256], back[256];
        struct rotation r;
        struct normal normal = {width};
        ck_assert(rotation_new(&r, width, arena, &err) && rotation_random(&r, &normal, arena, &err));
        ck_assert_double_le(rotation_defect(&r), 1e-14);
        normal_fill(&normal, x, width);
        rotation_apply(&r, x, y);
        rotation_undo(&r, y, back);
        for (size_t t = 0; t < width; t++)
            ck_assert_double_eq_tol(back[t], x[t], 1e-13);
    }
    for (size_t width = 1; width <= 128; width *= 2) {
        struct rotation r;
        struct normal normal = {3};
        ck_assert(rotation_new(&r, width, arena, &err));
        rotation_hadamard(&r, &normal);
        ck_assert_double_le(rotation_defect(&r), 1e-14);
    }
    arena_free(arena);
}
END_TEST

/* --- statistics --- */

/* The density of a coordinate of a random direction, not normalised. */
static double density(size_t d, double t)
{
    return pow(1 - t * t, ((double)d - 3) / 2);
}

/* d E[(t - level)^2] under it, by Simpson's rule: independent of core's own integrals. */
static double distortion(const struct centroids *c, size_t d)
{
    const size_t steps = 200000;
    double sum = 0, whole = 0;
    for (size_t x = 0; x <= steps; x++) {
        double t = -1 + 2 * (double)x / (double)steps;
        double weight = (x == 0 || x == steps ? 1 : x % 2 ? 4 : 2) * density(d, t);
        double away = t - c->level[centroids_code(c, t)];
        sum += weight * away * away;
        whole += weight;
    }
    return sum / whole * (double)d;
}

/* Lloyd and Max on N(0, 1): the table, and as its limit what large widths give. */
START_TEST(distortions_tend_to_the_table)
{
    const double table[] = {.363380, .117482, .034548, .009501};
    for (size_t bits = 1; bits <= 4; bits++) {
        const struct centroids normal = centroids_normal(bits, 100000);
        const struct centroids exact = centroids_exact(bits, 100000);
        ck_assert_double_eq_tol(distortion(&normal, 100000), table[bits - 1], 2e-5);
        for (size_t x = 0; x < normal.count; x++)
            ck_assert_double_eq_tol(exact.level[x] / normal.level[x], 1, 1e-4);
    }
}
END_TEST

/* In three dimensions a coordinate is uniform (Archimedes), and its best levels are evenly spaced. */
START_TEST(three_dimensions_have_even_levels)
{
    for (size_t bits = 1; bits <= 4; bits++) {
        const struct centroids c = centroids_exact(bits, 3);
        for (size_t x = 0; x < c.count; x++)
            ck_assert_double_eq_tol(c.level[x], (2 * (double)x + 1) / (double)c.count - 1, 1e-10);
    }
}
END_TEST

#define VECTORS 10000
#define WIDTH 16

static double vectors[VECTORS * WIDTH];

/* The mean of |x - x^|^2 over 10^4 directions is within three standard errors of the integral. */
static void check_distortion(size_t bits, bool exact)
{
    struct normal normal = {bits};
    struct cache c;
    double sum = 0, squares = 0;
    normal_fill(&normal, vectors, VECTORS * WIDTH);
    start(&c, QUANTIZE_TURBOQUANT, bits, VECTORS, WIDTH, vectors);
    c.request.k.exact_centroids = exact;
    run(&c);
    for (size_t j = 0; j < VECTORS; j++) {
        double lost = 0, length = 0;
        for (size_t t = 0; t < WIDTH; t++) {
            double x = vectors[j * WIDTH + t];
            double away = x - ((const double *)c.q.dequantized.data)[j * WIDTH + t];
            lost += away * away;
            length += x * x;
        }
        sum += lost / length;
        squares += lost / length * (lost / length);
    }
    const struct centroids levels = exact ? centroids_exact(bits, WIDTH) : centroids_normal(bits, WIDTH);
    double mean = sum / VECTORS;
    double error = sqrt((squares / VECTORS - mean * mean) / VECTORS);
    double wanted = distortion(&levels, WIDTH);
    ck_assert_msg(fabs(mean - wanted) <= 3 * error, "%zu bits: %.6f, not %.6f within %.6f", bits, mean, wanted,
                  3 * error);
    end(&c);
}

START_TEST(distortion_is_that_of_the_integral)
{
    for (size_t bits = 1; bits <= 4; bits++) {
        check_distortion(bits, false);
        check_distortion(bits, true);
    }
}
END_TEST

/* E over seeds of q . x^ = q . x; without the sketch it is off by the distortion. */
START_TEST(sketches_are_unbiased)
{
    enum { SEEDS = 10000, D = 8 };
    double x[] = {.3, -1.2, .5, 2, -.1, .4, -.9, .7};
    const double query[] = {1, .2, -.5, .8, .3, -.7, .1, .6};
    double sum = 0, squares = 0, truth = 0;
    for (size_t t = 0; t < D; t++)
        truth += query[t] * x[t];
    for (int64_t seed = 0; seed < SEEDS; seed++) {
        struct cache c;
        double score = 0;
        start(&c, QUANTIZE_TURBOQUANT, 2, 1, D, x);
        c.request.k.qjl = true;
        c.request.k.seed = seed;
        run(&c);
        for (size_t t = 0; t < D; t++)
            score += query[t] * ((const double *)c.q.dequantized.data)[t];
        sum += score;
        squares += score * score;
        end(&c);
    }
    double mean = sum / SEEDS;
    double error = sqrt((squares / SEEDS - mean * mean) / SEEDS);
    ck_assert_msg(fabs(mean - truth) <= 3 * error, "%.6f, not %.6f within %.6f", mean, truth, 3 * error);
}
END_TEST

/* --- refusals --- */

static void assert_refused(struct cache *c, const char *name, const char *words)
{
    struct error err = {0};
    ck_assert(!try_run(c, &err));
    ck_assert_int_eq(err.code, ERROR_INVALID);
    ck_assert_str_eq(err.faults[0].name, name);
    ck_assert_msg(strstr(err.faults[0].text, words) != NULL, "%s", err.faults[0].text);
    end(c);
}

START_TEST(what_means_nothing_is_refused)
{
    static double skew[] = {1, .1, 0, 1};
    double x[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    struct cache c;
    start(&c, QUANTIZE_AFFINE, 0, 4, 3, x);
    assert_refused(&c, "quantize.k.bits", "affine needs bits, from 1 to 8");
    start(&c, QUANTIZE_SYMMETRIC, 1, 4, 3, x);
    assert_refused(&c, "quantize.k.bits", "bits is 1; symmetric takes 2 to 8");
    start(&c, QUANTIZE_FLOAT8_E5M2, 8, 4, 3, x);
    assert_refused(&c, "quantize.k.bits", "leave bits out");
    start(&c, QUANTIZE_TURBOQUANT, 5, 4, 3, x);
    assert_refused(&c, "quantize.k.bits", "turboquant takes 1 to 4");
    start(&c, QUANTIZE_AFFINE, 2, 4, 3, x);
    c.request.k.has_rotation = true;
    c.request.k.rotation.kind = QUANTIZE_HADAMARD;
    assert_refused(&c, "quantize.k.rotation", "the width is 3, the next one is 4");
    start(&c, QUANTIZE_AFFINE, 2, 4, 3, x);
    c.request.k.group = 3;
    assert_refused(&c, "quantize.k.group", "group is 3, which does not divide the 4 quantised tokens");
    start(&c, QUANTIZE_AFFINE, 2, 4, 3, x);
    c.request.k.has_axis = true;
    c.request.k.axis = QUANTIZE_TENSOR;
    c.request.k.group = 2;
    assert_refused(&c, "quantize.k.group", "group means nothing");
    start(&c, QUANTIZE_AFFINE, 2, 4, 3, x);
    c.request.keep_first = 3;
    c.request.keep_last = 1;
    assert_refused(&c, "quantize.keep_last", "leave none of the 4 tokens");
    start(&c, QUANTIZE_AFFINE, 2, 4, 3, x);
    c.request.k.qjl = true;
    assert_refused(&c, "quantize.k.residual", "Only turboquant has residual");
    start(&c, QUANTIZE_TURBOQUANT, 2, 6, 2, x);
    c.request.k.exact_centroids = true;
    assert_refused(&c, "quantize.k.centroids", "at least 3");
    start(&c, QUANTIZE_AFFINE, 2, 6, 2, x);
    c.request.k.has_seed = true;
    assert_refused(&c, "quantize.k.seed", "Nothing is drawn here");
    start(&c, QUANTIZE_AFFINE, 2, 6, 2, x);
    c.request.k.has_rotation = true;
    c.request.k.rotation.kind = QUANTIZE_GIVEN;
    c.request.k.rotation.given = tensor_dense(DTYPE_FLOAT64, 2, (const size_t[]){2, 2}, skew);
    assert_refused(&c, "quantize.k.rotation", "|R R^T - I| is 0.1");
}
END_TEST

Suite *quantize_suite(void);
Suite *quantize_suite(void)
{
    Suite *suite = suite_create("quantize");
    TCase *tests = tcase_create("quantize");
    tcase_add_test(tests, keys_by_channel_as_published);
    tcase_add_test(tests, affine_keeps_two_numbers_to_rounding);
    tcase_add_test(tests, half_a_step_is_the_most_that_is_lost);
    tcase_add_test(tests, float8_scales_to_its_largest_number);
    tcase_add_test(tests, a_scale_of_zero_gives_code_zero);
    tcase_add_test(tests, the_cat_under_hadamard_as_published);
    tcase_add_test(tests, renormalised_directions_have_their_norm);
    tcase_add_test(tests, a_vector_of_zeros_stays);
    tcase_add_test(tests, random_rotations_are_those_of_numpy);
    tcase_add_test(tests, rotations_are_orthogonal);
    tcase_add_test(tests, distortions_tend_to_the_table);
    tcase_add_test(tests, three_dimensions_have_even_levels);
    tcase_add_test(tests, distortion_is_that_of_the_integral);
    tcase_add_test(tests, sketches_are_unbiased);
    tcase_add_test(tests, what_means_nothing_is_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
