/* What lessons need beside the steps: saturation, tiles, unshifted exponentials, contributions by their length, rows of
 * a readout and what it leaves out. */
#include "tests/api/exchange.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define CAT \
    "\"q\":[[0.3,-0.2,0.5,0.1],[1.1,-0.8,0.2,0.3]],\"k\":[[-0.4,-0.3,0.2,1.2],[1.6,-0.7,-0.4,-0.5]]," \
    "\"v\":[[-0.5,-0.4,0.1,1.1],[1.2,-0.3,-0.2,-0.6]],\"mask\":\"causal\""
#define ONE "\"q\":[[1,0]],\"k\":[[1,0],[0,1],[1,0]],\"v\":[[2,0],[0,2],[1,1]]"

/* By an implementation of its own: the example no-scale, d 16. */
START_TEST(saturation_by_scale)
{
    static const struct {
        double scale;
        const char *trace, *norm;
        double tolerance;
    } rows[] = {{0.25, "[0.52063907]", "[0.38367576]", 6e-9},
                {1, "[0.0359722]", "[0.03547495]", 6e-9},
                {4, "[2.3e-7]", "[2.3e-7]", 5e-9}};
    char body[900];
    snprintf(body, sizeof body,
             "{\"q\":[[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]],\"k\":[[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1],"
             "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,-1,-1],[1,1,1,1,1,1,1,1,1,1,1,1,-1,-1,-1,-1],"
             "[1,1,1,1,1,1,1,1,1,1,-1,-1,-1,-1,-1,-1]],\"v\":[[1],[2],[3],[4]],\"scale\":%g,\"include\":[\"stats\"]}",
             rows[_i].scale);
    json_t *reply = exchange_reply(body);
    exchange_near(reply, "stats.jacobian_trace", rows[_i].trace, rows[_i].tolerance);
    exchange_near(reply, "stats.jacobian_norm", rows[_i].norm, rows[_i].tolerance);
    json_decref(reply);
}
END_TEST

/* One key holds all but e^-60: 1 - w is what the others hold, not the 0 that a difference gives. */
START_TEST(saturation_keeps_its_digits)
{
    json_t *reply =
        exchange_reply("{\"q\":[[60]],\"k\":[[1],[0]],\"v\":[[1],[2]],\"scale\":1,\"include\":[\"stats\"]}");
    double trace = json_number_value(exchange_at(reply, "stats.jacobian_trace.0"));
    double norm = json_number_value(exchange_at(reply, "stats.jacobian_norm.0"));
    ck_assert_double_eq_tol(trace / (2 * exp(-60)), 1, 1e-9);
    ck_assert_double_eq_tol(norm / (2 * exp(-60)), 1, 1e-9);
    json_decref(reply);
}
END_TEST

START_TEST(moments_of_an_empty_row_are_null)
{
    json_t *reply = exchange_reply("{" ONE ",\"mask\":{\"key_lengths\":[0],\"empty_rows\":\"zero\"},"
                                   "\"include\":[\"stats\"]}");
    ck_assert(json_is_null(exchange_at(reply, "stats.score_mean.0")));
    ck_assert(json_is_null(exchange_at(reply, "stats.score_variance.0")));
    exchange_near(reply, "stats.effective_keys", "[0]", 0);
    exchange_near(reply, "stats.jacobian_norm", "[0]", 0);
    json_decref(reply);
}
END_TEST

START_TEST(tiles_of_one_query)
{
    json_t *reply = exchange_reply("{" ONE ",\"tiles\":{\"keys\":1}}");
    exchange_near(reply, "steps.running_sum", "[[1,1.49306869,2.49306869]]", 6e-9);
    exchange_near(reply, "steps.accumulator", "[[[2,0],[2,0.98613738],[3,1.98613738]]]", 6e-9);
    exchange_near(reply, "steps.rescale", "[[0,1,1]]", 0);
    exchange_near(reply, "axes.steps.accumulator", "[\"query\",\"tile\",\"feature\"]", 0);
    ck_assert_ptr_nonnull(exchange_at(reply, "output"));
    json_decref(reply);
}
END_TEST

START_TEST(tiles_of_the_cat)
{
    json_t *reply = exchange_reply("{" CAT ",\"tiles\":{\"keys\":1},\"include\":[\"steps\"]}");
    exchange_near(reply, "steps.tile_max.1", "[0.1,1.045]", 1e-15);
    exchange_near(reply, "steps.rescale.1", "[0,0.38867957]", 6e-9);
    exchange_near(reply, "steps.running_sum.1", "[1,1.38867957]", 6e-9);
    exchange_near(reply, "steps.accumulator.1.1", "[1.00566021,-0.45547183,-0.16113204,-0.17245247]", 6e-9);
    exchange_near(reply, "steps.tile_max.0", "[0.08,null]", 1e-15);
    exchange_near(reply, "steps.tile_sum.0", "[1,0]", 0);
    json_decref(reply);
}
END_TEST

/* The last accumulator over the last sum is the output; a sink starts the run; dropout is in the accumulator alone. */
START_TEST(tiles_end_in_the_output)
{
    json_t *reply = exchange_reply("{" ONE ",\"sinks\":[0.3],\"dropout\":{\"p\":0.3,\"seed\":4},"
                                   "\"tiles\":{\"keys\":2},\"include\":[\"steps\",\"output\"]}");
    double sum = json_number_value(exchange_at(reply, "steps.running_sum.0.1"));
    for (size_t c = 0; c < 2; c++) {
        char path[40];
        snprintf(path, sizeof path, "steps.accumulator.0.1.%zu", c);
        double y = json_number_value(exchange_at(reply, path)) / sum;
        snprintf(path, sizeof path, "output.0.%zu", c);
        ck_assert_double_eq_tol(y, json_number_value(exchange_at(reply, path)), 1e-15);
    }
    json_decref(reply);
}
END_TEST

/* e^.100 = 1.1052 and the row's total, as the lesson prints them; what overflows is null. */
START_TEST(exponentials_without_the_maximum)
{
    json_t *reply = exchange_reply("{" CAT ",\"include\":[\"steps.exp_unshifted\",\"steps.row_sum_unshifted\"]}");
    exchange_near(reply, "steps.exp_unshifted.1", "[1.10517092,2.84339852]", 6e-9);
    exchange_near(reply, "steps.row_sum_unshifted.1", "3.94856944", 6e-9);
    exchange_near(reply, "steps.exp_unshifted.0.1", "0", 0);
    json_decref(reply);
    reply = exchange_reply("{\"q\":[[1000]],\"k\":[[1]],\"v\":[[1]],\"nonfinite\":\"string\","
                           "\"include\":[\"steps.exp_unshifted\"]}");
    ck_assert(json_is_null(exchange_at(reply, "steps.exp_unshifted.0.0")));
    json_decref(reply);
}
END_TEST

START_TEST(contributions_by_their_length)
{
    json_t *reply = exchange_reply("{" CAT ",\"include\":[\"steps.contribution_norms\"]}");
    exchange_near(reply, "steps.contribution_norms.1", "[0.35734151,1.00040674]", 6e-9);
    exchange_near(reply, "steps.contribution_norms.0.1", "0", 0);
    json_decref(reply);
}
END_TEST

/* The sum over heads, and b_o, is the output. */
START_TEST(outputs_of_heads_add_up)
{
    json_t *reply = exchange_reply("{\"x\":[[1,2],[3,-1]],\"w_q\":[[1,0],[0,1]],\"w_k\":[[0,1],[1,1]],"
                                   "\"w_v\":[[1,2],[-1,1]],\"heads\":2,\"w_o\":[[1,2,3],[-1,1,2]],\"b_o\":[1,2,3],"
                                   "\"include\":[\"output\",\"steps.head_outputs\"]}");
    for (size_t c = 0; c < 3; c++) {
        char path[40];
        double sum = (double)c + 1;
        for (size_t h = 0; h < 2; h++) {
            snprintf(path, sizeof path, "steps.head_outputs.%zu.1.%zu", h, c);
            sum += json_number_value(exchange_at(reply, path));
        }
        snprintf(path, sizeof path, "output.1.%zu", c);
        ck_assert_double_eq_tol(sum, json_number_value(exchange_at(reply, path)), 1e-14);
    }
    json_decref(reply);
}
END_TEST

START_TEST(what_is_new_of_present)
{
    json_t *reply = exchange_reply("{" ONE ",\"past\":{\"k\":[[5,6]],\"v\":[[7,8]]},"
                                   "\"include\":[\"present\",\"present_new\"]}");
    exchange_near(reply, "present_new.k", "[[1,0],[0,1],[1,0]]", 0);
    exchange_near(reply, "present_new.v", "[[2,0],[0,2],[1,1]]", 0);
    exchange_near(reply, "present.k.0", "[5,6]", 0);
    json_decref(reply);
}
END_TEST

#define SAT "\"readout\":{\"w\":[[0,-1,0],[-1,1,0],[0,0,1],[0,0,1]],\"tokens\":[\"sat\",\"the\",\"ran\"]"

START_TEST(sat_takes_55_percent)
{
    json_t *reply = exchange_reply("{" CAT "," SAT "}}");
    ck_assert_str_eq(json_string_value(exchange_at(reply, "readout.0.token")), "sat");
    exchange_near(reply, "readout.0.logit", "0.32798915", 6e-9);
    exchange_near(reply, "readout.0.exp", "1", 0);
    exchange_near(reply, "readout.0.probability", "0.55003129", 6e-9);
    exchange_near(reply, "readout.1.probability", "0.31161516", 6e-9);
    exchange_near(reply, "readout.2.probability", "0.13835355", 6e-9);
    json_decref(reply);
}
END_TEST

START_TEST(a_readout_leaves_words_out)
{
    json_t *reply = exchange_reply("{" CAT "," SAT ",\"temperature\":0.5,\"top_k\":2,\"top_p\":0.6,\"rows\":\"all\"}}");
    ck_assert_uint_eq(json_array_size(exchange_at(reply, "readout")), 2);
    double sat = json_number_value(exchange_at(reply, "readout.1.0.after.temperature"));
    double ran = json_number_value(exchange_at(reply, "readout.1.1.after.temperature"));
    ck_assert_double_eq_tol(ran / sat, pow(0.31161516 / 0.55003129, 2), 1e-7);
    ck_assert_double_eq_tol(json_number_value(exchange_at(reply, "readout.1.0.after.top_k")), sat / (sat + ran), 1e-15);
    ck_assert_double_eq(json_number_value(exchange_at(reply, "readout.1.0.after.top_p")), 1);
    ck_assert_double_eq(json_number_value(exchange_at(reply, "readout.1.0.probability")), 1);
    ck_assert_double_eq(json_number_value(exchange_at(reply, "readout.1.2.after.top_k")), 0);
    json_decref(reply);
}
END_TEST

/* splitmix64 from state 7 and Box-Muller, redone here; scores of d_k normals have variance d_k, scaled ones 1. */
START_TEST(seeded_normal_numbers)
{
    json_t *reply = exchange_reply("{\"q\":{\"normal\":{\"seed\":7},\"shape\":[1,3]},\"k\":[[1,0,0],[0,1,0],[0,0,1]],"
                                   "\"v\":[[1],[2],[3]],\"scale\":1,\"include\":[\"steps.scores\"]}");
    uint64_t state = 7;
    double u[4];
    for (size_t x = 0; x < 4; x++) {
        uint64_t z = state += UINT64_C(0x9E3779B97F4A7C15);
        z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
        z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
        z ^= z >> 31;
        u[x] = (double)((z >> 11) + (x % 2 == 0)) * 0x1p-53;
    }
    char expected[100];
    snprintf(expected, sizeof expected, "[%.17g,%.17g,%.17g]", sqrt(-2 * log(u[0])) * cos(2 * acos(-1) * u[1]),
             sqrt(-2 * log(u[0])) * sin(2 * acos(-1) * u[1]), sqrt(-2 * log(u[2])) * cos(2 * acos(-1) * u[3]));
    exchange_near(reply, "steps.scores.0", expected, 1e-14);
    json_decref(reply);
    exchange_refused("{\"q\":{\"normal\":{}},\"k\":[[1]],\"v\":[[1]]}", ERROR_INVALID, "q",
                     "lacks its member \"shape\"");
    exchange_refused("{\"q\":{\"normal\":{\"seed\":-1},\"shape\":[1,1]},\"k\":[[1]],\"v\":[[1]]}", ERROR_INVALID,
                     "q.normal.seed", "-1");
    exchange_refused("{\"q\":{\"normal\":{},\"shape\":[1000000,1000000,1000000,1000000]},\"k\":[[1]],\"v\":[[1]]}",
                     ERROR_TOO_LARGE, "", "more numbers");
}
END_TEST

START_TEST(tiles_are_refused_where_they_cannot_be)
{
    exchange_refused("{" ONE ",\"tiles\":{\"keys\":1},\"variant\":\"linear\"}", ERROR_INVALID, "tiles", "linear");
    exchange_refused("{" ONE ",\"tiles\":{\"keys\":0}}", ERROR_INVALID, "tiles.keys", "at least 1");
    exchange_refused("{" ONE ",\"include\":[\"steps.tile_max\"]}", ERROR_INVALID, "include", "tiles would bring it");
    exchange_refused("{" ONE ",\"include\":[\"steps.head_outputs\"]}", ERROR_INVALID, "include", "w_o would bring it");
    exchange_refused("{" ONE ",\"include\":[\"steps.embedded\"]}", ERROR_INVALID, "include", "ids with embedding");
    char body[90000] = "{\"tiles\":{\"keys\":8},\"q\":[[1]],\"v\":[[1]";
    char *at = body + strlen(body);
    for (size_t j = 1; j < 8193; j++)
        at += sprintf(at, ",[1]");
    at += sprintf(at, "],\"k\":[[1]");
    for (size_t j = 1; j < 8193; j++)
        at += sprintf(at, ",[1]");
    sprintf(at, "]}");
    exchange_refused(body, ERROR_INVALID, "tiles", "at most 16384 products");
}
END_TEST

Suite *lesson_steps_suite(void);

Suite *lesson_steps_suite(void)
{
    Suite *suite = suite_create("lesson steps");
    TCase *tests = tcase_create("all");
    tcase_add_loop_test(tests, saturation_by_scale, 0, 3);
    tcase_add_test(tests, saturation_keeps_its_digits);
    tcase_add_test(tests, moments_of_an_empty_row_are_null);
    tcase_add_test(tests, tiles_of_one_query);
    tcase_add_test(tests, tiles_of_the_cat);
    tcase_add_test(tests, tiles_end_in_the_output);
    tcase_add_test(tests, exponentials_without_the_maximum);
    tcase_add_test(tests, contributions_by_their_length);
    tcase_add_test(tests, outputs_of_heads_add_up);
    tcase_add_test(tests, what_is_new_of_present);
    tcase_add_test(tests, sat_takes_55_percent);
    tcase_add_test(tests, a_readout_leaves_words_out);
    tcase_add_test(tests, seeded_normal_numbers);
    tcase_add_test(tests, tiles_are_refused_where_they_cannot_be);
    suite_add_tcase(suite, tests);
    return suite;
}
