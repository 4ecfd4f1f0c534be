/* Requests with backward: gradients, loss, step, and what is refused. */
#include "tests/api/exchange.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define CAT \
    "\"q\":[[0.3,-0.2,0.5,0.1],[1.1,-0.8,0.2,0.3]],\"k\":[[-0.4,-0.3,0.2,1.2],[1.6,-0.7,-0.4,-0.5]]," \
    "\"v\":[[-0.5,-0.4,0.1,1.1],[1.2,-0.3,-0.2,-0.6]],\"mask\":\"causal\""
#define ONE "\"q\":[[1,0]],\"k\":[[1,0],[0,1],[1,0]],\"v\":[[2,0],[0,2],[1,1]]"
#define WORDS "\"readout\":{\"w\":[[1,0],[0,1]],\"tokens\":[\"yes\",\"no\"]}"
#define HEAD \
    "\"x\":[[1,0],[0,1]],\"w_q\":[[1,0],[0,1]],\"w_k\":[[1,0],[0,1]],\"w_v\":[[1,2],[3,4]],\"w_o\":[[1,0],[1,1]]"

START_TEST(a_cell_of_the_cat)
{
    json_t *reply = exchange_reply("{" CAT ",\"backward\":{\"cell\":{\"query\":1,\"feature\":0}}}");
    exchange_near(reply, "gradients.row_dot", "[0,0.7241845]", 6e-9);
    exchange_near(reply, "gradients.masked", "[[0,0],[-0.3426388,0.3426388]]", 6e-9);
    exchange_near(reply, "gradients.scores", "[[0,0],[-0.1713194,0.1713194]]", 6e-9);
    exchange_near(reply, "gradients.scale", "0.64758734", 6e-9);
    exchange_near(reply, "gradients.inputs.q", "[[0,0,0,0],[0.3426388,-0.06852776,-0.10279164,-0.29124298]]", 6e-9);
    exchange_near(reply, "gradients.v", "[[0.27989147,0,0,0],[0.72010853,0,0,0]]", 6e-9);
    exchange_near(reply, "gradients.output", "[[0,0,0,0],[1,0,0,0]]", 0);
    exchange_near(reply, "axes.gradients.inputs.k", "[\"key\",\"feature\"]", 0);
    exchange_near(reply, "axes.gradients.row_dot", "[\"query\"]", 0);
    exchange_near(reply, "axes.gradients.scale", "[]", 0);
    ck_assert_ptr_nonnull(exchange_at(reply, "output"));
    ck_assert_ptr_null(json_object_get(json_object_get(reply, "gradients"), "jacobian"));
    json_decref(reply);
}
END_TEST

/* d output of a request with an upstream gradient is that gradient, whoever chose it. */
START_TEST(an_upstream_gradient)
{
    json_t *cell = exchange_reply("{" ONE ",\"backward\":{\"cell\":{\"query\":0,\"feature\":0}}}");
    json_t *given = exchange_reply("{" ONE ",\"backward\":{\"output\":[[1,0]]}}");
    ck_assert(json_equal(json_object_get(cell, "gradients"), json_object_get(given, "gradients")));
    json_decref(cell);
    json_decref(given);
}
END_TEST

/* L = -ln p(no) with p = softmax(output . w). */
START_TEST(a_target_has_a_loss)
{
    json_t *reply = exchange_reply("{" ONE "," WORDS ",\"backward\":{\"target\":\"no\"}}");
    double yes = json_number_value(exchange_at(reply, "output.0.0"));
    double no = json_number_value(exchange_at(reply, "output.0.1"));
    double loss = log(1 + exp(yes - no));
    ck_assert_double_eq_tol(json_number_value(exchange_at(reply, "loss")), loss, 1e-15);
    ck_assert_double_eq_tol(json_number_value(exchange_at(reply, "row_loss.0")), loss, 1e-15);
    ck_assert_double_eq_tol(json_number_value(exchange_at(reply, "gradients.output.0.1")), exp(-loss) - 1, 1e-15);
    ck_assert_double_eq_tol(json_number_value(exchange_at(reply, "gradients.readout_w.0.0")), yes * (1 - exp(-loss)),
                            1e-15);
    json_decref(reply);
}
END_TEST

START_TEST(rows_without_a_target_do_not_count)
{
    json_t *reply =
        exchange_reply("{" HEAD ",\"readout\":{\"w\":[[1,0],[0,1]],\"tokens\":[\"yes\",\"no\"],\"rows\":\"all\"},"
                       "\"backward\":{\"target\":[null,\"yes\"]},\"include\":[\"gradients.output\"]}");
    ck_assert(json_is_null(exchange_at(reply, "row_loss.0")));
    ck_assert(json_equal(exchange_at(reply, "row_loss.1"), exchange_at(reply, "loss")));
    exchange_near(reply, "gradients.output.0", "[0,0]", 0);
    json_decref(reply);
}
END_TEST

/* value - rate * gradient, spelled as the request spells it; the output's bits do not change. */
START_TEST(a_step_updates)
{
    json_t *plain = exchange_reply("{" HEAD ",\"include\":[\"output\"]}");
    json_t *reply = exchange_reply("{" HEAD ",\"backward\":{\"cell\":{\"query\":0,\"feature\":1}},"
                                   "\"step\":{\"rate\":0.5}}");
    ck_assert(json_equal(exchange_at(plain, "output"), exchange_at(reply, "output")));
    double slope = json_number_value(exchange_at(reply, "gradients.w_v.1.0"));
    ck_assert_double_eq(json_number_value(exchange_at(reply, "updated.w_v.1.0")), 3 - 0.5 * slope);
    static const char *const names[] = {"w_q", "w_k", "w_v", "w_o"};
    for (size_t x = 0; x < 4; x++)
        ck_assert_ptr_nonnull(json_object_get(json_object_get(reply, "updated"), names[x]));
    ck_assert_uint_eq(json_object_size(json_object_get(reply, "updated")), 4);
    json_decref(plain);
    json_decref(reply);
}
END_TEST

/* Streamed block by block or in one piece: the same text. */
START_TEST(streams_are_the_whole)
{
    static const char body[] = "{" CAT ",\"sinks\":[0.5],\"softcap\":2,\"backward\":{\"output\":[[1,2,3,4],[5,6,7,8]]},"
                               "\"include\":[\"output\",\"gradients\",\"gradients.jacobian\",\"gradients.products\"]}";
    struct exchange whole = exchange_run(body, (struct exchange_how){0});
    struct exchange parts = exchange_run(body, (struct exchange_how){.limits.whole_elements = 1});
    ck_assert(whole.good && parts.good);
    ck_assert_uint_gt(parts.blocks, 10);
    size_t same = 0;
    while (same < whole.text.length && whole.text.data[same] == parts.text.data[same])
        same++;
    ck_assert_msg(same == whole.text.length && same == parts.text.length, "they part at %.60s / %.60s",
                  whole.text.data + same - 20, parts.text.data + same - 20);
    exchange_end(&whole);
    exchange_end(&parts);
}
END_TEST

START_TEST(ids_choose_rows_of_an_embedding)
{
    static const char weights[] = "\"w_q\":[[1],[0]],\"w_k\":[[0],[1]],\"w_v\":[[1],[1]]";
    char body[400];
    snprintf(body, sizeof body, "{\"ids\":[1,0,1],\"embedding\":[[1,2],[3,4]],%s,\"include\":[\"output\"]}", weights);
    json_t *ids = exchange_reply(body);
    snprintf(body, sizeof body, "{\"x\":[[3,4],[1,2],[3,4]],%s,\"include\":[\"output\"]}", weights);
    json_t *x = exchange_reply(body);
    ck_assert(json_equal(exchange_at(ids, "output"), exchange_at(x, "output")));
    snprintf(body, sizeof body,
             "{\"ids\":[1,0,1],\"embedding\":[[1,2],[3,4]],%s,\"backward\":{\"cell\":{\"query\":0,\"feature\":0}}}",
             weights);
    json_t *by_embedding = exchange_reply(body);
    snprintf(body, sizeof body, "{\"x\":[[3,4],[1,2],[3,4]],%s,\"backward\":{\"cell\":{\"query\":0,\"feature\":0}}}",
             weights);
    json_t *by_x = exchange_reply(body);
    double sum = json_number_value(exchange_at(by_x, "gradients.x.0.1")) +
                 json_number_value(exchange_at(by_x, "gradients.x.2.1"));
    ck_assert_double_eq(json_number_value(exchange_at(by_embedding, "gradients.embedding.1.1")), sum);
    ck_assert_ptr_null(json_object_get(json_object_get(by_embedding, "gradients"), "x"));
    json_decref(ids);
    json_decref(x);
    json_decref(by_embedding);
    json_decref(by_x);
}
END_TEST

/* PE(p, 2t) = sin(p 10000^(-2t/D)), PE(p, 2t + 1) = cos: a value projection of 1 shows them. */
START_TEST(positions_are_waves)
{
    json_t *reply = exchange_reply("{\"x\":[[0,0],[0,0]],\"w_q\":[[0],[0]],\"w_k\":[[0],[0]],\"w_v\":[[1,0],[0,1]],"
                                   "\"positions\":\"sinusoidal\",\"include\":[\"inputs\"]}");
    char expected[80];
    snprintf(expected, sizeof expected, "[[0,1],[%.17g,%.17g]]", sin(1), cos(1));
    exchange_near(reply, "inputs.v", expected, 1e-15);
    json_decref(reply);
}
END_TEST

START_TEST(the_counterexample_hides_with_zero)
{
    json_t *reply = exchange_reply("{" CAT ",\"variant\":\"mask_with_zero\"}");
    exchange_near(reply, "weights.0", "[0.51998934,0.48001066]", 6e-9);
    json_decref(reply);
}
END_TEST

static void check_text(const char *body, enum job_kind kind, const char *part)
{
    struct exchange e = exchange_run(body, (struct exchange_how){.kind = kind, .format = JOB_TEXT});
    ck_assert_msg(e.good, "%s", e.err.faults[0].text);
    buffer_append(&e.text, "", 1);
    ck_assert_msg(strstr(e.text.data, part) != NULL, "\"%s\" is not in\n%s", part, e.text.data);
    exchange_end(&e);
}

/* As a lesson writes it: 0.280 * (-0.500 - 0.724) = -0.343. */
START_TEST(the_way_back_is_told)
{
    check_text("{" CAT ",\"backward\":{\"cell\":{\"query\":1,\"feature\":0}}}", JOB_ATTENTION,
               "d masked = weights * (d weights - row_dot)\n");
    check_text("{" CAT ",\"backward\":{\"cell\":{\"query\":1,\"feature\":0}},\"cell\":{\"query\":1,\"key\":0}}",
               JOB_EXPLAIN, "d masked      = 0.280 * (-0.500 - 0.724) = -0.343\n");
    check_text("{" CAT ",\"variant\":\"mask_after_softmax\",\"backward\":{\"cell\":{\"query\":1,\"feature\":0}}}",
               JOB_ATTENTION, "that is why zeroing weights after the softmax is wrong");
    json_t *reply;
    struct exchange e =
        exchange_run("{" CAT ",\"backward\":{\"cell\":{\"query\":1,\"feature\":0}},\"cell\":{\"query\":1,\"key\":0}}",
                     (struct exchange_how){.kind = JOB_EXPLAIN});
    reply = e.reply;
    exchange_near(reply, "gradient.d_masked", "-0.3426388", 6e-9);
    exchange_near(reply, "gradient.d_q", "[0.06852776,0.05139582,-0.03426388,-0.20558328]", 6e-9);
    exchange_end(&e);
}
END_TEST

static const struct {
    const char *members, *name, *part;
} refusals[] = {
    {ONE ",\"backward\":{}", "backward", "none"},
    {ONE ",\"backward\":{\"output\":[[1,0]],\"cell\":{\"query\":0,\"feature\":0}}", "backward", "two"},
    {ONE ",\"backward\":{\"output\":[[1]]}", "backward.output", "it needs that of output, [1][2]"},
    {ONE ",\"backward\":{\"cell\":{\"query\":1,\"feature\":0}}", "backward.cell.query", "output has 1"},
    {ONE ",\"backward\":{\"cell\":{\"query\":0,\"feature\":2}}", "backward.cell.feature", "output has 2"},
    {ONE ",\"backward\":{\"cell\":{\"query\":0,\"feature\":0,\"head\":0}}", "backward.cell.head", "no axis of heads"},
    {ONE ",\"backward\":{\"cell\":{\"query\":0,\"feature\":0,\"batch\":0}}", "backward.cell.batch", "no axis batch"},
    {ONE ",\"backward\":{\"target\":\"no\"}", "backward.target", "give readout"},
    {ONE "," WORDS ",\"backward\":{\"target\":\"maybe\"}", "backward.target", "no word"},
    {ONE "," WORDS ",\"backward\":{\"target\":[\"no\"]}", "backward.target", "it is one word"},
    {ONE ",\"readout\":{\"w\":[[1],[0]],\"tokens\":[\"a\"],\"rows\":\"all\"},\"backward\":{\"target\":[\"b\"]}",
     "backward.target.0", "no word"},
    {ONE ",\"readout\":{\"w\":[[1],[0]],\"tokens\":[\"a\"],\"rows\":\"all\"},\"backward\":{\"target\":[null,null]}",
     "backward.target", "null: this row does not count"},
    {ONE ",\"readout\":{\"w\":[[1],[0]],\"tokens\":[\"a\"],\"top_k\":1},\"backward\":{\"target\":\"a\"}",
     "readout.top_k", "every word"},
    {ONE ",\"readout\":{\"w\":[[1],[0]],\"tokens\":[\"a\"],\"top_k\":2}", "readout.top_k", "has 1 word."},
    {ONE ",\"readout\":{\"w\":[[1],[0]],\"tokens\":[\"a\"],\"top_p\":0}", "readout.top_p", "greater than 0"},
    {"\"q\":[[[1,0]]],\"k\":[[[1,0]]],\"v\":[[[1,0]]]," WORDS ",\"backward\":{\"target\":\"no\"}", "backward.target",
     "axis of heads"},
    {ONE ",\"include\":[\"output\",\"gradients\"]", "include.1", "backward would bring it"},
    {ONE ",\"include\":[\"gradients.q\"]", "include.0", "backward would bring it"},
    {ONE ",\"backward\":{\"output\":[[1,0]]},\"include\":[\"gradients.sinks\"]", "include.0", "sinks would bring it"},
    {ONE ",\"backward\":{\"output\":[[1,0]]},\"include\":[\"gradients.w_q\"]", "include.0", "would bring it"},
    {ONE ",\"backward\":{\"output\":[[1,0]]},\"include\":[\"gradients.exp\"]", "include.0", "no name of a result"},
    {ONE ",\"variant\":\"linear\",\"backward\":{\"output\":[[1,0]]},\"include\":[\"gradients.masked\"]", "include.0",
     "no softmax"},
    {ONE ",\"step\":{\"rate\":1}", "step", "backward would bring"},
    {ONE ",\"dtype\":\"float32\",\"backward\":{\"output\":[[3e38,3e38]]}", "backward", "overflows float32"},
    {ONE ",\"quantize\":{\"k\":{\"method\":\"affine\",\"bits\":8}},\"backward\":{\"output\":[[1,0]]}", "backward",
     "quantize"},
    {"\"ids\":[0]", "ids", "embedding, which is missing"},
    {"\"ids\":[2],\"embedding\":[[1],[2]],\"w_q\":[[1]],\"w_k\":[[1]],\"w_v\":[[1]]", "ids.0", "has 2"},
    {"\"ids\":[0],\"x\":[[1]],\"embedding\":[[1],[2]],\"w_q\":[[1]],\"w_k\":[[1]],\"w_v\":[[1]]", "ids",
     "give one of them"},
    {ONE ",\"embedding\":[[1]]", "embedding", "means nothing without ids"},
    {ONE ",\"positions\":\"sinusoidal\"", "positions", "added to x"},
};

START_TEST(what_does_not_fit_is_refused)
{
    char body[600];
    snprintf(body, sizeof body, "{%s}", refusals[_i].members);
    exchange_refused(body, ERROR_INVALID, refusals[_i].name, refusals[_i].part);
}
END_TEST

Suite *way_back_suite(void);

Suite *way_back_suite(void)
{
    Suite *suite = suite_create("way back");
    TCase *tests = tcase_create("requests");
    tcase_add_test(tests, a_cell_of_the_cat);
    tcase_add_test(tests, an_upstream_gradient);
    tcase_add_test(tests, a_target_has_a_loss);
    tcase_add_test(tests, rows_without_a_target_do_not_count);
    tcase_add_test(tests, a_step_updates);
    tcase_add_test(tests, streams_are_the_whole);
    tcase_add_test(tests, ids_choose_rows_of_an_embedding);
    tcase_add_test(tests, positions_are_waves);
    tcase_add_test(tests, the_counterexample_hides_with_zero);
    tcase_add_test(tests, the_way_back_is_told);
    tcase_add_loop_test(tests, what_does_not_fit_is_refused, 0, sizeof refusals / sizeof *refusals);
    suite_add_tcase(suite, tests);
    return suite;
}
