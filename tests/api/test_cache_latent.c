/* Latent attention as requests: the published vector in both forms, its past, its gradients. */
#include "tests/api/cache_bodies.h"
#include "tests/api/exchange.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define OUTPUT "[[3.25,4,3.75,2.5],[5.23355137,0.40481314,3.57836996,3.24781662],[5.25,0.375,2.73528378,0.79441674]]"

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

#define PROJECTED \
    "[[5.625,2.25,-4.625,-6],[1.19759866,-1.91853911,-4.50796149,-9.99974339]," \
    "[2.7624757,0.47380057,-7.79190813,-5.88998431]]"

START_TEST(latent_heads_are_projected_as_published)
{
    static const char *const forms[] = {"expanded", "absorbed"};
    char body[1600];
    snprintf(body, sizeof body,
             "{" LATENT ",\"form\":\"%s\"},\"w_o\":[[-0.25,-0.5,-1.75,0],[0.75,0.5,-0.75,1],[1.75,1.5,0.25,-2],"
             "[-1.25,-1.5,1.25,-1]]}",
             forms[_i]);
    json_t *r = exchange_reply(body);
    exchange_near(r, "output", PROJECTED, 5e-9);
    json_decref(r);
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

Suite *cache_latent_suite(void);

Suite *cache_latent_suite(void)
{
    Suite *suite = suite_create("latent requests");
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, both_forms_of_latent_as_published);
    tcase_add_loop_test(tests, latent_heads_are_projected_as_published, 0, 2);
    tcase_add_test(tests, the_present_of_latent_is_a_past);
    tcase_add_test(tests, explain_tells_a_cell_of_latent);
    tcase_add_loop_test(tests, gradients_go_through_latent, 0, 2);
    suite_add_tcase(suite, tests);
    return suite;
}
