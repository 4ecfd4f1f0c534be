/* Limits that the operator sets: each holds, and the sentence has the numbers. */
#include "tests/api/exchange.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

static struct exchange run_limited(const char *more, struct request_limits limits)
{
    char body[400];
    snprintf(body, sizeof body, "{\"q\":[[1,0],[0,2]],\"k\":[[1,0],[0,1],[1,1]],\"v\":[[1],[2],[3]]%s}", more);
    return exchange_run(body, (struct exchange_how){.limits = limits});
}

START_TEST(tensors_past_the_limit)
{
    struct exchange x = run_limited("", (struct request_limits){.elements = 12});
    ck_assert_int_eq(x.err.code, ERROR_TOO_LARGE);
    ck_assert_ptr_nonnull(strstr(x.err.faults[0].text, "13 numbers; the limit is 12"));
    exchange_end(&x);
    x = run_limited("", (struct request_limits){.elements = 13});
    ck_assert(x.good);
    exchange_end(&x);
}
END_TEST

/* P = 6 pairs of width 2, values of width 1: 2 P 2 + 6 P + 2 P */
START_TEST(operations_past_the_limit)
{
    struct exchange x = run_limited(",\"include\":[\"cost\"]", (struct request_limits){.flops = 72});
    ck_assert_msg(x.good, "%s", x.err.faults[0].text);
    ck_assert_double_eq(json_number_value(exchange_at(x.reply, "cost.request.flops.total")), 72);
    exchange_end(&x);
    x = run_limited("", (struct request_limits){.flops = 71});
    ck_assert_int_eq(x.err.code, ERROR_TOO_LARGE);
    ck_assert_ptr_nonnull(strstr(x.err.faults[0].text, "72 floating-point operations; the limit is 71 (--max-flops)"));
    exchange_end(&x);
}
END_TEST

START_TEST(operations_of_a_merge_past_the_limit)
{
    const char *body =
        "{\"parts\":[{\"output\":[[1,2]],\"log_sum_exp\":[0]},{\"output\":[[3,4]],\"log_sum_exp\":[0]}]}";
    struct exchange x = exchange_run(body, (struct exchange_how){.kind = JOB_MERGE, .limits = {.flops = 1}});
    ck_assert_int_eq(x.err.code, ERROR_TOO_LARGE);
    ck_assert_ptr_nonnull(strstr(x.err.faults[0].text, "the limit is 1 (--max-flops)"));
    exchange_end(&x);
}
END_TEST

/* Whatever is wrong and however often: the first faults are told. */
static const struct {
    enum job_kind kind;
    const char *before, *again, *after;
} floods[] = {{JOB_ATTENTION, "{\"q\":[[1]],\"k\":[[1]],\"v\":[[1]],\"include\":[\"a\"", ",\"weightz\"", "]}"},
              {JOB_ATTENTION, "{\"q\":[[1]],\"k\":[[1]],\"v\":[[1]]", ",\"m%zu\":1", "}"},
              {JOB_MERGE, "{\"parts\":[{\"x\":1}", ",{\"x\":1}", "]}"}};

START_TEST(a_flood_of_faults_is_cut)
{
    struct buffer body = buffer_new(SIZE_MAX);
    buffer_string(&body, floods[_i].before);
    for (size_t x = 0; x < 5000; x++) {
        char again[40];
        snprintf(again, sizeof again, floods[_i].again, x);
        buffer_string(&body, again);
    }
    buffer_string(&body, floods[_i].after);
    buffer_append(&body, "", 1);
    struct exchange x = exchange_run(body.data, (struct exchange_how){.kind = floods[_i].kind});
    ck_assert_int_eq(x.err.code, ERROR_INVALID);
    ck_assert(error_is_full(&x.err));
    exchange_end(&x);
    buffer_free(&body);
}
END_TEST

START_TEST(a_packed_tensor_is_priced_before_memory_is_taken)
{
    struct exchange x =
        run_limited(",\"past\":{\"k\":{\"dtype\":\"float32\",\"shape\":[1000000,1000000],\"base64\":\"\"},"
                    "\"v\":[[1]]}",
                    (struct request_limits){.elements = 1000});
    ck_assert_int_eq(x.err.code, ERROR_TOO_LARGE);
    ck_assert_ptr_nonnull(strstr(x.err.faults[0].text, "the limit is 1000"));
    exchange_end(&x);
}
END_TEST

/* What is asked for, the numbers of the reply, and what the sentence tells to leave out. */
static const struct {
    const char *members;
    size_t numbers;
    const char *drop;
    const char *name; /* where that is said */
} replies[] = {
    {"", 8, "Leave weights out", "include"},
    {",\"include\":[\"output\"]", 2, "Leave output out", "include"},
    {",\"include\":[\"output\",\"steps\",\"steps.products\"]", 54, "Leave steps out of include: it has 40.", "include"},
    {",\"include\":[\"steps\"]", 40, "Leave steps out", "include"},
    {",\"include\":[\"steps.products\",\"steps.exp\"]", 18, "Leave steps.products out of include: it has 12.",
     "include"},
    {",\"include\":[\"steps.exp\"]", 6, "Leave steps.exp out", "include"},
    {",\"include\":[\"present\"]", 9, "Leave present out", "include"},
    {",\"include\":[\"quantization\"],\"quantize\":{\"k\":{\"method\":\"affine\",\"bits\":2}}", 29,
     "quantize always brings quantization, which has 19: leave quantize out, or send fewer tokens.", "quantize"},
};

START_TEST(replies_past_the_limit)
{
    char numbers[40];
    struct exchange x =
        run_limited(replies[_i].members, (struct request_limits){.reply_elements = replies[_i].numbers});
    ck_assert_msg(x.good, "%s", x.err.faults[0].text);
    exchange_end(&x);
    x = run_limited(replies[_i].members, (struct request_limits){.reply_elements = replies[_i].numbers - 1});
    snprintf(numbers, sizeof numbers, "hold %zu numbers; the limit is %zu", replies[_i].numbers,
             replies[_i].numbers - 1);
    ck_assert_int_eq(x.err.code, ERROR_TOO_LARGE);
    ck_assert_str_eq(x.err.faults[0].name, replies[_i].name);
    ck_assert_msg(strstr(x.err.faults[0].text, numbers) && strstr(x.err.faults[0].text, replies[_i].drop), "%s",
                  x.err.faults[0].text);
    exchange_end(&x);
}
END_TEST

START_TEST(memory_past_the_limit)
{
    struct exchange x = run_limited("", (struct request_limits){.memory = 500});
    ck_assert(!x.good);
    ck_assert_int_eq(x.err.code, ERROR_TOO_LARGE);
    exchange_end(&x);
}
END_TEST

START_TEST(text_of_long_rows_is_priced)
{
    static const struct exchange_how ways[] = {{.kind = JOB_EXPLAIN}, {.format = JOB_TEXT}, {.kind = JOB_ATTENTION}};
    struct buffer body = buffer_new(SIZE_MAX);
    buffer_string(&body, "{\"q\":[[1]],\"k\":[[1]");
    for (size_t j = 1; j < 20000; j++)
        buffer_string(&body, ",[1]");
    buffer_string(&body, "],\"v\":[[1]");
    for (size_t j = 1; j < 20000; j++)
        buffer_string(&body, ",[1]");
    buffer_string(&body, _i == 0 ? "],\"cell\":{\"query\":0,\"key\":0}}" : "]}");
    buffer_append(&body, "", 1);
    struct exchange_how how = ways[_i];
    how.limits.memory = 2500000;
    struct exchange x = exchange_run(body.data, how);
    ck_assert(x.good == (_i == 2));
    if (!x.good) {
        ck_assert_int_eq(x.err.code, ERROR_TOO_LARGE);
        ck_assert_ptr_nonnull(strstr(x.err.faults[0].text, "for the text; the limit is 2500000 (--request-memory)"));
    }
    exchange_end(&x);
    buffer_free(&body);
}
END_TEST

/* What stands outside arrays of numbers is held three times while it is read. */
static struct exchange run_string(size_t length)
{
    struct buffer body = buffer_new(SIZE_MAX);
    buffer_string(&body, "{\"q\":\"");
    for (size_t x = 0; x < length; x++)
        buffer_append(&body, "x", 1);
    buffer_append(&body, "\"}", 3);
    struct exchange x = exchange_run(body.data, (struct exchange_how){.limits.memory = 4000000});
    buffer_free(&body);
    return x;
}

START_TEST(text_outside_matrices_is_priced)
{
    static const size_t lengths[] = {1000000, 1500000, 5000000};
    struct exchange x = run_string(lengths[_i]);
    ck_assert(!x.good);
    ck_assert_int_eq(x.err.code, _i == 0 ? ERROR_INVALID : ERROR_TOO_LARGE);
    exchange_end(&x);
}
END_TEST

/* Such a text is short, and what it draws as long as it likes: it is not for a thread that serves others. */
START_TEST(a_text_that_may_draw_is_known_before_it_is_read)
{
    static const struct {
        const char *text;
        bool draws;
    } texts[] = {
        {"", false},
        {"{\"q\":[[1]],\"k\":[[1]],\"v\":[[1]]}", false},
        {"{\"q\":{\"normal\":{},\"shape\":[1,1]}", true},
        {"{\"q\":{\"\\u006eormal\":{},\"shape\":[1,1]}", true},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct buffer body = buffer_new(64);
        buffer_append(&body, texts[i].text, strlen(texts[i].text));
        ck_assert_int_eq(job_may_draw(&body), texts[i].draws);
        buffer_free(&body);
    }
}
END_TEST

static void append_ones(struct buffer *body, const char *name, size_t count)
{
    buffer_format(body, "\"%s\":[[1]", name);
    for (size_t j = 1; j < count; j++)
        buffer_string(body, ",[1]");
    buffer_string(body, "],");
}

static struct exchange run_long(size_t keys, const char *options, size_t memory)
{
    struct buffer body = buffer_new(SIZE_MAX);
    buffer_string(&body, "{\"q\":[[0],[0]],");
    append_ones(&body, "k", keys);
    append_ones(&body, "v", keys);
    buffer_format(&body, "\"variant\":\"linear\",\"include\":[\"weights\"]%s}", options);
    buffer_append(&body, "", 1);
    struct exchange x = exchange_run(body.data, (struct exchange_how){.limits.memory = memory});
    buffer_free(&body);
    return x;
}

/* Two rows of 300,000 are 4.8 MB as they came; one row of scratch is 2.7 MB. */
START_TEST(scratch_is_priced)
{
    struct exchange x = run_long(300000, "", 5000000);
    ck_assert(!x.good);
    ck_assert_int_eq(x.err.code, ERROR_TOO_LARGE);
    ck_assert_ptr_nonnull(strstr(x.err.faults[0].text, " of scratch, "));
    ck_assert_ptr_nonnull(strstr(x.err.faults[0].text, "the limit is 5000000 (--request-memory)"));
    exchange_end(&x);
    x = run_long(300000, "", 12000000);
    ck_assert_msg(x.good, "%s", x.err.faults[0].text);
    exchange_end(&x);
}
END_TEST

/* Numbers that take a few bytes to send. */
static void append_normal(struct buffer *body, const char *name, size_t rows, size_t columns)
{
    buffer_format(body, "\"%s\":{\"normal\":{},\"shape\":[%zu,%zu]},", name, rows, columns);
}

#define HEADS 4
static const struct {
    size_t rows, past;
    const char *members;
} latents[] = {
    {20, 1, "\"dtype\":\"float64\""},
    {40, 60, "\"dtype\":\"float64\",\"include\":[\"gradients\"]"},
    {10, 700, "\"dtype\":\"float64\",\"include\":[\"gradients.x\"]"},
    {10, 700, "\"dtype\":\"float32\",\"include\":[\"gradients.w_uk\"]"},
};

static struct exchange run_latent(size_t index, bool absorbed, size_t memory)
{
    struct buffer body = buffer_new(SIZE_MAX);
    buffer_string(&body, "{");
    append_normal(&body, "x", latents[index].rows, 8);
    buffer_format(&body, "\"heads\":%d,\"latent\":{\"form\":\"%s\",\"norm\":\"rms\",", HEADS,
                  absorbed ? "absorbed" : "expanded");
    append_normal(&body, "w_dkv", 8, 12);
    append_normal(&body, "w_kr", 8, 4);
    append_normal(&body, "w_uk", 12, (size_t)HEADS * 6);
    append_normal(&body, "w_uv", 12, (size_t)HEADS * 5);
    append_normal(&body, "w_dq", 8, 14);
    append_normal(&body, "w_uq", 14, (size_t)HEADS * 10);
    body.length--;
    buffer_string(&body, "},\"past\":{");
    append_normal(&body, "latent", latents[index].past, 12);
    append_normal(&body, "rope_key", latents[index].past, 4);
    body.length--;
    buffer_format(&body, "},\"backward\":{\"cell\":{\"query\":1,\"feature\":0}},%s}", latents[index].members);
    buffer_append(&body, "", 1);
    struct exchange x = exchange_run(body.data, (struct exchange_how){.limits.memory = memory});
    buffer_free(&body);
    return x;
}

/* As soon as the request itself fits, every limit that is too low is told before anything is computed. */
START_TEST(memory_of_a_latent_way_back_is_priced)
{
    bool good = false;
    bool priced = false;
    for (size_t memory = 100000; !good; memory += memory / 12) {
        struct exchange x = run_latent((size_t)_i / 2, _i % 2, memory);
        bool told = !x.good && strstr(x.err.faults[0].text, "This request would take ") != NULL;
        good = x.good;
        if (!good && !told && (priced || !strstr(x.err.faults[0].text, "needs a block")))
            ck_abort_msg("limit %zu: %s: %s", memory, x.err.faults[0].name, x.err.faults[0].text);
        priced |= told;
        exchange_end(&x);
        ck_assert_uint_lt(memory, 64 << 20);
    }
    ck_assert(priced);
}
END_TEST

/* Longer than a block may be: cut, and whole again in the reply. */
START_TEST(long_rows_are_cut_into_blocks)
{
    const size_t keys = 300001;
    struct exchange x = run_long(keys, "", 0);
    ck_assert_uint_ge(x.blocks, 4);
    for (size_t row = 0; row < 2; row++)
        ck_assert_uint_eq(json_array_size(json_array_get(exchange_at(x.reply, "weights"), row)), keys);
    exchange_end(&x);
    x = run_long(keys, ",\"encoding\":\"base64\"", 0);
    ck_assert_msg(x.good, "%s", x.err.faults[0].text);
    const char *packed = json_string_value(exchange_at(x.reply, "weights.base64"));
    ck_assert_uint_eq(strlen(packed), (2 * keys * sizeof(double) + 2) / 3 * 4);
    ck_assert_uint_eq(strspn(packed, "A"), strlen(packed) - (2 * keys * sizeof(double) % 3 == 2 ? 1 : 2));
    exchange_end(&x);
}
END_TEST

Suite *limits_suite(void);

Suite *limits_suite(void)
{
    Suite *suite = suite_create("limits");
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, tensors_past_the_limit);
    tcase_add_test(tests, operations_past_the_limit);
    tcase_add_test(tests, operations_of_a_merge_past_the_limit);
    tcase_add_loop_test(tests, a_flood_of_faults_is_cut, 0, 3);
    tcase_add_test(tests, a_packed_tensor_is_priced_before_memory_is_taken);
    tcase_add_loop_test(tests, replies_past_the_limit, 0, (int)(sizeof replies / sizeof *replies));
    tcase_add_test(tests, memory_past_the_limit);
    tcase_add_loop_test(tests, text_of_long_rows_is_priced, 0, 3);
    tcase_add_loop_test(tests, text_outside_matrices_is_priced, 0, 3);
    tcase_add_test(tests, a_text_that_may_draw_is_known_before_it_is_read);
    tcase_add_test(tests, scratch_is_priced);
    tcase_add_loop_test(tests, memory_of_a_latent_way_back_is_priced, 0, 2 * sizeof latents / sizeof *latents);
    tcase_add_test(tests, long_rows_are_cut_into_blocks);
    suite_add_tcase(suite, tests);
    return suite;
}
