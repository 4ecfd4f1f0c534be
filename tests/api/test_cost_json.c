/* The bill: counted by hand for small sizes, and the published ratios of the cache. */
#include "tests/api/exchange.h"

#include <check.h>
#include <stdio.h>

static void check_number(const json_t *reply, const char *path, double expected)
{
    char full[200];
    snprintf(full, sizeof full, "cost.%s", path);
    double found = json_number_value(exchange_at(reply, full));
    ck_assert_msg(found == expected, "%s is %.17g, not %.17g", path, found, expected);
}

/* b 1, H 4, G 2, n 2, m 3, d 2, e 1: P = 24 pairs. */
#define GROUPED \
    "{\"q\":[[[1,0],[0,1]],[[1,0],[0,1]],[[1,0],[0,1]],[[1,0],[0,1]]]," \
    "\"k\":[[[1,0],[0,1],[1,1]],[[1,0],[0,1],[1,1]]],\"v\":[[[1],[2],[3]],[[1],[2],[3]]],\"include\":[\"cost\"]%s}"

static json_t *bill(const char *members)
{
    char body[600];
    snprintf(body, sizeof body, GROUPED, members);
    return exchange_reply(body);
}

START_TEST(steps_of_plain_attention)
{
    json_t *r = bill("");
    check_number(r, "request.heads", 4);
    check_number(r, "request.kv_heads", 2);
    check_number(r, "request.flops.scores", 2 * 24 * 2);
    check_number(r, "request.flops.scaled", 24);
    check_number(r, "request.flops.row_max", 24);
    check_number(r, "request.flops.shifted", 24);
    check_number(r, "request.flops.exp", 24);
    check_number(r, "request.flops.row_sum", 24);
    check_number(r, "request.flops.weights", 24);
    check_number(r, "request.flops.output", 2 * 24 * 1);
    check_number(r, "request.flops.total", 96 + 6 * 24 + 48);
    ck_assert_uint_eq(json_object_size(exchange_at(r, "cost.request.flops")), 9);
    check_number(r, "request.score_bytes.float32", 24 * 4);
    check_number(r, "request.score_bytes.float16", 24 * 2);
    check_number(r, "request.score_bytes.int8", 24);
    json_decref(r);
}
END_TEST

START_TEST(options_add_their_steps)
{
    json_t *r = bill(",\"softcap\":2,\"mask\":{\"bias\":[[0,0,0]],\"alibi\":true},\"dropout\":{\"p\":0.5},\"rope\":{}");
    check_number(r, "request.flops.capped", 3 * 24);
    check_number(r, "request.flops.biased", 4 * 24);
    check_number(r, "request.flops.dropped", 24);
    check_number(r, "request.flops.rope", 3 * 2 * (2 * 4 + 3 * 2));
    check_number(r, "multi_head.flops.rope", 3 * 2 * (2 * 4 + 3 * 4));
    json_decref(r);
    r = exchange_reply(
        "{\"x\":[[1,2,3],[4,5,6]],\"w_q\":[[1],[1],[1]],\"w_k\":[[1],[1],[1]],\"w_v\":[[1,1],[1,1],[1,1]],"
        "\"w_o\":[[1,2,3,4],[1,2,3,4]],\"include\":[\"cost\"]}");
    check_number(r, "request.flops.projections", 2 * 2 * 3 * (1 + 1 + 2));
    check_number(r, "request.flops.output_projection", 2 * 2 * 2 * 4);
    json_decref(r);
    r = bill(",\"variant\":\"linear\"");
    check_number(r, "request.flops.output", 4 * (2 * 3 * 2 * 1 + 2 * 2 * 2 * 1));
    check_number(r, "request.flops.scaled", 4 * 2 * 1);
    check_number(r, "request.flops.total", 80 + 8);
    check_number(r, "request.score_bytes.float32", 0);
    json_decref(r);
}
END_TEST

START_TEST(cache_of_each_layout)
{
    json_t *r = bill("");
    check_number(r, "request.cache_bytes_per_token.float32", 2 * (2 + 1) * 4);
    check_number(r, "request.cache_bytes.float32", 3 * 24);
    check_number(r, "multi_head.cache_bytes_per_token.float16", 4 * 3 * 2);
    check_number(r, "multi_head.kv_heads", 4);
    check_number(r, "grouped_query.kv_heads", 2);
    check_number(r, "multi_query.kv_heads", 1);
    check_number(r, "multi_query.cache_bytes_per_token.int8", 3);
    check_number(r, "latent.latent_width", 8);
    check_number(r, "latent.rotary_width", 1);
    check_number(r, "latent.cache_bytes_per_token.float16", (8 + 1) * 2);
    check_number(r, "latent.cache_bytes.float16", 3 * 9 * 2);
    check_number(r, "latent.flops.scores", 2 * 24 * (8 + 1));
    check_number(r, "latent.flops.output", 2 * 24 * 8);
    json_decref(r);
}
END_TEST

/* Seven rows, three heads, nine columns: nothing of it is a binary fraction. */
START_TEST(every_count_is_a_whole_number)
{
    json_t *r = exchange_reply("{\"x\":[[1]],\"context\":[[1],[1],[1],[1],[1],[1],[1]],\"w_q\":[[1,1,1]],"
                               "\"w_k\":[[1,1,1]],\"w_v\":[[1,1,1,1,1,1]],\"heads\":3,\"include\":[\"cost\"]}");
    check_number(r, "multi_head.flops.projections", 2 * 3 + 2 * 7 * (3 + 6));
    check_number(r, "grouped_query.flops.projections", 48);
    check_number(r, "multi_query.flops.projections", 48);
    check_number(r, "latent.flops.projections", 48);
    json_decref(r);
}
END_TEST

/* d = 4 of "the cat": 16 + 2 numbers. */
START_TEST(latent_cache_of_the_cat)
{
    json_t *r = exchange_reply("{\"q\":[[0.3,-0.2,0.5,0.1]],\"k\":[[-0.4,-0.3,0.2,1.2]],"
                               "\"v\":[[-0.5,-0.4,0.1,1.1]],\"include\":[\"cost\"]}");
    check_number(r, "latent.cache_bytes_per_token.float16", 36);
    json_decref(r);
}
END_TEST

/* Without groups in the request: the largest divisor of H up to its root. */
static const struct {
    size_t heads, groups;
} divisors[] = {{1, 1}, {2, 1}, {3, 1}, {4, 2}, {6, 2}, {8, 2}, {12, 3}, {16, 4}, {7, 1}};

START_TEST(groups_beside_multi_head)
{
    struct buffer body = buffer_new(SIZE_MAX);
    buffer_format(&body, "{\"heads\":%zu,\"include\":[\"cost\"]", divisors[_i].heads);
    for (const char *name = "qkv"; *name; name++) {
        buffer_format(&body, ",\"%c\":[[1", *name);
        for (size_t h = 1; h < divisors[_i].heads; h++)
            buffer_string(&body, ",1");
        buffer_string(&body, "]]");
    }
    buffer_append(&body, "}", 2);
    json_t *r = exchange_reply(body.data);
    check_number(r, "grouped_query.kv_heads", (double)divisors[_i].groups);
    check_number(r, "multi_head.cache_bytes_per_token.int8", 2 * (double)divisors[_i].heads);
    json_decref(r);
    buffer_free(&body);
}
END_TEST

/* --- a model --- */

static void add_zeros(struct buffer *body, const char *name, int count)
{
    buffer_format(body, "\"%s\":[[0", name);
    for (int x = 1; x < count; x++)
        buffer_string(body, ",0");
    buffer_string(body, "]],");
}

/* 32 layers of 32 heads of 128 on 8, 32768 tokens of 2 bytes a number: 17.18 GB, grouped 4.29 GB, as published. */
START_TEST(a_model_as_published)
{
    struct buffer body = buffer_new(SIZE_MAX);
    buffer_string(&body, "{");
    add_zeros(&body, "q", 4096);
    add_zeros(&body, "k", 1024);
    add_zeros(&body, "v", 1024);
    buffer_append(
        &body,
        "\"heads\":32,\"kv_heads\":8,\"include\":[\"output\"],\"cost\":{\"layers\":32,\"context\":32768,"
        "\"memory_bytes\":8e10}}",
        sizeof "\"heads\":32,\"kv_heads\":8,\"include\":[\"output\"],\"cost\":{\"layers\":32,\"context\":32768,"
               "\"memory_bytes\":8e10}}");
    json_t *r = exchange_reply(body.data);
    check_number(r, "multi_head.cache_bytes", 17179869184);
    check_number(r, "multi_head.sequences_that_fit", 4);
    check_number(r, "grouped_query.cache_bytes", 4294967296);
    check_number(r, "grouped_query.sequences_that_fit", 18);
    check_number(r, "request.cache_bytes", 4294967296);
    check_number(r, "request.numbers_per_token", 2048);
    check_number(r, "latent.latent_width", 512);
    check_number(r, "latent.rotary_width", 64);
    check_number(r, "latent.numbers_per_token", 576);
    check_number(r, "latent.bytes_per_token", 576 * 32 * 2);
    json_decref(r);
    buffer_free(&body);
}
END_TEST

/* 48 layers of 24 heads of 86, 8192 tokens of 2 bytes a number: 3.25 GB, as published. */
START_TEST(a_second_model_as_published)
{
    struct buffer body = buffer_new(SIZE_MAX);
    buffer_string(&body, "{");
    for (const char *name = "qkv"; *name; name++)
        add_zeros(&body, (const char[]){*name, 0}, 24 * 86);
    buffer_string(&body, "\"heads\":24,\"include\":[\"output\"],\"cost\":{\"layers\":48,\"context\":8192}}");
    buffer_append(&body, "", 1);
    json_t *r = exchange_reply(body.data);
    check_number(r, "multi_head.cache_bytes", 3246391296);
    json_decref(r);
    buffer_free(&body);
}
END_TEST

/* DeepSeek-V3: 128 heads of 128. A latent cache keeps 576 numbers a token and layer, multi-head keys and values 32768.
 */
START_TEST(the_latent_cache_as_published)
{
    struct buffer body = buffer_new(SIZE_MAX);
    buffer_string(&body, "{");
    for (const char *name = "qkv"; *name; name++)
        add_zeros(&body, (const char[]){*name, 0}, 128 * 128);
    buffer_string(&body, "\"heads\":128,\"include\":[\"cost\"]}");
    buffer_append(&body, "", 1);
    json_t *r = exchange_reply(body.data);
    check_number(r, "multi_head.numbers_per_token", 32768);
    check_number(r, "request.numbers_per_token", 32768);
    check_number(r, "latent.numbers_per_token", 576);
    check_number(r, "latent.cache_bytes_per_token.float16", 1152);
    json_decref(r);
    buffer_free(&body);
}
END_TEST

/* the-cat: d_k 4, so 16 + 2 numbers a token, 36 bytes in 16 bits */
START_TEST(a_latent_cache_of_a_narrow_head)
{
    json_t *r = exchange_reply("{\"q\":[[1,1,1,1]],\"k\":[[1,1,1,1]],\"v\":[[1,1,1,1]],\"include\":[\"cost\"]}");
    check_number(r, "latent.numbers_per_token", 18);
    check_number(r, "latent.cache_bytes_per_token.float16", 36);
    json_decref(r);
}
END_TEST

/* One head as wide as four: the same products, a quarter of the exponentials, the same cache. */
START_TEST(heads_cost_no_products)
{
    json_t *r = bill("");
    check_number(r, "single_head.heads", 1);
    check_number(r, "single_head.flops.scores", 2 * 24 * 2);
    check_number(r, "single_head.flops.output", 2 * 24 * 1);
    check_number(r, "single_head.flops.exp", 6);
    check_number(r, "single_head.numbers_per_token", 4 * (2 + 1));
    check_number(r, "multi_head.numbers_per_token", 4 * (2 + 1));
    ck_assert_str_eq(json_string_value(exchange_at(r, "cost.multi_query.formula")), "d_k + d_v");
    json_decref(r);
}
END_TEST

/* The request's own widths, and the products of its form. */
START_TEST(latent_requests_have_their_own_bill)
{
    static const char form[] =
        "{\"x\":[[1,2]],\"heads\":2,\"latent\":{\"w_dkv\":[[1,0,1],[0,1,1]],\"w_kr\":[[1,0],[0,1]],"
        "\"w_uk\":[[1,1],[1,1],[1,1]],\"w_uv\":[[1,1],[1,1],[1,1]],\"w_q\":[[1,1,1,1,1,1],"
        "[1,1,1,1,1,1]],\"form\":\"%s\"},\"include\":[\"cost\"]}";
    char body[400];
    for (int absorbed = 0; absorbed < 2; absorbed++) {
        snprintf(body, sizeof body, form, absorbed ? "absorbed" : "expanded");
        json_t *r = exchange_reply(body);
        check_number(r, "request.numbers_per_token", 3 + 2);
        check_number(r, "request.flops.scores", 2 * 2 * (absorbed ? 5 : 3));
        check_number(r, "request.flops.projections", 2 * (12 + 6 + 4 + 6 + 6));
        ck_assert_str_eq(json_string_value(exchange_at(r, "cost.request.formula")), "d_c + d_r");
        json_decref(r);
    }
}
END_TEST

Suite *cost_json_suite(void);

Suite *cost_json_suite(void)
{
    Suite *suite = suite_create("bill");
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, steps_of_plain_attention);
    tcase_add_test(tests, options_add_their_steps);
    tcase_add_test(tests, cache_of_each_layout);
    tcase_add_test(tests, every_count_is_a_whole_number);
    tcase_add_test(tests, latent_cache_of_the_cat);
    tcase_add_loop_test(tests, groups_beside_multi_head, 0, (int)(sizeof divisors / sizeof *divisors));
    tcase_add_test(tests, a_model_as_published);
    tcase_add_test(tests, a_second_model_as_published);
    tcase_add_test(tests, the_latent_cache_as_published);
    tcase_add_test(tests, a_latent_cache_of_a_narrow_head);
    tcase_add_test(tests, heads_cost_no_products);
    tcase_add_test(tests, latent_requests_have_their_own_bill);
    suite_add_tcase(suite, tests);
    return suite;
}
