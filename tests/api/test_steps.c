/* POST /v1/decode: one request of many steps is what the steps are one by one. */
#include "tests/api/exchange.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 64

static struct exchange decode(const char *body)
{
    return exchange_run(body, (struct exchange_how){.kind = JOB_DECODE});
}

/* One token: numbers that a step does not share with another. */
static void write_token(char *out, size_t size, size_t step, const char *past, const char *dtype)
{
    double a = 0.37 * (double)(step % 7) - 1, b = 0.11 * (double)(step % 13) - 0.5;
    snprintf(out, size,
             "{\"dtype\":\"%s\",\"q\":[[[%g,%g]],[[%g,%g]]],\"k\":[[[%g,%g]]],\"v\":[[[%g,%g,1]]],\"mask\":\"causal\","
             "\"rope\":{},%s\"include\":[\"output\",\"weights\",\"present\"]}",
             dtype, a, b, b, a, b - a, a, a, b, past);
}

/* The present of each reply, sent as the past of the next. */
static json_t *run_one_by_one(const char *dtype)
{
    json_t *replies = json_array();
    char *past = calloc(1, 1);
    for (size_t step = 0; step < STEPS; step++) {
        size_t size = strlen(past) + 600;
        char *body = malloc(size);
        write_token(body, size, step, past, dtype);
        json_t *reply = exchange_reply(body);
        char *present = json_dumps(json_object_get(reply, "present"), JSON_REAL_PRECISION(17));
        free(past);
        past = malloc(strlen(present) + 20);
        sprintf(past, "\"past\":%s,", present);
        json_array_append_new(replies, reply);
        free(present);
        free(body);
    }
    free(past);
    return replies;
}

START_TEST(steps_equal_requests_to_the_bit)
{
    const char *dtype = _i ? "float32" : "float64";
    char *body = malloc(STEPS * 600 + 20), *at = body;
    at += sprintf(at, "{\"steps\":[");
    for (size_t step = 0; step < STEPS; step++) {
        if (step > 0)
            *at++ = ',';
        write_token(at, 600, step, "", dtype);
        at += strlen(at);
    }
    sprintf(at, "]}");
    struct exchange whole = decode(body);
    ck_assert_msg(whole.good, "%s: %s", whole.err.faults[0].name, whole.err.faults[0].text);
    json_t *each = run_one_by_one(dtype);
    ck_assert_uint_eq(json_array_size(json_object_get(whole.reply, "steps")), STEPS);
    ck_assert(json_equal(json_object_get(whole.reply, "steps"), each));
    json_decref(each);
    exchange_end(&whole);
    free(body);
}
END_TEST

#define LATENT \
    "\"heads\":2,\"latent\":{\"w_dkv\":[[1,0.5],[0.5,-1]],\"w_kr\":[[1,0],[0,1]],\"w_uk\":[[1,-1],[0.5,1]]," \
    "\"w_uv\":[[1,2],[-1,1]],\"w_q\":[[1,0,0,0,1,0],[0,1,0,1,0,1]],\"norm\":\"rms\",\"form\":\"%s\"},"
static const char *const latent_asks[] = {
    "\"include\":[\"output\",\"weights\",\"present\"]",
    "\"backward\":{\"cell\":{\"query\":0,\"feature\":1}},\"include\":[\"output\",\"gradients\",\"present\",\"present_"
    "new\"]",
};

static void write_latent(char *out, size_t size, size_t step, const char *past, int way)
{
    snprintf(out, size, "{\"x\":[[%g,%g]]," LATENT "%s%s}", 0.3 * (double)step - 1, 0.7 - 0.2 * (double)(step % 3),
             way % 2 ? "absorbed" : "expanded", past, latent_asks[way / 2]);
}

/* A latent past goes from step to step as well. */
START_TEST(latent_steps_equal_requests_to_the_bit)
{
    enum { COUNT = 5 };
    char body[COUNT * 1000] = "{\"steps\":[", past[2000] = "";
    json_t *each = json_array();
    for (size_t step = 0; step < COUNT; step++) {
        char one[3000];
        write_latent(one, sizeof one, step, "", _i);
        strcat(strcat(body, step > 0 ? "," : ""), one);
        write_latent(one, sizeof one, step, past, _i);
        json_t *reply = exchange_reply(one);
        char *present = json_dumps(json_object_get(reply, "present"), JSON_REAL_PRECISION(17));
        snprintf(past, sizeof past, "\"past\":%s,", present);
        json_array_append_new(each, reply);
        free(present);
    }
    struct exchange whole = decode(strcat(body, "]}"));
    ck_assert_msg(whole.good, "%s: %s", whole.err.faults[0].name, whole.err.faults[0].text);
    ck_assert(json_equal(json_object_get(whole.reply, "steps"), each));
    json_decref(each);
    exchange_end(&whole);
}
END_TEST

/* Form B goes on too, and each step may ask for other things. */
START_TEST(steps_may_differ)
{
    struct exchange e =
        decode("{\"steps\":[{\"x\":[[1,2],[3,4]],\"w_q\":[[1],[0]],\"w_k\":[[0],[1]],\"w_v\":[[1],[1]]},"
               "{\"x\":[[5,6]],\"w_q\":[[1],[0]],\"w_k\":[[0],[1]],\"w_v\":[[1],[1]],"
               "\"backward\":{\"cell\":{\"query\":0,\"feature\":0}},"
               "\"include\":[\"present_new\",\"gradients.past\"]}]}");
    ck_assert_msg(e.good, "%s: %s", e.err.faults[0].name, e.err.faults[0].text);
    ck_assert_ptr_nonnull(exchange_at(e.reply, "steps.0.output"));
    exchange_near(e.reply, "steps.1.present_new.k", "[[6]]", 0);
    ck_assert_uint_eq(json_array_size(exchange_at(e.reply, "steps.1.gradients.past.k")), 2);
    exchange_end(&e);
}
END_TEST

static const struct {
    const char *body, *name, *part;
} refusals[] = {
    {"{}", "", "steps"},
    {"{\"steps\":[]}", "steps", "must be a list of requests"},
    {"{\"steps\":[{\"q\":[[1]],\"k\":[[1]],\"v\":[[1]]},{\"q\":[[1,2]],\"k\":[[1,2]],\"v\":[[1]]}]}", "steps.1.past.k",
     "a past of this request"},
    {"{\"steps\":[{\"q\":[[1]],\"k\":[[1]],\"v\":[[1]]},{\"q\":[[1]],\"k\":[[1]],\"v\":[[1]],\"past\":{\"k\":[[1]],"
     "\"v\":[[1]]}}]}",
     "steps.1.past", "only the first step"},
    {"{\"steps\":[{\"q\":[[1]],\"k\":[[1]],\"v\":[[1]]},{\"dtype\":\"float32\",\"q\":[[1]],\"k\":[[1]],\"v\":[[1]]}]}",
     "steps.1.dtype", "the first"},
    {"{\"steps\":[{\"q\":[[1]],\"k\":[[1]],\"v\":[[1]]},{\"x\":[[1,2]],\"latent\":{\"w_dkv\":[[1],[0]],"
     "\"w_kr\":[[1,0],[0,1]],\"w_uk\":[[1]],\"w_uv\":[[2]],\"w_q\":[[1,0,0],[0,1,0]]}}]}",
     "steps.1.past.k", "another form"},
    {"{\"steps\":[{\"q\":[[1]],\"k\":[[1]],\"v\":[[1]],\"scal\":1}]}", "/steps/0/scal", "scale"},
    {"{\"steps\":[{\"q\":[[1e300]],\"k\":[[1e300]],\"v\":[[1]]}]}", "steps.0", "overflows"},
};

START_TEST(what_does_not_follow_is_refused)
{
    struct exchange e = decode(refusals[_i].body);
    ck_assert(!e.good);
    ck_assert_msg(strcmp(e.err.faults[0].name, refusals[_i].name) == 0 &&
                      strstr(e.err.faults[0].text, refusals[_i].part) != NULL,
                  "%s: %s", e.err.faults[0].name, e.err.faults[0].text);
    exchange_end(&e);
}
END_TEST

/* What two steps hold together, and their text. */
START_TEST(memory_of_all_steps_is_priced)
{
    static const size_t limits[] = {700000, 1400000, 8000000};
    enum { KEYS = 10000 };
    char *body = malloc(2 * KEYS * 4 + 400), *at = body;
    at += sprintf(at, "{\"steps\":[{\"q\":[[1]]");
    for (int name = 0; name < 2; name++) {
        at += sprintf(at, ",\"%c\":[[1]", "kv"[name]);
        for (size_t j = 1; j < KEYS; j++)
            at += sprintf(at, ",[1]");
        *at++ = ']';
    }
    sprintf(at, "},{\"q\":[[1]],\"k\":[[2]],\"v\":[[2]]}]}");
    struct exchange e = exchange_run(body, (struct exchange_how){.kind = JOB_DECODE, .limits.memory = limits[_i]});
    ck_assert_msg(e.good == (_i == 2), "%s", e.err.faults[0].text);
    if (!e.good) {
        ck_assert_int_eq(e.err.code, ERROR_TOO_LARGE);
        ck_assert_ptr_nonnull(strstr(e.err.faults[0].text, "This request would take "));
    }
    exchange_end(&e);
    free(body);
}
END_TEST

Suite *steps_suite(void);

Suite *steps_suite(void)
{
    Suite *suite = suite_create("steps");
    TCase *tests = tcase_create("all");
    tcase_set_timeout(tests, 30);
    tcase_add_loop_test(tests, steps_equal_requests_to_the_bit, 0, 2);
    tcase_add_loop_test(tests, latent_steps_equal_requests_to_the_bit, 0, 4);
    tcase_add_test(tests, steps_may_differ);
    tcase_add_loop_test(tests, what_does_not_follow_is_refused, 0, sizeof refusals / sizeof *refusals);
    tcase_add_loop_test(tests, memory_of_all_steps_is_priced, 0, 3);
    suite_add_tcase(suite, tests);
    return suite;
}
