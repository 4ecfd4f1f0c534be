/* Multi-head latent attention: the published vector, both forms against plain loops, their past. */
#include "core/tensor/blas.h"
#include "tests/core/latent_trial.h"

#include <check.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void start_blas(void)
{
    struct error err = {0};
    ck_assert_msg(blas_start(&err), "%s", err.faults[0].text);
}

/* --- plain loops --- */

static double at(struct tensor t, size_t row, size_t column)
{
    return ((const double *)t.data)[row * t.shape[t.rank - 1] + column];
}

/* out = row `row` of x times w */
static void project(struct tensor x, size_t row, struct tensor w, double *out)
{
    for (size_t c = 0; c < w.shape[1]; c++) {
        out[c] = 0;
        for (size_t t = 0; t < w.shape[0]; t++)
            out[c] += at(x, row, t) * at(w, t, c);
    }
}

static void normalise(const struct latent_trial *run, double *x, size_t n, struct tensor gain)
{
    double sum = 0;
    for (size_t t = 0; t < n; t++)
        sum += x[t] * x[t];
    for (size_t t = 0; run->request.latent.rms && t < n; t++)
        x[t] = x[t] / sqrt(sum / (double)n + 1e-6) * (gain.data ? at(gain, 0, t) : 1);
}

static void rotate(double *x, size_t n, size_t position)
{
    for (size_t t = 0; t < n / 2; t++) {
        double angle = (double)position * pow(10000, -2 * (double)t / (double)n);
        double first = x[2 * t], second = x[2 * t + 1];
        x[2 * t] = cos(angle) * first - sin(angle) * second;
        x[2 * t + 1] = sin(angle) * first + cos(angle) * second;
    }
}

/* c and k_R of key j */
static void cache_row(const struct latent_trial *run, size_t b, size_t j, double *c, double *kr)
{
    const struct latent_sizes *z = &run->z;
    const struct attention_request *r = &run->request;
    struct tensor context = r->context.data ? r->context : r->x;
    if (j < z->past) {
        memcpy(c, (const double *)r->past_latent.data + (b * z->past + j) * z->d_c, z->d_c * sizeof *c);
        memcpy(kr, (const double *)r->past_rope_key.data + (b * z->past + j) * z->d_r, z->d_r * sizeof *kr);
        return;
    }
    project(context, b * z->keys + j - z->past, r->latent.w_dkv, c);
    project(context, b * z->keys + j - z->past, r->latent.w_kr, kr);
    normalise(run, c, z->d_c, r->latent.gain_kv);
    rotate(kr, z->d_r, j);
}

static void query_row(const struct latent_trial *run, size_t b, size_t i, double *q)
{
    const struct latent_sizes *z = &run->z;
    const struct latent_request *l = &run->request.latent;
    double c[64];
    if (l->w_dq.data) {
        project(run->request.x, b * z->queries + i, l->w_dq, c);
        normalise(run, c, z->d_cq, l->gain_q);
        project(tensor_dense(DTYPE_FLOAT64, 2, (const size_t[]){1, z->d_cq}, c), 0, l->w_uq, q);
    } else {
        project(run->request.x, b * z->queries + i, l->w_q, q);
    }
    for (size_t h = 0; h < z->heads; h++)
        rotate(q + h * (z->d_n + z->d_r) + z->d_n, z->d_r, z->past + i);
}

/* o_i of head h, causal where the request is: as the formulas stand on the page */
static void naive(const struct latent_trial *run, size_t b, size_t h, size_t i, double *output, double *weights)
{
    const struct latent_sizes *z = &run->z;
    size_t m = z->past + z->keys, d = z->d_n + z->d_r;
    double q[256], c[64], kr[64], sum = 0, most = -HUGE_VAL;
    query_row(run, b, i, q);
    for (size_t j = 0; j < m; j++) {
        double score = 0;
        cache_row(run, b, j, c, kr);
        for (size_t t = 0; t < z->d_n; t++) {
            double key = 0;
            for (size_t a = 0; a < z->d_c; a++)
                key += c[a] * at(run->request.latent.w_uk, a, h * z->d_n + t);
            score += q[h * d + t] * key;
        }
        for (size_t t = 0; t < z->d_r; t++)
            score += q[h * d + z->d_n + t] * kr[t];
        bool hidden = run->request.mask.causal && j > i + z->past;
        weights[j] = hidden ? -HUGE_VAL : score / sqrt((double)d);
        most = fmax(most, weights[j]);
    }
    for (size_t j = 0; j < m; j++)
        sum += weights[j] = exp(weights[j] - most);
    memset(output, 0, z->e * sizeof *output);
    for (size_t j = 0; j < m; j++) {
        weights[j] /= sum;
        cache_row(run, b, j, c, kr);
        for (size_t t = 0; t < z->e; t++)
            for (size_t a = 0; a < z->d_c; a++)
                output[t] += weights[j] * c[a] * at(run->request.latent.w_uv, a, h * z->e + t);
    }
}

static void assert_naive(const struct latent_trial *run, uint64_t seed, const char *form)
{
    const struct latent_sizes *z = &run->z;
    size_t m = z->past + z->keys;
    double *output = calloc(z->e, sizeof *output), *weights = calloc(m, sizeof *weights);
    double largest = 0;
    for (size_t x = 0; x < z->batch * z->queries * z->heads * z->e; x++)
        largest = fmax(largest, fabs(run->output[x]));
    for (size_t row = 0; row < z->batch * z->heads * z->queries; row++) {
        size_t i = row % z->queries, h = row / z->queries % z->heads, b = row / z->queries / z->heads;
        naive(run, b, h, i, output, weights);
        for (size_t t = 0; t < z->e; t++) {
            double found = run->output[((b * z->queries + i) * z->heads + h) * z->e + t];
            ck_assert_msg(fabs(found - output[t]) <= 1e-13 * fmax(1, largest), "seed %" PRIu64 ", %s: %.17g, not %.17g",
                          seed, form, found, output[t]);
        }
        for (size_t j = 0; j < m; j++)
            ck_assert_double_eq_tol(run->weights[row * m + j], weights[j], 1e-12);
    }
    free(output);
    free(weights);
}

static struct latent_sizes random_sizes(struct draw *draw)
{
    struct latent_sizes z = {.batch = draw_size(draw, 1, 2), .heads = draw_size(draw, 1, 4)};
    z.queries = draw_size(draw, 1, 9);
    z.keys = draw_chance(draw, 50) ? z.queries : draw_size(draw, 1, 9);
    z.past = draw_chance(draw, 50) ? 0 : draw_size(draw, 1, 5);
    z.d_model = draw_size(draw, 1, 6);
    z.d_c = draw_size(draw, 1, 6);
    z.d_cq = draw_chance(draw, 50) ? 0 : draw_size(draw, 1, 5);
    z.d_n = draw_size(draw, 1, 5);
    z.d_r = 2 * draw_size(draw, 1, 3);
    z.e = draw_size(draw, 1, 5);
    return z;
}

/* Small numbers, so that no weight hangs on the last bits of a large score. */
static void shrink(struct tensor t)
{
    for (size_t x = 0; t.data && x < tensor_count(t); x++)
        ((double *)t.data)[x] *= 0.3;
}

static void start_random(struct latent_trial *run, struct draw *draw)
{
    latent_trial_start(run, random_sizes(draw), draw);
    struct latent_request *l = &run->request.latent;
    l->rms = draw_chance(draw, 50);
    if (l->rms && draw_chance(draw, 50))
        l->gain_kv = latent_trial_tensor(run, draw, 1, &run->z.d_c);
    if (l->rms && l->w_dq.data && draw_chance(draw, 50))
        l->gain_q = latent_trial_tensor(run, draw, 1, &run->z.d_cq);
    run->request.mask.causal = run->z.keys == run->z.queries && draw_chance(draw, 50);
    shrink(l->w_uk);
    shrink(l->w_q);
    shrink(l->w_uq);
    shrink(l->w_kr);
}

/* expanded = absorbed = the formulas, to 1e-13 of the largest number */
START_TEST(both_forms_are_the_formulas)
{
    for (uint64_t seed = 1; seed <= 400; seed++) {
        struct draw draw = {seed};
        struct latent_trial run;
        start_random(&run, &draw);
        latent_trial_run(&run, false, NULL);
        assert_naive(&run, seed, "expanded");
        latent_trial_run(&run, true, NULL);
        assert_naive(&run, seed, "absorbed");
        latent_trial_end(&run);
    }
}
END_TEST

/* Heads too large for plain loops go through the fused kernel, whose keys are then c and k_R. */
START_TEST(large_heads_agree_in_both_forms)
{
    struct draw draw = {5};
    struct pool *pool = pool_start(2, 2);
    struct latent_trial run;
    latent_trial_start(&run, (struct latent_sizes){1, 3, 150, 700, 0, 8, 24, 12, 16, 8, 20}, &draw);
    run.request.latent.rms = true;
    latent_trial_run(&run, false, pool);
    size_t count = attention_count(&run.a, QUANTITY_OUTPUT);
    double *expanded = run.output;
    double largest = 0;
    latent_trial_run(&run, true, pool);
    for (size_t x = 0; x < count; x++)
        largest = fmax(largest, fabs(expanded[x]));
    for (size_t x = 0; x < count; x++)
        ck_assert_double_eq_tol(expanded[x], run.output[x], 1e-12 * largest);
    latent_trial_end(&run);
    pool_stop(pool);
}
END_TEST

/* What is kept of the first tokens serves the later ones: one request, or two with a past. */
START_TEST(a_past_continues)
{
    for (int absorbed = 0; absorbed < 2; absorbed++) {
        struct draw draw = {11};
        struct latent_trial whole, later;
        latent_trial_start(&whole, (struct latent_sizes){1, 2, 5, 5, 0, 4, 3, 2, 2, 4, 3}, &draw);
        whole.request.mask.causal = true;
        whole.request.latent.rms = true;
        latent_trial_run(&whole, absorbed, NULL);
        later = whole;
        later.z.queries = later.z.keys = 2;
        later.z.past = 3;
        later.request.x =
            tensor_dense(DTYPE_FLOAT64, 3, (const size_t[]){1, 2, 4}, (double *)whole.request.x.data + (size_t)3 * 4);
        later.request.past_latent = tensor_dense(DTYPE_FLOAT64, 3, (const size_t[]){1, 3, 3}, NULL);
        later.request.past_rope_key = tensor_dense(DTYPE_FLOAT64, 3, (const size_t[]){1, 3, 4}, NULL);
        double latent[9], rope_key[12];
        for (size_t j = 0; j < 3; j++) {
            const struct latent *l = &whole.a.latent;
            memcpy(latent + j * 3, (double *)l->latent.data + j * l->latent.stride[2], sizeof(double) * 3);
            memcpy(rope_key + j * 4, (double *)l->rope_key.data + j * l->rope_key.stride[2], sizeof(double) * 4);
        }
        later.request.past_latent.data = latent;
        later.request.past_rope_key.data = rope_key;
        const double *before = whole.output;
        latent_trial_run(&later, absorbed, NULL);
        for (size_t x = 0; x < (size_t)2 * 2 * 3; x++)
            ck_assert_double_eq_tol(later.output[x], before[(size_t)3 * 2 * 3 + x], 1e-14);
        latent_trial_end(&whole);
    }
}
END_TEST

/* 3 tokens, causal, 2 heads, d_n 2, d_r 2, d_c 3, d_cq 3, e 2, without norm: the printed outputs. */
START_TEST(the_published_vector)
{
    static double x[] = {0, .75, .5, -.75, 1, 1.75, 1.5, .25, -2, -1.25, -1.5, 1.25};
    static double w_dq[] = {1.25, -1, -.25, -.5, -1.75, 0, .75, .5, -.75, 1, 1.75, 1.5};
    static double w_uq[] = {1, 1.75, 1.5, .25,  -2, -1.25, -1.5, 1.25, -1, -.25,  -.5,  -1.75,
                            0, .75,  .5,  -.75, 1,  1.75,  1.5,  .25,  -2, -1.25, -1.5, 1.25};
    static double w_dkv[] = {-.5, -1.75, 0, -.75, 1, 1.75, -2, -1.25, -1.5, -.25, -.5, -1.75};
    static double w_kr[] = {.75, .5, 1.5, .25, 1.25, -1, 0, .75};
    static double w_uk[] = {.5, -.75, 1, 1.75, 1.5, .25, -2, -1.25, -1.5, 1.25, -1, -.25};
    static double w_uv[] = {-1, -.25, -.5, -1.75, 0, .75, .5, -.75, 1, 1.75, 1.5, .25};
    static const double wanted[] = {3.25,       4,          3.75, 2.5,  5.23355137, .40481314,
                                    3.57836996, 3.24781662, 5.25, .375, 2.73528378, .79441674};
    struct latent_trial run = {.arena = arena_new(1 << 20)};
    struct attention_request *r = &run.request;
#define MATRIX(rows, columns, data) tensor_dense(DTYPE_FLOAT64, 2, (const size_t[]){rows, columns}, data)
    *r = (struct attention_request){.heads = 2, .mask.causal = true, .x = MATRIX(3, 4, x)};
    r->latent = (struct latent_request){.on = true,
                                        .w_dkv = MATRIX(4, 3, w_dkv),
                                        .w_kr = MATRIX(4, 2, w_kr),
                                        .w_uk = MATRIX(3, 4, w_uk),
                                        .w_uv = MATRIX(3, 4, w_uv),
                                        .w_dq = MATRIX(4, 3, w_dq),
                                        .w_uq = MATRIX(3, 8, w_uq)};
#undef MATRIX
    for (int absorbed = 0; absorbed < 2; absorbed++) {
        latent_trial_run(&run, absorbed, NULL);
        for (size_t i = 0; i < 12; i++)
            ck_assert_double_eq_tol(run.output[i], wanted[i], 5e-9);
    }
    latent_trial_end(&run);
}
END_TEST

Suite *latent_suite(void);
Suite *latent_suite(void)
{
    Suite *suite = suite_create("latent");
    TCase *tests = tcase_create("latent");
    tcase_add_checked_fixture(tests, start_blas, NULL);
    tcase_add_test(tests, the_published_vector);
    tcase_add_test(tests, both_forms_are_the_formulas);
    tcase_add_test(tests, large_heads_agree_in_both_forms);
    tcase_add_test(tests, a_past_continues);
    suite_add_tcase(suite, tests);
    return suite;
}
