/* Rotations, centroids and the statistics of turboquant. */
#include "core/cache/centroids.h"
#include "core/cache/rotation.h"
#include "tests/core/quantize_trial.h"

#include <check.h>
#include <math.h>

/* --- rotations --- */

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
    ck_assert(rotation_new(&r, 5, arena, &err) && rotation_random(&r, &normal, NULL, arena, &err));
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
        ck_assert(rotation_new(&r, width, arena, &err) && rotation_random(&r, &normal, NULL, arena, &err));
        ck_assert_double_le(rotation_defect(&r, NULL), 1e-14);
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
        ck_assert_double_le(rotation_defect(&r, NULL), 1e-14);
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
    struct quantize_trial c;
    double sum = 0, squares = 0;
    normal_fill(&normal, vectors, VECTORS * WIDTH);
    quantize_trial_start(&c, QUANTIZE_TURBOQUANT, bits, VECTORS, WIDTH, vectors);
    c.request.k.exact_centroids = exact;
    quantize_trial_run(&c);
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
    quantize_trial_end(&c);
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
        struct quantize_trial c;
        double score = 0;
        quantize_trial_start(&c, QUANTIZE_TURBOQUANT, 2, 1, D, x);
        c.request.k.qjl = true;
        c.request.k.seed = seed;
        quantize_trial_run(&c);
        for (size_t t = 0; t < D; t++)
            score += query[t] * ((const double *)c.q.dequantized.data)[t];
        sum += score;
        squares += score * score;
        quantize_trial_end(&c);
    }
    double mean = sum / SEEDS;
    double error = sqrt((squares / SEEDS - mean * mean) / SEEDS);
    ck_assert_msg(fabs(mean - truth) <= 3 * error, "%.6f, not %.6f within %.6f", mean, truth, 3 * error);
}
END_TEST

Suite *turboquant_suite(void);
Suite *turboquant_suite(void)
{
    Suite *suite = suite_create("turboquant");
    TCase *tests = tcase_create("turboquant");
    tcase_add_test(tests, random_rotations_are_those_of_numpy);
    tcase_add_test(tests, rotations_are_orthogonal);
    tcase_add_test(tests, distortions_tend_to_the_table);
    tcase_add_test(tests, three_dimensions_have_even_levels);
    tcase_add_test(tests, distortion_is_that_of_the_integral);
    tcase_add_test(tests, sketches_are_unbiased);
    suite_add_tcase(suite, tests);
    return suite;
}
