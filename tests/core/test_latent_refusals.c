/* Latent attention whose parts do not fit, and where that is said. */
#include "tests/core/latent_trial.h"

#include <check.h>
#include <string.h>

typedef void spoil(struct latent_trial *run, struct draw *draw);

static void give_q(struct latent_trial *run, struct draw *draw)
{
    run->request.q = latent_trial_matrix(run, draw, 2, 2);
}

static void give_w_k(struct latent_trial *run, struct draw *draw)
{
    run->request.w_k = latent_trial_matrix(run, draw, 2, 2);
}

static void give_b_q(struct latent_trial *run, struct draw *draw)
{
    run->request.b_q = latent_trial_tensor(run, draw, 1, (const size_t[]){2});
}

static void give_kv_heads(struct latent_trial *run, struct draw *draw)
{
    (void)draw;
    run->request.kv_heads = 1;
}

static void give_both_projections(struct latent_trial *run, struct draw *draw)
{
    run->request.latent.w_dq = latent_trial_matrix(run, draw, 4, 3);
}

static void leave_out_w_uq(struct latent_trial *run, struct draw *draw)
{
    run->request.latent.w_q = (struct tensor){0};
    run->request.latent.w_dq = latent_trial_matrix(run, draw, 4, 3);
}

static void give_a_gain(struct latent_trial *run, struct draw *draw)
{
    run->request.latent.gain_kv = latent_trial_tensor(run, draw, 1, (const size_t[]){3});
}

static void give_an_odd_width(struct latent_trial *run, struct draw *draw)
{
    run->request.latent.w_kr = latent_trial_matrix(run, draw, 4, 3);
}

static void break_the_chain(struct latent_trial *run, struct draw *draw)
{
    run->request.latent.w_uv = latent_trial_matrix(run, draw, 5, 4);
}

static void narrow_the_queries(struct latent_trial *run, struct draw *draw)
{
    run->request.latent.w_q = latent_trial_matrix(run, draw, 4, 7);
}

static void give_another_past(struct latent_trial *run, struct draw *draw)
{
    run->request.past_k = latent_trial_matrix(run, draw, 1, 2);
}

static void give_a_wide_past(struct latent_trial *run, struct draw *draw)
{
    run->request.past_latent = latent_trial_rows(run, draw, 2, 4);
    run->request.past_rope_key = latent_trial_rows(run, draw, 2, 2);
}

static void give_dims(struct latent_trial *run, struct draw *draw)
{
    (void)draw;
    run->request.rope = (struct rope_request){.on = true, .theta = 10000, .dims = 2};
}

START_TEST(what_does_not_fit_is_refused)
{
    static const struct {
        spoil *spoil;
        const char *name, *words;
    } cases[] = {
        {give_q, "q", "latent projects x"},
        {give_w_k, "w_k", "w_k and latent do not go together"},
        {give_b_q, "b_q", "have no bias"},
        {give_kv_heads, "kv_heads", "share one latent vector"},
        {give_both_projections, "latent.w_q", "one or the other"},
        {leave_out_w_uq, "latent.w_uq", "w_dq needs w_uq"},
        {give_a_gain, "latent.gain_kv", "without norm"},
        {give_an_odd_width, "latent.w_kr", "3 columns, which is odd"},
        {break_the_chain, "latent.w_uv", "has 3 and latent.w_uv has 5"},
        {narrow_the_queries, "latent.w_q", "7 columns; 2 heads of 2 features without and 2 with a position need 8"},
        {give_another_past, "past.k", "past of another form"},
        {give_a_wide_past, "past.latent", "this past of latent is [b=1][p][3]"},
        {give_dims, "rope.dims", "leave dims out"},
    };
    for (size_t x = 0; x < sizeof cases / sizeof *cases; x++) {
        struct draw draw = {x};
        struct error err = {0};
        struct latent_trial run;
        latent_trial_start(&run, (struct latent_sizes){1, 2, 3, 3, 0, 4, 3, 0, 2, 2, 2}, &draw);
        cases[x].spoil(&run, &draw);
        ck_assert(!latent_trial_try(&run, NULL, &err));
        ck_assert_int_eq(err.code, ERROR_INVALID);
        ck_assert_str_eq(err.faults[0].name, cases[x].name);
        ck_assert_msg(strstr(err.faults[0].text, cases[x].words) != NULL, "%s", err.faults[0].text);
        latent_trial_end(&run);
    }
}
END_TEST

Suite *latent_refusals_suite(void);
Suite *latent_refusals_suite(void)
{
    Suite *suite = suite_create("latent refusals");
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, what_does_not_fit_is_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
