/* Quantised sides of a cache: the published vectors, the properties of each method, refusals. */
#include "tests/core/draw.h"
#include "tests/core/quantize_trial.h"

#include <check.h>
#include <math.h>
#include <string.h>

static void assert_codes(const struct quantize_trial *c, const int *wanted)
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
    struct quantize_trial c;
    quantize_trial_start(&c, QUANTIZE_AFFINE, 2, 4, 3, causal_k);
    quantize_trial_run(&c);
    assert_codes(&c, codes);
    assert_numbers(c.q.scale, scale, 1e-15);
    assert_numbers(c.q.zero, zero, 0);
    assert_numbers(c.q.dequantized, back, 1e-15);
    ck_assert_double_eq(c.q.bits, 12 * 2 + 3 * 2 * 16); /* ten bits a number: toy caches */
    quantize_trial_end(&c);
}
END_TEST

/* Two numbers that share a scale are its minimum and maximum: any number of bits keeps them. */
START_TEST(affine_keeps_two_numbers_to_rounding)
{
    double x[] = {1, 0, .3, -7, 1, 1, -1, 2};
    struct quantize_trial c;
    quantize_trial_start(&c, QUANTIZE_AFFINE, 1, 4, 2, x);
    c.request.k.has_axis = true;
    c.request.k.axis = QUANTIZE_TOKEN;
    quantize_trial_run(&c);
    assert_numbers(c.q.dequantized, x, 1e-15);
    quantize_trial_end(&c);
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
        struct quantize_trial c;
        enum quantize_method method = methods[seed % 2];
        enum quantize_axis axis = (enum quantize_axis)(seed / 2 % 3);
        for (size_t i = 0; i < 96; i++)
            x[i] = draw_real(&draw);
        quantize_trial_start(&c, method, draw_size(&draw, 2, 8), 12, 8, x);
        c.request.k.has_axis = true;
        c.request.k.axis = axis;
        c.request.keep_first = (int64_t)draw_size(&draw, 0, 2);
        c.request.keep_last = 4 - c.request.keep_first;
        c.request.k.group = axis == QUANTIZE_TENSOR ? 0 : (size_t)1 << draw_size(&draw, 0, 3);
        quantize_trial_run(&c);
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
        quantize_trial_end(&c);
    }
}
END_TEST

START_TEST(float8_scales_to_its_largest_number)
{
    double x[] = {448, 0.3, -1e-9, 0, -224, 17};
    const int codes[] = {126, 42, 128, 0, 246, 88};
    const double back[] = {448, .3125, 0, 0, -224, 16};
    struct quantize_trial c;
    quantize_trial_start(&c, QUANTIZE_FLOAT8_E4M3, 0, 2, 3, x);
    c.request.k.has_axis = true;
    c.request.k.axis = QUANTIZE_TENSOR;
    quantize_trial_run(&c);
    ck_assert_double_eq(*(double *)c.q.scale.data, 1);
    assert_numbers(c.q.dequantized, back, 0);
    assert_codes(&c, codes);
    quantize_trial_end(&c);
}
END_TEST

START_TEST(a_scale_of_zero_gives_code_zero)
{
    double x[] = {0, 0, 0, 0};
    const int codes[4] = {0};
    for (int method = QUANTIZE_AFFINE; method <= QUANTIZE_FLOAT8_E5M2; method++) {
        struct quantize_trial c;
        quantize_trial_start(&c, (enum quantize_method)method, method <= QUANTIZE_SYMMETRIC ? 4 : 0, 2, 2, x);
        quantize_trial_run(&c);
        assert_codes(&c, codes);
        assert_numbers(c.q.dequantized, x, 0);
        quantize_trial_end(&c);
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
        struct quantize_trial c;
        quantize_trial_start(&c, QUANTIZE_TURBOQUANT, bits, 2, 4, cat_k);
        c.request.k.has_rotation = true;
        c.request.k.rotation.kind = QUANTIZE_GIVEN;
        c.request.k.rotation.given = tensor_dense(DTYPE_FLOAT64, 2, (const size_t[]){4, 4}, half);
        quantize_trial_run(&c);
        assert_codes(&c, codes[bits - 1]);
        assert_numbers(c.q.norm, norm, 5e-9);
        assert_numbers(c.q.dequantized, back[bits - 1], 5e-7);
        quantize_trial_end(&c);
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
        struct quantize_trial c;
        double score[2] = {0};
        quantize_trial_start(&c, QUANTIZE_TURBOQUANT, bits, 2, 4, cat_k);
        c.request.k.has_rotation = true;
        c.request.k.rotation.kind = QUANTIZE_GIVEN;
        c.request.k.rotation.given = tensor_dense(DTYPE_FLOAT64, 2, (const size_t[]){4, 4}, half);
        c.request.k.renormalize = true;
        quantize_trial_run(&c);
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
        quantize_trial_end(&c);
    }
}
END_TEST

START_TEST(a_vector_of_zeros_stays)
{
    double x[16] = {0};
    const int codes[] = {4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4};
    const double zero[16] = {0};
    struct quantize_trial c;
    quantize_trial_start(&c, QUANTIZE_TURBOQUANT, 3, 2, 8, x);
    quantize_trial_run(&c);
    assert_codes(&c, codes);
    assert_numbers(c.q.dequantized, zero, 0);
    quantize_trial_end(&c);
}
END_TEST

/* --- refusals --- */

static void assert_refused(struct quantize_trial *c, const char *name, const char *words)
{
    struct error err = {0};
    ck_assert(!quantize_trial_try(c, &err));
    ck_assert_int_eq(err.code, ERROR_INVALID);
    ck_assert_str_eq(err.faults[0].name, name);
    ck_assert_msg(strstr(err.faults[0].text, words) != NULL, "%s", err.faults[0].text);
    quantize_trial_end(c);
}

START_TEST(what_means_nothing_is_refused)
{
    static double skew[] = {1, .1, 0, 1};
    double x[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    struct quantize_trial c;
    quantize_trial_start(&c, QUANTIZE_AFFINE, 0, 4, 3, x);
    assert_refused(&c, "quantize.k.bits", "affine needs bits, from 1 to 8");
    quantize_trial_start(&c, QUANTIZE_SYMMETRIC, 1, 4, 3, x);
    assert_refused(&c, "quantize.k.bits", "bits is 1; symmetric takes 2 to 8");
    quantize_trial_start(&c, QUANTIZE_FLOAT8_E5M2, 8, 4, 3, x);
    assert_refused(&c, "quantize.k.bits", "leave bits out");
    quantize_trial_start(&c, QUANTIZE_TURBOQUANT, 5, 4, 3, x);
    assert_refused(&c, "quantize.k.bits", "turboquant takes 1 to 4");
    quantize_trial_start(&c, QUANTIZE_AFFINE, 2, 4, 3, x);
    c.request.k.has_rotation = true;
    c.request.k.rotation.kind = QUANTIZE_HADAMARD;
    assert_refused(&c, "quantize.k.rotation", "the width is 3, the next one is 4");
    quantize_trial_start(&c, QUANTIZE_AFFINE, 2, 4, 3, x);
    c.request.k.group = 3;
    assert_refused(&c, "quantize.k.group", "group is 3, which does not divide the 4 quantised tokens");
    quantize_trial_start(&c, QUANTIZE_AFFINE, 2, 4, 3, x);
    c.request.k.has_axis = true;
    c.request.k.axis = QUANTIZE_TENSOR;
    c.request.k.group = 2;
    assert_refused(&c, "quantize.k.group", "group means nothing");
    quantize_trial_start(&c, QUANTIZE_AFFINE, 2, 4, 3, x);
    c.request.keep_first = 3;
    c.request.keep_last = 1;
    assert_refused(&c, "quantize.keep_last", "leave none of the 4 tokens");
    quantize_trial_start(&c, QUANTIZE_AFFINE, 2, 4, 3, x);
    c.request.k.qjl = true;
    assert_refused(&c, "quantize.k.residual", "Only turboquant has residual");
    quantize_trial_start(&c, QUANTIZE_TURBOQUANT, 2, 6, 2, x);
    c.request.k.exact_centroids = true;
    assert_refused(&c, "quantize.k.centroids", "at least 3");
    quantize_trial_start(&c, QUANTIZE_AFFINE, 2, 6, 2, x);
    c.request.k.has_seed = true;
    assert_refused(&c, "quantize.k.seed", "Nothing is drawn here");
    quantize_trial_start(&c, QUANTIZE_AFFINE, 2, 6, 2, x);
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
    tcase_add_test(tests, what_means_nothing_is_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
