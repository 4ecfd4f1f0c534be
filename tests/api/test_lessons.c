/* The worked examples that the service offers: each runs, in JSON and in text, and shows what it says. */
#include "tests/api/exchange.h"

#include "api/openapi/examples.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS 5.0e-5

static json_t *run(const char *name)
{
    const struct example *example = examples_find(name);
    ck_assert_msg(example, "no example %s", name);
    return exchange_reply(examples_body(example));
}

static size_t count(void)
{
    size_t count = 0;
    while (examples_at(count))
        count++;
    return count;
}

static bool is_sentence(const char *text)
{
    size_t length = strlen(text);
    return length > 20 && text[length - 1] == '.' && !strstr(text, "  ");
}

START_TEST(each_runs_and_is_described)
{
    for (size_t x = 0; x < count(); x++) {
        const struct example *e = examples_at(x);
        ck_assert_ptr_eq(examples_find(e->name), e);
        ck_assert_uint_eq(strspn(e->name, "abcdefghijklmnopqrstuvwxyz0123456789-"), strlen(e->name));
        ck_assert_msg(is_sentence(e->teaches) && is_sentence(e->look), "%s", e->name);
        json_t *reply = exchange_reply(examples_body(e));
        json_decref(reply);
        struct exchange text = exchange_run(examples_body(e), (struct exchange_how){.format = JOB_TEXT});
        ck_assert_msg(text.good, "%s: %s", e->name, text.err.faults[0].text);
        exchange_end(&text);
    }
    ck_assert_uint_ge(count(), 17);
    ck_assert_ptr_null(examples_find("the-dog"));
    ck_assert_ptr_null(examples_find(""));
}
END_TEST

START_TEST(the_list_names_them_all)
{
    struct buffer text = buffer_new(SIZE_MAX);
    ck_assert(examples_list(&text));
    json_t *list = json_loadb(text.data, text.length, JSON_REJECT_DUPLICATES, NULL);
    ck_assert_ptr_nonnull(list);
    ck_assert_uint_eq(json_array_size(exchange_at(list, "examples")), count());
    ck_assert_str_eq(json_string_value(exchange_at(list, "examples.0.name")), "the-cat");
    ck_assert_str_eq(json_string_value(exchange_at(list, "examples.0.href")), "/v1/examples/the-cat");
    ck_assert_str_eq(json_string_value(exchange_at(list, "examples.0.title")), examples_at(0)->title);
    json_decref(list);
    buffer_free(&text);
}
END_TEST

/* The numbers that the sentences name, and the shapes. */
static const struct {
    const char *name, *path, *value;
} shown[] = {
    {"the-cat", "weights.1", "[0.2799,0.7201]"},
    {"the-cat", "weights.0", "[1,0]"},
    {"one-query", "weights.0", "[0.4011,0.1978,0.4011]"},
    {"one-query-hidden", "weights.0", "[0.6698,0.3302,0]"},
    {"mask-after-softmax", "weights.0", "[0.4011,0.1978,0]"},
    {"mask-after-softmax", "stats.weight_sum", "[0.5989]"},
    {"no-scale", "steps.scores.0", "[16,12,8,4]"},
    {"no-scale", "weights.0", "[0.9817,0.0180,0.0003,0]"},
    {"causal", "steps.masked.0", "[0.2887,null,null,null]"},
    {"causal", "mask.allowed",
     "[[true,false,false,false],[true,true,false,false],[true,true,true,false],[true,true,true,true]]"},
    {"cross-attention", "labels.query", "[\"le\",\"chat\",\"dort\"]"},
    {"multi-head", "weights.0", "[[0.9858,0.0142],[0.0142,0.9858]]"},
    {"multi-head", "weights.1", "[[0.0142,0.9858],[0.9858,0.0142]]"},
    {"grouped-query", "shape.kv_heads", "2"},
    {"multi-query", "shape.kv_heads", "1"},
    {"multi-query", "cost.request.cache_bytes_per_token.float32", "16"},
    {"multi-query", "cost.multi_head.cache_bytes_per_token.float32", "64"},
    {"window", "weights", "[[1,0,0,0,0],[0.5,0.5,0,0,0],[0,0.5,0.5,0,0],[0,0,0.5,0.5,0],[0,0,0,0.5,0.5]]"},
    {"alibi", "steps.biased.0.3", "[-3,-2,-1,0]"},
    {"alibi", "steps.biased.1.3", "[-0.75,-0.5,-0.25,0]"},
    {"sink", "stats.weight_sum.1", "0.1192"},
    {"past", "output.0", "[0.7242,-0.328,-0.116,-0.1242]"},
    {"past", "present.k", "[[-0.4,-0.3,0.2,1.2],[1.6,-0.7,-0.4,-0.5]]"},
    {"linear", "weights", "[[0.7071,0,0.7071],[0,1.4142,-1.4142]]"},
    {"empty-row", "weights.0", "[0,0]"},
    {"empty-row", "log_sum_exp.0", "null"},
    {"projections", "shape", "{\"batch\":1,\"heads\":2,\"kv_heads\":2,\"queries\":3,\"keys\":3,\"d_k\":2,\"d_v\":2}"},
    {"readout", "readout.0.token", "\"sat\""},
    {"cache-multi-head", "cost.request.numbers_per_token", "16"},
    {"cache-multi-head", "cost.request.sequences_that_fit", "238"},
    {"cache-grouped", "cost.request.numbers_per_token", "8"},
    {"cache-grouped", "cost.request.sequences_that_fit", "476"},
    {"cache-multi-query", "cost.request.numbers_per_token", "4"},
    {"cache-multi-query", "cost.request.sequences_that_fit", "953"},
    {"cache-latent", "cost.request.numbers_per_token", "5"},
    {"cache-latent", "cost.request.sequences_that_fit", "762"},
    {"cache-latent", "cost.request.latent_width", "3"},
    {"cache-eight-bits", "error.weights.max", "0.0029"},
    {"cache-eight-bits", "quantization.k.bits_per_number", "12"},
    {"cache-four-bits", "error.weights.max", "0.0307"},
    {"cache-four-bits", "error.weights.argmax_changed", "1"},
    {"cache-three-bits", "error.weights.max", "0.0622"},
    {"cache-three-bits", "error.output.max", "0.1870"},
    {"cache-two-bits", "error.weights.max", "0.1193"},
    {"cache-turboquant", "error.scores.rms", "0.5031"},
    {"cache-turboquant", "error.weights.max", "0.2051"},
    {"cache-sketch", "error.scores.rms", "1.1622"},
    {"cache-sketch", "error.weights.max", "0.4857"},
    {"keys-by-channel", "error.scores.max", "0.3457"},
    {"keys-by-token", "error.scores.max", "1.3200"},
    {"the-cat-bfloat", "weights.1", "[0.2793,0.7188]"},
    {"the-cat-float-eight", "weights.1", "[0.28125,0.75]"},
    {"the-cat-float-eight", "exact.weights.1", "[0.2799,0.7201]"},
    {"edge-of-float16", "steps.scores.1", "[255,65280]"},
    {"edge-of-float16", "error.scores.max", "15"},
    {"readout", "readout.0.probability", "0.55"},
    {"hidden-gradient", "gradients.masked.0", "[0,0]"},
    {"hidden-gradient", "gradients.k.1", "[0,0,0,0]"},
    {"hidden-gradient", "gradients.v.1", "[0,0,0,0]"},
    {"wrong-mask-gradient", "weights.0.1", "0"},
    {"wrong-mask-gradient", "gradients.masked.0", "[-0.1247,0.1247]"},
    {"collapsed", "gradients.masked.0", "[0,0,0,0]"},
    {"tiles", "steps.rescale.0", "[0,1]"},
};

/* Fifty requests, each with what the last reply updated. */
START_TEST(one_head_learns_to_copy)
{
    static const char *const names[] = {"embedding", "w_q", "w_k", "w_v"};
    json_t *request = json_loads(examples_body(examples_find("copy-head")), 0, NULL);
    double first = 0, last = 0;
    ck_assert_ptr_nonnull(request);
    for (int step = 0; step < 50; step++) {
        char *body = json_dumps(request, JSON_REAL_PRECISION(17));
        json_t *reply = exchange_reply(body);
        last = json_number_value(exchange_at(reply, "loss"));
        first = step == 0 ? last : first;
        json_t *updated = json_object_get(reply, "updated");
        for (size_t x = 0; x < 4; x++)
            json_object_set(request, names[x], json_object_get(updated, names[x]));
        json_object_set(json_object_get(request, "readout"), "w", json_object_get(updated, "readout_w"));
        json_decref(reply);
        free(body);
    }
    ck_assert_double_gt(first, 1);
    ck_assert_double_lt(last, 0.2 * first);
    json_decref(request);
}
END_TEST

START_TEST(what_the_sentences_say_is_shown)
{
    json_t *reply = run(shown[_i].name);
    exchange_near(reply, shown[_i].path, shown[_i].value, DIGITS);
    json_decref(reply);
}
END_TEST

START_TEST(the_past_gives_the_cat_to_the_last_digit)
{
    json_t *whole = run("the-cat");
    json_t *step = run("past");
    ck_assert(json_equal(exchange_at(whole, "output.1"), exchange_at(step, "output.0")));
    json_decref(whole);
    json_decref(step);
}
END_TEST

START_TEST(the_scale_prevents_the_collapse)
{
    char body[2000];
    const char *given = examples_body(examples_find("no-scale"));
    const char *scale = strstr(given, "\"scale\": 1,");
    ck_assert_ptr_nonnull(scale);
    snprintf(body, sizeof body, "%.*s%s", (int)(scale - given), given, scale + strlen("\"scale\": 1,"));
    json_t *reply = exchange_reply(body);
    exchange_near(reply, "weights.0.0", "0.6439", DIGITS);
    json_decref(reply);
}
END_TEST

START_TEST(one_more_is_past_the_end_of_float16)
{
    char body[2000];
    const char *given = examples_body(examples_find("edge-of-float16"));
    const char *last = strstr(given, "256");
    ck_assert_ptr_nonnull(last);
    snprintf(body, sizeof body, "%.*s257%s", (int)(last - given), given, last + strlen("256"));
    exchange_refused(body, ERROR_INVALID, "", "overflows float16 in query 1");
}
END_TEST

/* q_i . k_j after rotation depends on i - j alone. */
START_TEST(rotary_scores_are_equal_along_diagonals)
{
    json_t *reply = run("rotary");
    char a[60];
    char b[60];
    for (size_t i = 1; i < 4; i++)
        for (size_t j = 1; j < 4; j++) {
            snprintf(a, sizeof a, "steps.scores.%zu.%zu", i, j);
            snprintf(b, sizeof b, "steps.scores.%zu.%zu", i - 1, j - 1);
            ck_assert_double_eq_tol(json_number_value(exchange_at(reply, a)), json_number_value(exchange_at(reply, b)),
                                    1e-15);
        }
    ck_assert(json_number_value(exchange_at(reply, "steps.scores.0.3")) < 1);
    json_decref(reply);
}
END_TEST

START_TEST(permuted_rows_give_permuted_rows)
{
    json_t *reply = run("permutation");
    static const char *const order[] = {"output.0.0.2", "output.0.0.0", "output.0.0.1"};
    char path[60];
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "output.1.0.%zu", i);
        char *expected = json_dumps(exchange_at(reply, order[i]), JSON_REAL_PRECISION(17));
        exchange_near(reply, path, expected, 1e-14);
        free(expected);
    }
    json_decref(reply);
}
END_TEST

START_TEST(alibi_falls_off_by_its_slope)
{
    json_t *reply = run("alibi");
    double near = json_number_value(exchange_at(reply, "weights.0.3.3"));
    double next = json_number_value(exchange_at(reply, "weights.0.3.2"));
    ck_assert_double_eq_tol(next / near, exp(-1), 1e-14);
    near = json_number_value(exchange_at(reply, "weights.1.3.3"));
    next = json_number_value(exchange_at(reply, "weights.1.3.2"));
    ck_assert_double_eq_tol(next / near, exp(-0.25), 1e-14);
    json_decref(reply);
}
END_TEST

/* Whoever reads rows and columns reads words. */
START_TEST(every_example_has_tokens)
{
    for (size_t x = 0; examples_at(x); x++) {
        json_t *body = json_loads(examples_body(examples_at(x)), 0, NULL);
        ck_assert_msg(json_object_get(body, "tokens") != NULL, "%s", examples_at(x)->name);
        json_decref(body);
    }
}
END_TEST

Suite *lessons_suite(void);

Suite *lessons_suite(void)
{
    Suite *suite = suite_create("examples of the service");
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, every_example_has_tokens);
    tcase_add_test(tests, one_head_learns_to_copy);
    tcase_add_test(tests, each_runs_and_is_described);
    tcase_add_test(tests, the_list_names_them_all);
    tcase_add_loop_test(tests, what_the_sentences_say_is_shown, 0, (int)(sizeof shown / sizeof *shown));
    tcase_add_test(tests, the_past_gives_the_cat_to_the_last_digit);
    tcase_add_test(tests, the_scale_prevents_the_collapse);
    tcase_add_test(tests, one_more_is_past_the_end_of_float16);
    tcase_add_test(tests, rotary_scores_are_equal_along_diagonals);
    tcase_add_test(tests, permuted_rows_give_permuted_rows);
    tcase_add_test(tests, alibi_falls_off_by_its_slope);
    suite_add_tcase(suite, tests);
    return suite;
}
