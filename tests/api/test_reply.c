/* The structure of a reply: members, axes, shapes, order, styles. */
#include "tests/api/exchange.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QKV "\"q\":[[1,0],[0,2]],\"k\":[[1,0],[0,1],[1,1]],\"v\":[[1],[2],[3]]"
#define LABELS "\"tokens\":{\"query\":[\"x\",\"y\"],\"key\":[\"p\",\"q\",\"r\"]}"

/* The members of an object, in order: "a b c". */
static void check_members(const json_t *object, const char *expected)
{
    char found[400] = "";
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)object, name, value)
    {
        strcat(strcat(found, found[0] ? " " : ""), name);
        ck_assert_ptr_nonnull(value);
    }
    ck_assert_str_eq(found, expected);
}

static void check_axes(const json_t *reply, const char *path, const char *expected)
{
    char full[100];
    snprintf(full, sizeof full, "axes.%s", path);
    exchange_near(reply, full, expected, 0);
}

START_TEST(the_default_is_output_and_weights)
{
    json_t *r = exchange_reply("{" QKV "}");
    check_members(r, "dtype shape axes scale output weights");
    exchange_near(r, "shape", "{\"batch\":1,\"heads\":1,\"kv_heads\":1,\"queries\":2,\"keys\":3,\"d_k\":2,\"d_v\":1}",
                  0);
    exchange_near(r, "axes", "{\"output\":[\"query\",\"feature\"],\"weights\":[\"query\",\"key\"]}", 0);
    json_decref(r);
}
END_TEST

START_TEST(members_come_in_the_order_of_the_contract)
{
    json_t *r = exchange_reply("{" QKV ",\"include\":[\"steps.contributions\",\"steps\",\"stats\",\"mask\",\"inputs\","
                               "\"present\",\"log_sum_exp\",\"weights\",\"output\",\"output\",\"steps.products\"],"
                               "\"id\":\"seven\",\"tokens\":{\"query\":[\"a\",\"b\"],\"key\":[\"c\",\"d\",\"e\"]},"
                               "\"readout\":{\"w\":[[1,2]],\"tokens\":[\"x\",\"y\"]},\"softcap\":2,"
                               "\"mask\":{\"alibi\":true},\"dropout\":{\"p\":0.5}}");
    check_members(
        r, "id dtype shape axes labels scale output weights log_sum_exp present inputs mask stats readout steps");
    check_members(exchange_at(r, "present"), "k v");
    check_members(exchange_at(r, "inputs"), "q k v");
    check_members(exchange_at(r, "mask"), "allowed bias");
    check_members(
        exchange_at(r, "stats"),
        "entropy_bits argmax_key max_weight weight_sum effective_keys jacobian_trace jacobian_norm score_mean "
        "score_variance");
    check_members(exchange_at(r, "steps"), "products scores scaled capped biased masked row_max shifted exp row_sum "
                                           "weights dropped contributions");
    check_members(exchange_at(r, "axes"), "output weights log_sum_exp present inputs mask stats steps");
    check_axes(r, "steps.products", "[\"query\",\"key\",\"feature\"]");
    check_axes(r, "steps.contributions", "[\"query\",\"key\",\"feature\"]");
    check_axes(r, "steps.row_max", "[\"query\"]");
    check_axes(r, "present.k", "[\"key\",\"feature\"]");
    check_axes(r, "inputs.q", "[\"query\",\"feature\"]");
    check_axes(r, "mask.allowed", "[\"query\",\"key\"]");
    check_axes(r, "stats.argmax_key", "[\"query\"]");
    exchange_near(r, "id", "\"seven\"", 0);
    exchange_near(r, "mask.allowed", "[[true,true,true],[true,true,true]]", 0);
    exchange_near(r, "labels", "{\"query\":[\"a\",\"b\"],\"key\":[\"c\",\"d\",\"e\"]}", 0);
    json_decref(r);
}
END_TEST

START_TEST(nothing_asked_is_the_head_alone)
{
    json_t *r = exchange_reply("{" QKV ",\"include\":[]}");
    check_members(r, "dtype shape axes scale");
    ck_assert_uint_eq(json_object_size(exchange_at(r, "axes")), 0);
    json_decref(r);
}
END_TEST

START_TEST(steps_by_name_come_alone)
{
    json_t *r = exchange_reply("{" QKV ",\"include\":[\"steps.exp\",\"steps.scores\"]}");
    check_members(r, "dtype shape axes scale steps");
    check_members(exchange_at(r, "steps"), "scores exp");
    json_decref(r);
}
END_TEST

/* --- axes and shapes of every layout: heads 2, n 1, m 2, d_k 1, d_v 1 --- */

#define ALL ",\"include\":[\"output\",\"weights\",\"log_sum_exp\",\"present\",\"inputs\",\"steps.products\"]"

static const struct {
    const char *body, *output, *weights, *lse, *present, *products;
} layouts[] = {
    {"{\"q\":[[[1]],[[2]]],\"k\":[[[1],[2]]],\"v\":[[[1],[2]]]" ALL "}", "[\"head\",\"query\",\"feature\"]",
     "[\"head\",\"query\",\"key\"]", "[\"head\",\"query\"]", "[\"head\",\"key\",\"feature\"]",
     "[\"head\",\"query\",\"key\",\"feature\"]"},
    {"{\"q\":[[[[1]],[[2]]]],\"k\":[[[[1],[2]]]],\"v\":[[[[1],[2]]]]" ALL "}",
     "[\"batch\",\"head\",\"query\",\"feature\"]", "[\"batch\",\"head\",\"query\",\"key\"]",
     "[\"batch\",\"head\",\"query\"]", "[\"batch\",\"head\",\"key\",\"feature\"]",
     "[\"batch\",\"head\",\"query\",\"key\",\"feature\"]"},
    {"{\"heads\":2,\"q\":[[1,2]],\"k\":[[1,2],[3,4]],\"v\":[[1,2],[3,4]]" ALL "}", "[\"query\",\"feature\"]",
     "[\"head\",\"query\",\"key\"]", "[\"head\",\"query\"]", "[\"head\",\"key\",\"feature\"]",
     "[\"head\",\"query\",\"key\",\"feature\"]"},
    {"{\"heads\":2,\"kv_heads\":1,\"q\":[[[1,2]]],\"k\":[[[1],[3]]],\"v\":[[[1],[3]]]" ALL "}",
     "[\"batch\",\"query\",\"feature\"]", "[\"batch\",\"head\",\"query\",\"key\"]", "[\"batch\",\"head\",\"query\"]",
     "[\"batch\",\"head\",\"key\",\"feature\"]", "[\"batch\",\"head\",\"query\",\"key\",\"feature\"]"},
    {"{\"x\":[[1]],\"context\":[[1],[2]],\"w_q\":[[1]],\"w_k\":[[1]],\"w_v\":[[1]]" ALL "}", "[\"query\",\"feature\"]",
     "[\"query\",\"key\"]", "[\"query\"]", "[\"key\",\"feature\"]", "[\"query\",\"key\",\"feature\"]"},
    {"{\"heads\":1,\"x\":[[1]],\"context\":[[1],[2]],\"w_q\":[[1]],\"w_k\":[[1]],\"w_v\":[[1]]" ALL "}",
     "[\"query\",\"feature\"]", "[\"head\",\"query\",\"key\"]", "[\"head\",\"query\"]",
     "[\"head\",\"key\",\"feature\"]", "[\"head\",\"query\",\"key\",\"feature\"]"},
    {"{\"x\":[[[1]]],\"context\":[[[1],[2]]],\"w_q\":[[1]],\"w_k\":[[1]],\"w_v\":[[1]],\"w_o\":[[1,2,3]]" ALL "}",
     "[\"batch\",\"query\",\"feature\"]", "[\"batch\",\"query\",\"key\"]", "[\"batch\",\"query\"]",
     "[\"batch\",\"key\",\"feature\"]", "[\"batch\",\"query\",\"key\",\"feature\"]"},
};

static size_t rank_of(const json_t *array)
{
    return json_is_array(array) ? 1 + rank_of(json_array_get(array, 0)) : 0;
}

static void check_layout(const json_t *r, const char *path, const char *axes)
{
    check_axes(r, path, axes);
    json_t *list = json_loads(axes, 0, NULL);
    ck_assert_uint_eq(rank_of(exchange_at(r, path)), json_array_size(list));
    json_decref(list);
}

START_TEST(axes_follow_the_layout)
{
    json_t *r = exchange_reply(layouts[_i].body);
    check_layout(r, "output", layouts[_i].output);
    check_layout(r, "weights", layouts[_i].weights);
    check_layout(r, "log_sum_exp", layouts[_i].lse);
    check_layout(r, "present.k", layouts[_i].present);
    check_layout(r, "present.v", layouts[_i].present);
    check_layout(r, "inputs.k", layouts[_i].present);
    check_layout(r, "steps.products", layouts[_i].products);
    json_decref(r);
}
END_TEST

START_TEST(present_comes_back_as_a_past)
{
    json_t *whole = exchange_reply("{\"heads\":2,\"q\":[[1,2],[3,4]],\"k\":[[1,2],[3,5]],\"v\":[[1,2],[3,4]],"
                                   "\"mask\":\"causal\",\"include\":[\"output\",\"present\"]}");
    exchange_near(whole, "present.k", "[[[1],[3]],[[2],[5]]]", 0);
    json_t *step =
        exchange_reply("{\"heads\":2,\"q\":[[3,4]],\"k\":[[3,5]],\"v\":[[3,4]],\"mask\":\"causal\","
                       "\"past\":{\"k\":[[[1]],[[2]]],\"v\":[[[1]],[[2]]]},\"include\":[\"output\",\"present\"]}");
    ck_assert(json_equal(exchange_at(whole, "present"), exchange_at(step, "present")));
    ck_assert(json_equal(exchange_at(whole, "output.1"), exchange_at(step, "output.0")));
    exchange_near(step, "shape.keys", "2", 0);
    json_decref(whole);
    json_decref(step);
}
END_TEST

/* --- empty rows and styles --- */

#define EMPTY "\"mask\":{\"allow\":[[false,false,false],[true,true,false]],\"empty_rows\":\"zero\"}"

START_TEST(empty_rows_by_the_table)
{
    json_t *r = exchange_reply("{" QKV "," EMPTY ",\"include\":[\"output\",\"log_sum_exp\",\"stats\",\"steps\"]}");
    exchange_near(r, "output.0", "[0]", 0);
    exchange_near(r, "log_sum_exp.0", "null", 0);
    exchange_near(r, "steps.row_max.0", "null", 0);
    exchange_near(r, "steps.shifted.0", "[null,null,null]", 0);
    exchange_near(r, "steps.exp.0", "[0,0,0]", 0);
    exchange_near(r, "steps.row_sum.0", "0", 0);
    exchange_near(r, "stats.argmax_key", "[null,1]", 0);
    exchange_near(r, "stats.entropy_bits.0", "0", 0);
    exchange_near(r, "stats.max_weight.0", "0", 0);
    exchange_near(r, "stats.weight_sum", "[0,1]", 1e-15);
    json_decref(r);
}
END_TEST

START_TEST(infinity_as_a_string_wherever_it_occurs)
{
    json_t *r = exchange_reply("{" QKV "," EMPTY
                               ",\"nonfinite\":\"string\",\"include\":[\"log_sum_exp\",\"stats\",\"steps\"]}");
    exchange_near(r, "log_sum_exp.0", "\"-Infinity\"", 0);
    exchange_near(r, "steps.masked.0", "[\"-Infinity\",\"-Infinity\",\"-Infinity\"]", 0);
    exchange_near(r, "steps.masked.1.2", "\"-Infinity\"", 0);
    exchange_near(r, "stats.argmax_key.0", "null", 0);
    json_decref(r);
}
END_TEST

START_TEST(decimals_round_what_is_printed_but_not_the_scale)
{
    json_t *r = exchange_reply("{" QKV ",\"decimals\":3,\"include\":[\"output\",\"weights\",\"stats\"]}");
    exchange_near(r, "weights", "[[0.401,0.198,0.401],[0.108,0.446,0.446]]", 0);
    exchange_near(r, "scale", "0.70710678118654746", 0);
    ck_assert_uint_eq(rank_of(exchange_at(r, "stats.entropy_bits")), 1);
    json_decref(r);
}
END_TEST

START_TEST(float32_prints_as_float32)
{
    struct exchange x = exchange_run("{\"dtype\":\"float32\",\"q\":[[0.1]],\"k\":[[0.2]],\"v\":[[0.3]],\"scale\":0.1,"
                                     "\"include\":[\"output\",\"inputs\"]}",
                                     (struct exchange_how){0});
    ck_assert(x.good);
    ck_assert_ptr_nonnull(strstr(x.text.data, "\"scale\":0.1,"));
    ck_assert_ptr_nonnull(strstr(x.text.data, "\"output\":[[0.3]]"));
    ck_assert_ptr_nonnull(strstr(x.text.data, "\"q\":[[0.1]],\"k\":[[0.2]],\"v\":[[0.3]]"));
    ck_assert_str_eq(x.media_type, "application/json");
    exchange_end(&x);
}
END_TEST

START_TEST(negative_zero_passes_through)
{
    struct exchange x =
        exchange_run("{\"q\":[[-0.0]],\"k\":[[1]],\"v\":[[-0]],\"include\":[\"inputs\"]}", (struct exchange_how){0});
    ck_assert_ptr_nonnull(strstr(x.text.data, "\"q\":[[-0]],\"k\":[[1]],\"v\":[[-0]]"));
    exchange_end(&x);
}
END_TEST

START_TEST(labels_are_data)
{
    json_t *r = exchange_reply("{\"q\":[[1]],\"k\":[[1]],\"v\":[[1]],\"tokens\":[\"<b>\\u0007\\\"\\\\\\u2028\"]}");
    exchange_near(r, "labels.key", "[\"<b>\\u0007\\\"\\\\\\u2028\"]", 0);
    json_decref(r);
}
END_TEST

/* 128 of them are 256 bytes. */
START_TEST(id_is_measured_in_characters)
{
    char body[512] = "{\"q\":[[1]],\"k\":[[1]],\"v\":[[1]],\"id\":\"";
    for (int i = 0; i < 128; i++)
        strcat(body, "\xc3\xa9");
    strcat(body, "\"}");
    json_t *r = exchange_reply(body);
    ck_assert_uint_eq(json_string_length(json_object_get(r, "id")), 256);
    json_decref(r);
    strcpy(body + strlen(body) - 2, "e\"}");
    exchange_refused(body, ERROR_INVALID, "id", "has 129 characters; 128 are the most");
}
END_TEST

/* --- readout: logits = y w; y = 2 for one key with value 2 --- */

START_TEST(readout_is_sorted_and_sums_to_one)
{
    json_t *r = exchange_reply("{\"q\":[[1],[1]],\"k\":[[1]],\"v\":[[2]],\"readout\":{\"w\":[[0,1,-1,1]],"
                               "\"tokens\":[\"zero\",\"one\",\"minus\",\"uno\"]},\"include\":[]}");
    double sum = 0;
    static const char *const order[] = {"one", "uno", "zero", "minus"};
    static const double logits[] = {2, 2, 0, -2};
    for (size_t i = 0; i < 4; i++) {
        const json_t *word = json_array_get(exchange_at(r, "readout"), i);
        ck_assert_str_eq(json_string_value(json_object_get(word, "token")), order[i]);
        ck_assert(json_number_value(json_object_get(word, "logit")) == logits[i]);
        sum += json_number_value(json_object_get(word, "probability"));
    }
    double expected = exp(2) / (2 * exp(2) + 1 + exp(-2));
    ck_assert_double_eq_tol(json_number_value(exchange_at(r, "readout.0.probability")), expected, 1e-15);
    ck_assert_double_eq_tol(sum, 1, 1e-15);
    json_decref(r);
}
END_TEST

START_TEST(readout_joins_heads_and_lists_batches)
{
    json_t *r = exchange_reply("{\"q\":[[[[1]],[[1]]],[[[1]],[[1]]]],\"k\":[[[[1]],[[1]]],[[[1]],[[1]]]],"
                               "\"v\":[[[[2]],[[3]]],[[[5]],[[7]]]],\"include\":[],"
                               "\"readout\":{\"w\":[[1,10],[100,1000]],\"tokens\":[\"a\",\"b\"]}}");
    exchange_near(r, "readout.0.0", "{\"token\":\"b\",\"logit\":3020,\"exp\":1,\"probability\":1}", 0);
    ck_assert(json_number_value(exchange_at(r, "readout.0.1.logit")) == 302);
    ck_assert(json_number_value(exchange_at(r, "readout.1.0.logit")) == 7050);
    json_decref(r);
}
END_TEST

START_TEST(a_logit_that_overflows_is_refused)
{
    exchange_refused(
        "{\"q\":[[1]],\"k\":[[1]],\"v\":[[1e200]],\"readout\":{\"w\":[[1,1e200]],\"tokens\":[\"a\",\"b\"]}}",
        ERROR_INVALID, "readout.w", "column 1 overflows float64");
}
END_TEST

/* Requests after one another; some differ in their matrices alone, some in their options alone, some are wrong. */
START_TEST(what_is_kept_of_the_last_request_changes_nothing)
{
    static const char *const bodies[] = {
        "{" QKV ",\"id\":\"a\"," LABELS "}",
        "{\"q\":[[5,-1],[2,2]],\"k\":[[3,0],[0,1],[1,1]],\"v\":[[7],[2],[3]],\"id\":\"a\"," LABELS "}",
        "{\"q\":[[5,-1]],\"k\":[[3,0],[0,1],[1,1]],\"v\":[[7],[2],[3]],\"id\":\"a\"," LABELS "}",
        "{" QKV ",\"id\":\"b\"}",
        "{" QKV ",\"id\":\"b\"",
        "{\"q\":[[1,0],[0]],\"k\":[[1,0],[0,1],[1,1]],\"v\":[[1],[2],[3]],\"id\":\"b\"}",
        "{" QKV ",\"id\":\"b\",\"id\":\"b\"}",
        "{" QKV ",\"id\":\"b\"}",
        "{" QKV ",\"mask\":\"causal\",\"scal\":1}",
        "{" QKV ",\"mask\":\"causal\",\"scal\":1}",
        "[1]",
        "[2]",
    };
    struct document_memory *memory = job_memory_new();
    struct options *defaults = job_defaults_new();
    for (size_t x = 0; x < 2 * sizeof bodies / sizeof *bodies; x++) {
        const char *body = bodies[x % (sizeof bodies / sizeof *bodies)];
        struct exchange fresh = exchange_run(body, (struct exchange_how){0});
        struct exchange kept = exchange_run(body, (struct exchange_how){.memory = memory, .defaults = defaults});
        ck_assert_int_eq(fresh.err.code, kept.err.code);
        ck_assert_str_eq(fresh.err.faults[0].text, kept.err.faults[0].text);
        ck_assert_str_eq(fresh.err.faults[0].name, kept.err.faults[0].name);
        ck_assert_uint_eq(fresh.text.length, kept.text.length);
        if (fresh.text.length > 0)
            ck_assert_mem_eq(fresh.text.data, kept.text.data, kept.text.length);
        exchange_end(&fresh);
        exchange_end(&kept);
    }
    job_memory_free(memory);
    job_defaults_free(defaults);
}
END_TEST

Suite *reply_suite(void);

Suite *reply_suite(void)
{
    Suite *suite = suite_create("reply");
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, the_default_is_output_and_weights);
    tcase_add_test(tests, members_come_in_the_order_of_the_contract);
    tcase_add_test(tests, nothing_asked_is_the_head_alone);
    tcase_add_test(tests, steps_by_name_come_alone);
    tcase_add_loop_test(tests, axes_follow_the_layout, 0, (int)(sizeof layouts / sizeof *layouts));
    tcase_add_test(tests, present_comes_back_as_a_past);
    tcase_add_test(tests, empty_rows_by_the_table);
    tcase_add_test(tests, infinity_as_a_string_wherever_it_occurs);
    tcase_add_test(tests, decimals_round_what_is_printed_but_not_the_scale);
    tcase_add_test(tests, float32_prints_as_float32);
    tcase_add_test(tests, negative_zero_passes_through);
    tcase_add_test(tests, labels_are_data);
    tcase_add_test(tests, id_is_measured_in_characters);
    tcase_add_test(tests, readout_is_sorted_and_sums_to_one);
    tcase_add_test(tests, readout_joins_heads_and_lists_batches);
    tcase_add_test(tests, a_logit_that_overflows_is_refused);
    tcase_add_test(tests, what_is_kept_of_the_last_request_changes_nothing);
    suite_add_tcase(suite, tests);
    return suite;
}
