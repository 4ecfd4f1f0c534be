/* Latent attention, quantised caches and emulated precision as requests: replies against the published vectors, text,
 * refusals. */
#include "core/tensor/format.h"
#include "tests/api/exchange.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CAUSAL \
    "\"q\":[[1,0,0.5],[0,1,-0.5],[1,1,0],[0.5,-1,1]],\"k\":[[0.5,1,0],[1,-0.5,0.5],[0,1,1],[-1,0.5,0]]," \
    "\"v\":[[1,0],[0,1],[1,1],[-1,2]],\"mask\":\"causal\""
#define CAT \
    "\"q\":[[0.3,-0.2,0.5,0.1],[1.1,-0.8,0.2,0.3]],\"k\":[[-0.4,-0.3,0.2,1.2],[1.6,-0.7,-0.4,-0.5]]," \
    "\"v\":[[-0.5,-0.4,0.1,1.1],[1.2,-0.3,-0.2,-0.6]],\"mask\":\"causal\""
#define HALF "[[0.5,0.5,0.5,0.5],[0.5,-0.5,0.5,-0.5],[0.5,0.5,-0.5,-0.5],[0.5,-0.5,-0.5,0.5]]"
#define LATENT \
    "\"x\":[[0,0.75,0.5,-0.75],[1,1.75,1.5,0.25],[-2,-1.25,-1.5,1.25]],\"heads\":2,\"mask\":\"causal\",\"latent\":{" \
    "\"w_dkv\":[[-0.5,-1.75,0],[-0.75,1,1.75],[-2,-1.25,-1.5],[-0.25,-0.5,-1.75]]," \
    "\"w_kr\":[[0.75,0.5],[1.5,0.25],[1.25,-1],[0,0.75]]," \
    "\"w_uk\":[[0.5,-0.75,1,1.75],[1.5,0.25,-2,-1.25],[-1.5,1.25,-1,-0.25]]," \
    "\"w_uv\":[[-1,-0.25,-0.5,-1.75],[0,0.75,0.5,-0.75],[1,1.75,1.5,0.25]]," \
    "\"w_dq\":[[1.25,-1,-0.25],[-0.5,-1.75,0],[0.75,0.5,-0.75],[1,1.75,1.5]]," \
    "\"w_uq\":[[1,1.75,1.5,0.25,-2,-1.25,-1.5,1.25],[-1,-0.25,-0.5,-1.75,0,0.75,0.5,-0.75]," \
    "[1,1.75,1.5,0.25,-2,-1.25,-1.5,1.25]]"
#define OUTPUT "[[3.25,4,3.75,2.5],[5.23355137,0.40481314,3.57836996,3.24781662],[5.25,0.375,2.73528378,0.79441674]]"

/* --- quantize --- */

START_TEST(a_quantised_cache_as_published)
{
    json_t *r = exchange_reply("{" CAUSAL ",\"quantize\":{\"k\":{\"method\":\"affine\",\"bits\":2},\"v\":{\"method\":"
                               "\"affine\",\"bits\":2}},\"include\":[\"weights\",\"output\",\"exact.weights\","
                               "\"exact.output\",\"present\",\"inputs\"]}");
    exchange_near(r, "quantization.k.codes", "[[2,3,0],[3,0,2],[2,3,3],[0,2,0]]", 0);
    exchange_near(r, "quantization.k.scale", "[[0.6666666666666666,0.5,0.3333333333333333]]", 1e-15);
    exchange_near(r, "quantization.k.zero", "[[-1,-0.5,0]]", 0);
    exchange_near(r, "quantization.v.scale", "[[0.3333333333333333],[0.3333333333333333],[0],[1]]", 1e-15);
    exchange_near(r, "weights.3", "[0.1261903,0.53441183,0.22478432,0.11461355]", 5e-9);
    exchange_near(r, "output.3", "[0.23636107,0.98842325]", 5e-9);
    exchange_near(r, "exact.weights.3", "[0.14137752,0.51825732,0.21798941,0.12237575]", 5e-9);
    exchange_near(r, "exact.output.3", "[0.23699118,0.98099823]", 5e-9);
    exchange_near(r, "present.k", "[[0.5,1,0],[1,-0.5,0.5],[0,1,1],[-1,0.5,0]]", 0);
    exchange_near(r, "inputs.k.1", "[1,-0.5,0.6666666666666666]", 1e-15);
    exchange_near(r, "axes.quantization.k.scale", "[\"group\",\"feature\"]", 0);
    ck_assert_double_eq(json_number_value(exchange_at(r, "quantization.k.bits_per_number")), 10);
    ck_assert_double_eq(json_number_value(exchange_at(r, "quantization.k.bytes")), 15);
    ck_assert_double_eq(json_number_value(exchange_at(r, "quantization.k.ratio")), 1.6);
    json_decref(r);
}
END_TEST

/* scores.max = max |s^ - s|, and so on, from the two requests that the one stands for */
START_TEST(the_error_is_the_difference_from_the_exact_result)
{
    json_t *r = exchange_reply("{" CAUSAL ",\"quantize\":{\"k\":{\"method\":\"affine\",\"bits\":2}},\"include\":["
                               "\"steps.scores\",\"weights\",\"output\",\"exact.weights\",\"exact.output\"],"
                               "\"sinks\":[0.5]}");
    json_t *exact = exchange_reply("{" CAUSAL ",\"include\":[\"steps.scores\",\"weights\"],\"sinks\":[0.5]}");
    double scores = 0, weights = 0;
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j <= i; j++) {
            char path[2][40];
            snprintf(path[0], sizeof path[0], "steps.scores.%zu.%zu", i, j);
            snprintf(path[1], sizeof path[1], "weights.%zu.%zu", i, j);
            double score = json_number_value(exchange_at(r, path[0])) - json_number_value(exchange_at(exact, path[0]));
            double weight = json_number_value(exchange_at(r, path[1])) - json_number_value(exchange_at(exact, path[1]));
            scores = score > scores ? score : -score > scores ? -score : scores;
            weights = weight > weights ? weight : -weight > weights ? -weight : weights;
        }
    ck_assert_double_eq_tol(json_number_value(exchange_at(r, "error.scores.max")), scores, 1e-15);
    ck_assert_double_eq_tol(json_number_value(exchange_at(r, "error.weights.max")), weights, 1e-15);
    ck_assert(json_equal(exchange_at(r, "exact.weights"), exchange_at(exact, "weights")));
    ck_assert_uint_eq(json_array_size(exchange_at(r, "error.weights.kl_bits")), 4);
    ck_assert_int_eq(json_integer_value(exchange_at(r, "error.weights.argmax_changed")), 0);
    json_decref(r);
    json_decref(exact);
}
END_TEST

/* the-cat's keys under H_4 / 2: weights of the row of cat */
START_TEST(turboquant_under_a_given_rotation_as_published)
{
    static const char *const weights[] = {"[0.340995,0.659005]", "[0.218643,0.781357]", "[0.263208,0.736792]",
                                          "[0.266327,0.733673]"};
    for (int bits = 1; bits <= 4; bits++) {
        char body[1200];
        snprintf(body, sizeof body,
                 "{" CAT ",\"quantize\":{\"k\":{\"method\":\"turboquant\",\"bits\":%d,\"rotation\":" HALF "}}}", bits);
        json_t *r = exchange_reply(body);
        exchange_near(r, "weights.1", weights[bits - 1], 6e-7);
        exchange_near(r, "quantization.k.rotation", HALF, 0);
        json_decref(r);
    }
}
END_TEST

/* codes and sign stay integers, scales and what the codes stand for do not; a scale of all is a plain number */
START_TEST(codes_stay_integers_whatever_the_spelling)
{
    json_t *r = exchange_reply("{" CAT ",\"encoding\":\"base64\",\"quantize\":{\"k\":{\"method\":\"turboquant\","
                               "\"bits\":2,\"residual\":\"qjl\"},\"v\":{\"method\":\"symmetric\",\"bits\":4,\"axis\":"
                               "\"tensor\"}}}");
    ck_assert(json_is_integer(exchange_at(r, "quantization.k.codes.0.0")));
    ck_assert(json_is_integer(exchange_at(r, "quantization.k.sign.0.0")));
    ck_assert(json_is_object(exchange_at(r, "quantization.k.norm")));
    ck_assert(json_is_object(exchange_at(r, "quantization.v.dequantized")));
    ck_assert(json_is_number(exchange_at(r, "quantization.v.scale")));
    ck_assert_double_eq_tol(json_number_value(exchange_at(r, "quantization.v.scale")), 1.2 / 7, 1e-15);
    json_decref(r);
    r = exchange_reply("{" CAT ",\"decimals\":0,\"quantize\":{\"v\":{\"method\":\"float8_e4m3\"}}}");
    ck_assert_int_eq(json_integer_value(exchange_at(r, "quantization.v.codes.0.3")), 126);
    ck_assert_double_eq(json_number_value(exchange_at(r, "quantization.v.bits_per_number")), 12);
    json_decref(r);
}
END_TEST

/* The output has the same bits however the reply is made: in one piece or streamed, with a pool or without. */
START_TEST(quantised_replies_stream)
{
    struct buffer body = buffer_new(SIZE_MAX);
    struct pool *pool = pool_start(2, 2);
    buffer_string(&body,
                  "{\"mask\":\"causal\",\"quantize\":{\"k\":{\"method\":\"affine\",\"bits\":4,\"group\":8},\"v\":{"
                  "\"method\":\"affine\",\"bits\":4}},\"include\":[\"output\",\"weights\",\"exact.weights\"]");
    for (const char *name = "qkv"; *name; name++) {
        buffer_format(&body, ",\"%c\":[", *name);
        for (int row = 0; row < 64; row++) {
            buffer_format(&body, "%s[", row ? "," : "");
            for (int t = 0; t < 16; t++)
                buffer_format(&body, "%s%.3f", t ? "," : "", ((row * 37 + t * 11 + *name) % 41 - 20) / 13.0);
            buffer_string(&body, "]");
        }
        buffer_string(&body, "]");
    }
    buffer_append(&body, "}", 2);
    struct exchange whole = exchange_run(body.data, (struct exchange_how){0});
    struct exchange streamed =
        exchange_run(body.data, (struct exchange_how){.limits = {.whole_elements = 1}, .pool = pool});
    ck_assert_msg(whole.good && streamed.good, "%s", whole.err.faults[0].text);
    ck_assert_uint_gt(streamed.blocks, whole.blocks);
    ck_assert_uint_eq(whole.text.length, streamed.text.length);
    ck_assert_int_eq(memcmp(whole.text.data, streamed.text.data, whole.text.length), 0);
    exchange_end(&whole);
    exchange_end(&streamed);
    buffer_free(&body);
    pool_stop(pool);
}
END_TEST

START_TEST(text_tells_codes_bill_and_loss)
{
    struct exchange x = exchange_run("{" CAUSAL ",\"quantize\":{\"k\":{\"method\":\"affine\",\"bits\":2}}}",
                                     (struct exchange_how){.format = JOB_TEXT});
    static const char *const lines[] = {
        "codes of k\n  k0  2  3  0\n  k1  3  0  2\n",
        "scale of the codes of k\n  group 0  0.667  0.500  0.333\n",
        "k  affine: 10.00 bits a number, 15 bytes in all; 16 / 10.00 = 1.60\n",
        "in so small a cache the scales cost more than the codes",
        "weights  largest 0.058\n",
        "the first key of the largest weight is another in 0 rows\n",
    };
    ck_assert_msg(x.good, "%s", x.err.faults[0].text);
    for (size_t l = 0; l < sizeof lines / sizeof *lines; l++)
        ck_assert_msg(strstr(x.text.data, lines[l]) != NULL, "no \"%s\" in\n%s", lines[l], x.text.data);
    exchange_end(&x);
}
END_TEST

/* --- latent --- */

START_TEST(both_forms_of_latent_as_published)
{
    json_t *expanded = exchange_reply("{" LATENT "},\"include\":[\"output\",\"inputs\",\"present\",\"steps\"]}");
    json_t *absorbed =
        exchange_reply("{" LATENT ",\"form\":\"absorbed\"},\"include\":[\"output\",\"inputs\",\"present\",\"steps\"]}");
    exchange_near(expanded, "output", OUTPUT, 5e-9);
    exchange_near(absorbed, "output", OUTPUT, 5e-9);
    ck_assert(json_equal(exchange_at(expanded, "inputs"), exchange_at(absorbed, "inputs")));
    ck_assert(json_equal(exchange_at(expanded, "present"), exchange_at(absorbed, "present")));
    ck_assert(json_equal(exchange_at(expanded, "shape"), exchange_at(absorbed, "shape")));
    ck_assert_int_eq(json_integer_value(exchange_at(expanded, "shape.kv_heads")), 2);
    ck_assert_int_eq(json_integer_value(exchange_at(expanded, "shape.d_k")), 4);
    ck_assert_ptr_nonnull(exchange_at(expanded, "steps.key_nope"));
    ck_assert_ptr_null(json_object_get(exchange_at(absorbed, "steps"), "key_nope"));
    ck_assert_ptr_null(json_object_get(exchange_at(expanded, "steps"), "mixed_latent"));
    exchange_near(absorbed, "axes.steps.mixed_latent", "[\"head\",\"query\",\"feature\"]", 0);
    exchange_near(absorbed, "axes.present.latent", "[\"key\",\"feature\"]", 0);
    json_decref(expanded);
    json_decref(absorbed);
}
END_TEST

/* The present of a request is the past of the next. */
START_TEST(the_present_of_latent_is_a_past)
{
    json_t *first = exchange_reply("{" LATENT "},\"include\":[\"output\",\"present\"]}");
    json_t *body = json_loads("{" LATENT "}}", 0, NULL);
    json_t *x = json_object_get(body, "x");
    char *text;
    for (int row = 0; row < 2; row++)
        json_array_remove(json_object_get(exchange_at(first, "present"), "latent"), 2 - (row > 0)),
            json_array_remove(json_object_get(exchange_at(first, "present"), "rope_key"), 2 - (row > 0));
    json_array_remove(x, 0);
    json_object_set(body, "past", exchange_at(first, "present"));
    text = json_dumps(body, 0);
    json_t *later = exchange_reply(text);
    exchange_near(later, "output.0", "[5.23355137,0.40481314,3.57836996,3.24781662]", 5e-9);
    exchange_near(later, "output.1", "[5.25,0.375,2.73528378,0.79441674]", 5e-9);
    free(text);
    json_decref(first);
    json_decref(body);
    json_decref(later);
}
END_TEST

START_TEST(explain_tells_a_cell_of_latent)
{
    struct exchange x =
        exchange_run("{" LATENT ",\"form\":\"absorbed\"},\"cell\":{\"query\":1,\"key\":0,\"head\":1},\"decimals\":5}",
                     (struct exchange_how){.kind = JOB_EXPLAIN});
    ck_assert_msg(x.good, "%s", x.err.faults[0].text);
    exchange_near(x.reply, "value", "[3.75,2.5]", 1e-12);
    exchange_near(x.reply, "products.0.product", "6.375", 1e-12);
    ck_assert_double_eq_tol(json_number_value(exchange_at(x.reply, "score")), 10.64855, 5e-6);
    exchange_end(&x);
}
END_TEST

/* --- gradients of latent: (L(w + h) - L(w - h)) / 2h for every number of every member --- */

static double loss_of(const json_t *request)
{
    char *body = json_dumps(request, 0);
    json_t *r = exchange_reply(body);
    double loss = json_number_value(exchange_at(r, "output.0.2.1"));
    free(body);
    json_decref(r);
    return loss;
}

/* The gradient of one number, found by moving it. */
static void check_slope(json_t *request, json_t *list, size_t at, const json_t *gradient, const char *name)
{
    const double h = 1e-5;
    double value = json_number_value(json_array_get(list, at));
    json_array_set_new(list, at, json_real(value + h));
    double above = loss_of(request);
    json_array_set_new(list, at, json_real(value - h));
    double below = loss_of(request);
    json_array_set_new(list, at, json_real(value));
    double found = json_number_value(json_array_get(gradient, at));
    ck_assert_msg(fabs(found - (above - below) / (2 * h)) <= 1e-6 * fmax(1, fabs(found)), "%s[%zu]: %.10g, not %.10g",
                  name, at, found, (above - below) / (2 * h));
}

static void check_slopes(json_t *request, json_t *member, const json_t *gradient, const char *name)
{
    ck_assert_msg(gradient && json_array_size(gradient) == json_array_size(member), "%s", name);
    for (size_t x = 0; x < json_array_size(member); x++)
        if (json_is_array(json_array_get(member, x)))
            check_slopes(request, json_array_get(member, x), json_array_get(gradient, x), name);
        else
            check_slope(request, member, x, gradient, name);
}

static void check_members(json_t *request, json_t *members, const json_t *gradients)
{
    const char *name;
    json_t *member;
    json_object_foreach(members, name, member)
    {
        if (json_is_array(member))
            check_slopes(request, member, json_object_get(gradients, name), name);
    }
}

/* The absorbed form has the same gradients, of steps of its own besides. */
static void check_absorbed(const json_t *request, const json_t *gradients)
{
    static const char *const names[] = {"w_dkv",  "w_kr",     "w_uk",     "w_uv",      "x",
                                        "latent", "rope_key", "inputs.k", "query_rope"};
    json_t *absorbed = json_deep_copy(request);
    json_object_set_new(json_object_get(absorbed, "latent"), "form", json_string("absorbed"));
    char *body = json_dumps(absorbed, 0);
    json_t *r = exchange_reply(body);
    for (size_t x = 0; x < sizeof names / sizeof *names; x++) {
        char path[60];
        char *text = json_dumps(exchange_at(gradients, names[x]), JSON_REAL_PRECISION(17));
        snprintf(path, sizeof path, "gradients.%s", names[x]);
        exchange_near(r, path, text, 1e-13);
        free(text);
    }
    ck_assert_uint_eq(json_array_size(exchange_at(r, "gradients.query_absorbed.0.0")), 3);
    ck_assert_ptr_null(json_object_get(exchange_at(r, "gradients"), "key_nope"));
    /* d q_nope = d q~ W_uk of the head, whose columns are those of one feature here */
    for (int h = 0; h < 2; h++) {
        double sum = 0;
        char path[60];
        for (int c = 0; c < 2; c++) {
            snprintf(path, sizeof path, "gradients.query_absorbed.0.%d.2.%d", h, c);
            double by = json_number_value(exchange_at(r, path));
            snprintf(path, sizeof path, "latent.w_uk.%d.%d", c, h);
            sum += by * json_number_value(exchange_at(request, path));
        }
        /* d z = d o W_uv, and d o is one number of w_o: of the feature that L is */
        snprintf(path, sizeof path, "w_o.%d.1", h);
        double by_o = json_number_value(exchange_at(request, path));
        snprintf(path, sizeof path, "latent.w_uv.1.%d", h);
        double wanted = by_o * json_number_value(exchange_at(request, path));
        snprintf(path, sizeof path, "gradients.mixed_latent.0.%d.2.1", h);
        ck_assert_double_eq_tol(json_number_value(exchange_at(r, path)), wanted, 1e-14);
        snprintf(path, sizeof path, "gradients.query_nope.0.%d.2.0", h);
        ck_assert_double_eq_tol(json_number_value(exchange_at(r, path)), sum, 1e-13);
    }
    free(body);
    json_decref(absorbed);
    json_decref(r);
}

static const char *const slopes[] = {
    "\"w_dq\":[[0.5,-0.3],[0.2,0.7]],\"w_uq\":[[0.3,0.5,-0.4,0.2,0.1,0.6],[-0.2,0.4,0.3,0.1,0.5,-0.7]],"
    "\"norm\":\"rms\",\"gain_q\":[1.5,0.5],\"gain_kv\":[0.7,1.2]},\"past\":{\"latent\":[[[0.3,-0.6]]],"
    "\"rope_key\":[[[0.6,0.8]]]}",
    "\"w_q\":[[0.3,0.5,-0.4,0.2,0.1,0.6],[-0.2,0.4,0.3,0.1,0.5,-0.7]]},\"context\":[[[0.4,1],[-0.7,0.2]]],\"sinks\":[0."
    "1,0.2]",
};

START_TEST(gradients_go_through_latent)
{
    char body[1600];
    snprintf(
        body, sizeof body,
        "{\"x\":[[[1,2],[0.5,-1],[0.3,0.8]]],\"heads\":2,\"backward\":{\"cell\":{\"query\":2,\"feature\":1}},"
        "\"w_o\":[[1,-1],[0.5,2]],\"include\":[\"output\",\"gradients\"],\"latent\":{\"w_dkv\":[[0.4,-0.8],[0.9,0.1]],"
        "\"w_kr\":[[1,0.2],[-0.5,1]],\"w_uk\":[[0.3,-0.6],[0.8,0.5]],\"w_uv\":[[0.2,0.7],[-0.9,0.4]],%s}",
        slopes[_i]);
    json_t *r = exchange_reply(body);
    json_t *request = json_loads(body, 0, NULL);
    const json_t *gradients = exchange_at(r, "gradients");
    check_members(request, json_object_get(request, "latent"), gradients);
    check_absorbed(request, gradients);
    check_slopes(request, json_object_get(request, "x"), json_object_get(gradients, "x"), "x");
    if (json_object_get(request, "past"))
        check_members(request, json_object_get(request, "past"), json_object_get(gradients, "past"));
    if (json_object_get(request, "context"))
        check_slopes(request, json_object_get(request, "context"), json_object_get(gradients, "context"), "context");
    ck_assert_uint_eq(json_array_size(exchange_at(r, "gradients.key_nope.0")), 2);
    exchange_near(r, "axes.gradients.rope_key", "[\"batch\",\"key\",\"feature\"]", 0);
    json_decref(request);
    json_decref(r);
}
END_TEST

/* --- precision --- */

/* the-cat with rounded inputs: weights of the row of cat */
START_TEST(rounded_inputs_as_published)
{
    static const struct {
        const char *format, *weights;
        double ulp;
    } cases[] = {{"float16", "[0.28002877,0.71997123]", 0x1p-10},
                 {"bfloat16", "[0.27970656,0.72029344]", 0x1p-7},
                 {"float8_e4m3", "[0.27695934,0.72304066]", 0x1p-3},
                 {"float8_e5m2", "[0.31531416,0.68468584]", 0x1p-2}};
    for (size_t x = 0; x < sizeof cases / sizeof *cases; x++) {
        char body[800];
        snprintf(body, sizeof body, "{" CAT ",\"precision\":{\"inputs\":\"%s\"}}", cases[x].format);
        json_t *r = exchange_reply(body);
        exchange_near(r, "weights.1", cases[x].weights, 6e-9);
        ck_assert_double_eq(json_number_value(exchange_at(r, "ulp.inputs")), cases[x].ulp);
        ck_assert_double_eq(json_number_value(exchange_at(r, "ulp.softmax")), 0x1p-52);
        json_decref(r);
    }
}
END_TEST

/* 256 + 1 is 256 in bfloat16; 1 + 1 first makes 258 */
START_TEST(the_order_of_a_sum_matters)
{
    json_t *one = exchange_reply("{\"q\":[[256,1,1,1]],\"k\":[[1,1,1,1]],\"v\":[[1]],\"include\":[\"steps.scores\"],"
                                 "\"precision\":{\"accumulate\":\"bfloat16\"}}");
    json_t *pairs = exchange_reply("{\"q\":[[256,1,1,1]],\"k\":[[1,1,1,1]],\"v\":[[1]],\"include\":[\"steps.scores\"],"
                                   "\"precision\":{\"accumulate\":\"bfloat16\",\"order\":\"pairwise\"}}");
    exchange_near(one, "steps.scores", "[[256]]", 0);
    exchange_near(pairs, "steps.scores", "[[258]]", 0);
    exchange_near(one, "error.scores.max", "3", 0);
    json_decref(one);
    json_decref(pairs);
}
END_TEST

/* Nothing rounded is nothing changed, to the bit, whatever the options. */
START_TEST(emulated_float64_is_the_ordinary_result)
{
    static const char *const options[] = {
        "\"scale\":0.7",
        "\"softcap\":1.5,\"sinks\":[0.25]",
        "\"dropout\":{\"p\":0.3,\"seed\":4},\"mask\":{\"causal\":true,\"alibi\":true,\"bias\":[[0,-1,0.5,null]]}",
        "\"variant\":\"mask_after_softmax\",\"mask\":\"causal\"",
        "\"variant\":\"mask_with_zero\",\"mask\":\"causal\"",
    };
    static const char base[] = "\"q\":[[1,0,0.5],[0,1,-0.5],[1,1,0],[0.5,-1,1]],\"k\":[[0.5,1,0],[1,-0.5,0.5],[0,1,1],"
                               "[-1,0.5,0]],\"v\":[[1,0],[0,1],[1,1],[-1,2]],\"include\":[\"output\",\"weights\","
                               "\"steps\",\"log_sum_exp\"]";
    char body[900];
    snprintf(body, sizeof body, "{%s,%s}", base, options[_i]);
    json_t *plain = exchange_reply(body);
    snprintf(body, sizeof body, "{%s,%s,\"precision\":{\"inputs\":\"float64\"}}", base, options[_i]);
    json_t *emulated = exchange_reply(body);
    ck_assert(json_equal(exchange_at(plain, "steps"), exchange_at(emulated, "steps")));
    ck_assert(json_equal(exchange_at(plain, "output"), exchange_at(emulated, "output")));
    ck_assert(json_equal(exchange_at(plain, "log_sum_exp"), exchange_at(emulated, "log_sum_exp")));
    exchange_near(emulated, "error.output.max", "0", 0);
    json_decref(plain);
    json_decref(emulated);
}
END_TEST

/* Every number of a stage is one of its format: rounding it again changes nothing. */
START_TEST(profiles_round_every_stage)
{
    json_t *r = exchange_reply("{" CAT ",\"precision\":\"bf16-all\",\"include\":[\"steps\",\"output\",\"weights\"]}");
    static const char *const numbers[] = {"steps.scores.1.1", "steps.scaled.1.1", "steps.exp.1.0",
                                          "weights.1.0",      "output.1.0",       "output.1.3"};
    for (size_t x = 0; x < sizeof numbers / sizeof *numbers; x++) {
        double value = json_number_value(exchange_at(r, numbers[x]));
        ck_assert_msg(format_round(FORMAT_BFLOAT16, value) == value, "%s is %.17g", numbers[x], value);
    }
    ck_assert_double_gt(json_number_value(exchange_at(r, "error.weights.max")), 0);
    json_decref(r);
}
END_TEST

START_TEST(float8_saturates_and_is_counted)
{
    json_t *r =
        exchange_reply("{\"q\":[[500,1]],\"k\":[[1,0.0001],[9999,1]],\"v\":[[1],[2]],\"mask\":{\"allow\":[[true,"
                       "false]]},\"precision\":{\"inputs\":\"float8_e4m3\"},\"include\":[\"inputs\",\"stats\"]}");
    exchange_near(r, "inputs.q", "[[448,1]]", 0);
    exchange_near(r, "inputs.k", "[[1,0],[448,1]]", 0);
    ck_assert_int_eq(json_integer_value(exchange_at(r, "stats.precision.saturated")), 1);
    ck_assert_int_eq(json_integer_value(exchange_at(r, "stats.precision.zeroed")), 1);
    json_decref(r);
}
END_TEST

/* 100 * 100 * (1 + 1) terms are no small head */
START_TEST(large_heads_are_not_emulated)
{
    struct buffer body = buffer_new(SIZE_MAX);
    buffer_string(&body, "{\"precision\":\"fp16\"");
    for (const char *name = "qkv"; *name; name++) {
        buffer_format(&body, ",\"%c\":[[0]", *name);
        for (int row = 1; row < 100; row++)
            buffer_string(&body, ",[1]");
        buffer_string(&body, "]");
    }
    buffer_append(&body, "}", 2);
    exchange_refused(body.data, ERROR_INVALID, "precision", "is at most 16384; here it is 20000");
    buffer_free(&body);
}
END_TEST

/* --- refusals --- */

static const struct {
    const char *base, *members, *name, *part;
} refusals[] = {
    {CAT, "\"quantize\":{}", "quantize", "Neither k nor v is given"},
    {CAT, "\"quantize\":{\"keep_first\":1}", "quantize", "Neither k nor v"},
    {CAT, "\"quantize\":{\"k\":{}}", "quantize.k", "lacks its member \"method\""},
    {CAT, "\"quantize\":{\"k\":{\"method\":\"afine\"}}", "quantize.k.method", "did you mean \"affine\"?"},
    {CAT, "\"quantize\":{\"k\":{\"method\":\"affine\"}}", "quantize.k.bits", "needs bits, from 1 to 8"},
    {CAT, "\"quantize\":{\"v\":{\"method\":\"affine\",\"bits\":9}}", "quantize.v.bits", "bits is 9"},
    {CAT, "\"quantize\":{\"k\":{\"method\":\"float8_e4m3\",\"bits\":8}}", "quantize.k.bits", "leave bits out"},
    {CAT, "\"quantize\":{\"k\":{\"method\":\"affine\",\"bits\":2,\"group\":3}}", "quantize.k.group", "does not divide"},
    {CAT, "\"quantize\":{\"k\":{\"method\":\"affine\",\"bits\":2},\"keep_first\":1,\"keep_last\":1}",
     "quantize.keep_last", "leave none of the 2 tokens"},
    {CAT, "\"quantize\":{\"k\":{\"method\":\"affine\",\"bits\":2,\"residual\":\"qjl\"}}", "quantize.k.residual",
     "Only turboquant"},
    {CAT, "\"quantize\":{\"k\":{\"method\":\"affine\",\"bits\":2,\"rotation\":\"hadamrd\"}}", "quantize.k.rotation",
     "did you mean \"hadamard\"?"},
    {CAT, "\"quantize\":{\"k\":{\"method\":\"affine\",\"bits\":2,\"rotation\":[[1,0],[0,1]]}}", "quantize.k.rotation",
     "a rotation of these rows is [4][4]"},
    {CAUSAL, "\"quantize\":{\"k\":{\"method\":\"affine\",\"bits\":2,\"rotation\":\"hadamard\"}}", "quantize.k.rotation",
     "the next one is 4"},
    {CAUSAL, "\"quantize\":{\"k\":{\"method\":\"affine\",\"bits\":2,\"rotation\":[[1,0,0],[0,1,0],[0,0.1,1]]}}",
     "quantize.k.rotation", "|R R^T - I| is 0.1"},
    {"\"q\":[[1]],\"k\":[[1]],\"v\":[[1]]",
     "\"variant\":\"linear\",\"quantize\":{\"k\":{\"method\":\"affine\",\"bits\":2}}", "variant", "has none"},
    {CAT, "\"quantize\":{\"k\":{\"method\":\"affine\",\"bits\":2}},\"backward\":{\"cell\":{\"query\":0,\"feature\":0}}",
     "backward", "no slope"},
    {LATENT "}", "\"backward\":{\"cell\":{\"query\":0,\"feature\":0}},\"include\":[\"gradients.gain_kv\"]", "include.0",
     "latent with that member"},
    {CAT, "\"precision\":\"bf16\"", "precision", "must be"},
    {CAT, "\"precision\":{\"mix\":\"float8\"}", "precision.mix", "must be"},
    {CAT, "\"precision\":\"fp8\",\"dtype\":\"float32\",\"quantize\":{\"k\":{\"method\":\"affine\",\"bits\":2}}",
     "quantize", "do not go together"},
    {CAT, "\"precision\":{\"mix\":\"float64\"},\"dtype\":\"float32\"", "precision.mix", "wider than dtype float32"},
    {"\"q\":[[1]],\"k\":[[1]],\"v\":[[1]]", "\"variant\":\"linear\",\"precision\":\"fp16\"", "variant", "has none"},
    {LATENT "}", "\"precision\":\"fp16\"", "precision", "does not go with latent"},
    {CAT, "\"precision\":\"fp16\",\"backward\":{\"cell\":{\"query\":0,\"feature\":0}}", "backward", "no slope"},
    {"\"q\":[[300,300]],\"k\":[[300,300]],\"v\":[[1]]", "\"precision\":{\"scores\":\"float16\"}", "",
     "overflows float16 in query 0"},
    {CAT, "\"include\":[\"error\"]", "include", "quantize or precision would bring it"},
    {CAT, "\"include\":[\"exact.output\"]", "include", "quantize or precision would bring it"},
    {CAT, "\"include\":[\"exact\"]", "include.0", "did you mean"},
    {CAT, "\"include\":[\"steps.latent\"]", "include", "latent would bring it"},
    {CAT, "\"past\":{\"latent\":[[1]],\"rope_key\":[[1,2]]}", "past.latent", "the past of latent"},
    {CAT, "\"past\":{}", "past", "lacks its member \"k\""},
    {LATENT "}", "\"q\":[[1]]", "q", "latent projects x"},
    {LATENT "}", "\"w_q\":[[1]]", "w_q", "w_q and latent"},
    {LATENT "}", "\"kv_heads\":1", "kv_heads", "share one latent vector"},
    {LATENT "}", "\"quantize\":{\"k\":{\"method\":\"affine\",\"bits\":2}}", "quantize", "quantize and latent"},
    {LATENT "}", "\"rope\":{\"dims\":2}", "rope.dims", "leave dims out"},
    {LATENT "}", "\"past\":{\"k\":[[1]],\"v\":[[1]]}", "past.k", "past of another form"},
    {LATENT ",\"gain_kv\":[1,1,1]}", "\"scale\":1", "latent.gain_kv", "without norm"},
    {LATENT ",\"w_q\":[[1]]}", "\"scale\":1", "latent.w_q", "one or the other"},
    {LATENT ",\"form\":\"absorbed\"}", "\"include\":[\"steps.products\"]", "include", "no keys and values of heads"},
    {LATENT ",\"form\":\"absorbed\"}", "\"include\":[\"steps.contribution_norms\"]", "include", "no keys and values"},
    {LATENT ",\"form\":\"absorbed\"}", "\"tiles\":{\"keys\":1}", "tiles", "never makes"},
    {CAT, "\"precision\":\"fp16\",\"tiles\":{\"keys\":1}", "tiles", "give one of them"},
    {LATENT ",\"form\":\"absorbed\"}", "\"include\":[\"steps.key_nope\"]", "include", "never makes keys of heads"},
    {"\"x\":[[1]]", "\"latent\":{}", "latent", "lacks its member \"w_dkv\""},
};

START_TEST(caches_that_mean_nothing_are_refused)
{
    char body[2400];
    snprintf(body, sizeof body, "{%s,%s}", refusals[_i].base, refusals[_i].members);
    exchange_refused(body, ERROR_INVALID, refusals[_i].name, refusals[_i].part);
}
END_TEST

Suite *cache_suite(void);

Suite *cache_suite(void)
{
    Suite *suite = suite_create("cache");
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, a_quantised_cache_as_published);
    tcase_add_test(tests, the_error_is_the_difference_from_the_exact_result);
    tcase_add_test(tests, turboquant_under_a_given_rotation_as_published);
    tcase_add_test(tests, codes_stay_integers_whatever_the_spelling);
    tcase_add_test(tests, quantised_replies_stream);
    tcase_add_test(tests, text_tells_codes_bill_and_loss);
    tcase_add_test(tests, both_forms_of_latent_as_published);
    tcase_add_test(tests, the_present_of_latent_is_a_past);
    tcase_add_test(tests, explain_tells_a_cell_of_latent);
    tcase_add_loop_test(tests, gradients_go_through_latent, 0, 2);
    tcase_add_test(tests, rounded_inputs_as_published);
    tcase_add_test(tests, the_order_of_a_sum_matters);
    tcase_add_loop_test(tests, emulated_float64_is_the_ordinary_result, 0, 5);
    tcase_add_test(tests, profiles_round_every_stage);
    tcase_add_test(tests, large_heads_are_not_emulated);
    tcase_add_test(tests, float8_saturates_and_is_counted);
    tcase_add_loop_test(tests, caches_that_mean_nothing_are_refused, 0, sizeof refusals / sizeof *refusals);
    suite_add_tcase(suite, tests);
    return suite;
}
