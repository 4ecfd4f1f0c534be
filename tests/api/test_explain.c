/* One cell told: it agrees with the steps of the whole, names what hides it, and reads as arithmetic. */
#include "tests/api/exchange.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct exchange explain(const char *body, enum job_format format)
{
    struct exchange x = exchange_run(body, (struct exchange_how){.kind = JOB_EXPLAIN, .format = format});
    ck_assert_msg(x.good, "%s: %s\n%s", x.err.faults[0].name, x.err.faults[0].text, body);
    ck_assert_uint_eq(x.blocks, 1);
    return x;
}

/* --- agreement with the steps, over random requests --- */

static unsigned state;

static size_t draw(size_t count)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % count;
}

static void append_numbers(struct buffer *out, const size_t *shape, size_t rank)
{
    if (rank == 0) {
        buffer_format(out, "%g", ((double)draw(4001) - 2000) / 1000);
        return;
    }
    for (size_t i = 0; i < shape[0]; i++) {
        buffer_string(out, i == 0 ? "[" : ",");
        append_numbers(out, shape + 1, rank - 1);
    }
    buffer_string(out, "]");
}

struct sizes {
    size_t b, h, g, n, m, d, e;
};

static void append_request(struct buffer *out, struct sizes s)
{
    static const char *const options[] = {
        "",
        ",\"mask\":\"causal\"",
        ",\"mask\":{\"causal\":true,\"align\":\"end\",\"empty_rows\":\"zero\"}",
        ",\"mask\":{\"window\":{\"left\":1,\"right\":1},\"alibi\":true,\"empty_rows\":\"zero\"},\"softcap\":1.5",
        ",\"dropout\":{\"p\":0.4,\"seed\":3},\"scale\":-0.7",
        ",\"rope\":{\"dims\":2},\"mask\":{\"bias\":[[0.5]]}",
        ",\"variant\":\"mask_after_softmax\",\"mask\":\"causal\"",
        ",\"variant\":\"linear\"",
    };
    const size_t q[] = {s.b, s.h, s.n, s.d};
    const size_t k[] = {s.b, s.g, s.m, s.d};
    const size_t v[] = {s.b, s.g, s.m, s.e};
    buffer_string(out, "{\"q\":");
    append_numbers(out, q, 4);
    buffer_string(out, ",\"k\":");
    append_numbers(out, k, 4);
    buffer_string(out, ",\"v\":");
    append_numbers(out, v, 4);
    buffer_string(out, options[draw(sizeof options / sizeof *options)]);
    buffer_string(out, draw(2) ? ",\"dtype\":\"float32\"" : "");
}

static void check_same(const json_t *whole, const char *step, const char *index, const json_t *told, const char *name)
{
    char path[100];
    const json_t *steps = exchange_at(whole, "steps");
    if (!json_object_get(steps, step)) {
        ck_assert_msg(!json_object_get(told, name), "%s is told", name);
        return;
    }
    snprintf(path, sizeof path, "steps.%s.%s", step, index);
    ck_assert_msg(json_equal(exchange_at(whole, path), exchange_at(told, name)), "%s differs", name);
}

static void check_terms(const json_t *whole, const char *cell, const json_t *told)
{
    char path[100];
    snprintf(path, sizeof path, "steps.contributions.%s", cell);
    ck_assert(json_equal(exchange_at(whole, path), exchange_at(told, "contribution")));
    snprintf(path, sizeof path, "steps.products.%s", cell);
    const json_t *products = exchange_at(whole, path);
    for (size_t t = 0; t < json_array_size(products); t++) {
        snprintf(path, sizeof path, "products.%zu.product", t);
        ck_assert(json_equal(json_array_get(products, t), exchange_at(told, path)));
    }
}

START_TEST(a_cell_agrees_with_the_steps)
{
    static const char *const per_key[][2] = {{"scores", "score"},  {"scaled", "scaled"},  {"capped", "capped"},
                                             {"biased", "biased"}, {"masked", "masked"},  {"shifted", "shifted"},
                                             {"exp", "exp"},       {"weights", "weight"}, {"dropped", "dropped"}};
    state = (unsigned)_i + 1;
    struct sizes s = {1 + draw(2), 0, 1 + draw(2), 1 + draw(6), 1 + draw(6), 2 + draw(4), 1 + draw(4)};
    s.h = s.g * (1 + draw(2));
    size_t b = draw(s.b), h = draw(s.h), i = draw(s.n), j = draw(s.m);
    struct buffer body = buffer_new(SIZE_MAX);
    char row[60];
    char cell[80];
    append_request(&body, s);
    struct buffer whole_body = buffer_new(SIZE_MAX);
    buffer_append(&whole_body, body.data, body.length);
    buffer_string(&whole_body, ",\"include\":[\"steps\",\"steps.products\",\"steps.contributions\"]}");
    buffer_append(&whole_body, "", 1);
    buffer_format(&body, ",\"cell\":{\"query\":%zu,\"key\":%zu,\"head\":%zu,\"batch\":%zu}}", i, j, h, b);
    buffer_append(&body, "", 1);
    snprintf(row, sizeof row, "%zu.%zu.%zu", b, h, i);
    snprintf(cell, sizeof cell, "%s.%zu", row, j);
    json_t *whole = exchange_reply(whole_body.data);
    struct exchange told = explain(body.data, JOB_JSON);
    for (size_t x = 0; x < sizeof per_key / sizeof *per_key; x++)
        check_same(whole, per_key[x][0], cell, told.reply, per_key[x][1]);
    check_same(whole, "row_max", row, told.reply, "row_max");
    check_same(whole, "row_sum", row, told.reply, "row_sum");
    check_terms(whole, cell, told.reply);
    json_decref(whole);
    exchange_end(&told);
    buffer_free(&body);
    buffer_free(&whole_body);
}
END_TEST

/* --- reasons --- */

static const struct {
    const char *mask;
    int query, key;
    const char *reasons;
} hidden[] = {
    {"\"none\"", 0, 2, "[]"},
    {"\"causal\"", 0, 1, "[\"causal\"]"},
    {"\"causal\"", 1, 1, "[]"},
    {"{\"causal\":true,\"query_offset\":1}", 0, 1, "[]"},
    {"{\"causal\":true,\"prefix\":2}", 0, 1, "[]"},
    {"{\"causal\":true,\"prefix\":2}", 0, 2, "[\"causal\"]"},
    {"{\"window\":{\"left\":0}}", 2, 1, "[\"window\"]"},
    {"{\"causal\":true,\"window\":{\"right\":1}}", 0, 2, "[\"causal\",\"window\"]"},
    {"{\"causal\":true,\"window\":{\"left\":0},\"key_lengths\":[2],\"empty_rows\":\"zero\"}", 1, 0, "[\"window\"]"},
    {"{\"key_lengths\":[2]}", 0, 2, "[\"key_lengths\"]"},
    {"{\"allow\":[[true,false,true]]}", 0, 1, "[\"allow\"]"},
    {"{\"bias\":[[0,null,0]],\"empty_rows\":\"zero\"}", 0, 1, "[\"bias\"]"},
    {"{\"bias\":[[0,-1e9,0]]}", 0, 1, "[]"},
    {"{\"documents\":[1,2,1],\"causal\":true}", 0, 1, "[\"documents\"]"},
    {"{\"documents\":[1,2,1],\"causal\":true}", 0, 2, "[\"causal\"]"},
    {"{\"documents\":[1,2,1],\"window\":{\"left\":1}}", 2, 0, "[]"},
    {"{\"documents\":[1,2,1],\"allow\":[[true,false,true]],\"key_lengths\":[1],\"bias\":[[0,null,0]],\"empty_rows\":"
     "\"zero\"}",
     0, 1, "[\"documents\",\"key_lengths\",\"allow\",\"bias\"]"},
};

START_TEST(what_hides_a_key_is_named)
{
    char body[400];
    snprintf(
        body, sizeof body,
        "{\"q\":[[1],[2],[3]],\"k\":[[1],[2],[3]],\"v\":[[1],[2],[3]],\"mask\":%s,\"cell\":{\"query\":%d,\"key\":%d}}",
        hidden[_i].mask, hidden[_i].query, hidden[_i].key);
    struct exchange x = explain(body, JOB_JSON);
    bool allowed = strcmp(hidden[_i].reasons, "[]") == 0;
    exchange_near(x.reply, "hidden_by", hidden[_i].reasons, 0);
    exchange_near(x.reply, "allowed", allowed ? "true" : "false", 0);
    if (!allowed)
        exchange_near(x.reply, "weight", "0", 0);
    exchange_end(&x);
}
END_TEST

/* --- the lines --- */

#define THE_CAT \
    "{\"tokens\":[\"the\",\"cat\"],\"q\":[[0.3,-0.2,0.5,0.1],[1.1,-0.8,0.2,0.3]]," \
    "\"k\":[[-0.4,-0.3,0.2,1.2],[1.6,-0.7,-0.4,-0.5]],\"v\":[[-0.5,-0.4,0.1,1.1],[1.2,-0.3,-0.2,-0.6]]," \
    "\"mask\":\"causal\",\"id\":\"x\",\"cell\":{\"query\":1,\"key\":0},\"decimals\":4}"

static const char the_cat_lines[] = "query 1 (cat) and key 0 (the)\n"
                                    "  cat . the = 1.1*-0.4 + -0.8*-0.3 + 0.2*0.2 + 0.3*1.2\n"
                                    "            = -0.4400 + 0.2400 + 0.0400 + 0.3600 = 0.2000\n"
                                    "  scaled        = 0.2000 * 0.5 = 0.1000   (1 / sqrt(4))\n"
                                    "  masked        = 0.1000   (visible)\n"
                                    "  row_max       = max(0.1000, 1.0450) = 1.0450\n"
                                    "  exp           = e^(0.1000 - 1.0450) = 0.3887\n"
                                    "  row_sum       = 0.3887 + 1.0000 = 1.3887\n"
                                    "  weight        = 0.3887 / 1.3887 = 0.2799\n"
                                    "  value         = [-0.5000 -0.4000 0.1000 1.1000]\n"
                                    "  contribution  = 0.2799 * value = [-0.1399 -0.1120 0.0280 0.3079]\n";

START_TEST(the_cat_in_lines)
{
    struct exchange x = explain(THE_CAT, JOB_TEXT);
    buffer_append(&x.text, "", 1);
    ck_assert_str_eq(x.text.data, the_cat_lines);
    ck_assert_str_eq(x.media_type, "text/plain; charset=utf-8");
    exchange_end(&x);
    x = explain(THE_CAT, JOB_JSON);
    ck_assert_str_eq(json_string_value(exchange_at(x.reply, "text")), the_cat_lines);
    ck_assert_str_eq(x.media_type, "application/json");
    exchange_near(x.reply, "labels", "{\"query\":\"cat\",\"key\":\"the\"}", 0);
    exchange_near(x.reply, "cell", "{\"query\":1,\"key\":0,\"head\":0,\"batch\":0}", 0);
    exchange_near(x.reply, "products.0", "{\"feature\":0,\"q\":1.1,\"k\":-0.4,\"product\":-0.44}", 1e-15);
    exchange_near(x.reply, "bias", "0", 0);
    exchange_near(x.reply, "id", "\"x\"", 0);
    exchange_end(&x);
}
END_TEST

static const struct {
    const char *members;
    const char *lines[5];
} told[] = {
    {"\"softcap\":2", {"capped        = 2 * tanh(0.707 / 2) = 0.679\n", "masked        = 0.679   (visible)\n"}},
    {"\"mask\":{\"bias\":[[-1,0]]}", {"biased        = 0.707 - 1.000 = -0.293\n"}},
    {"\"mask\":{\"bias\":[[null,0]]}",
     {"biased        = 0.707 + -inf = -inf\n", "masked        = -inf   (hidden by bias)\n"}},
    {"\"mask\":{\"key_lengths\":[0],\"empty_rows\":\"zero\"}",
     {"(hidden by key_lengths)\n", "weight        = 0.000   (this query may see no key)\n"}},
    {"\"sinks\":[3]", {"row_max       = max(0.707, 0.000, 3.000) = 3.000   (the sink last)\n"}},
    {"\"dropout\":{\"p\":0.9}", {"   (dropped)\n"}},
    {"\"dropout\":{\"p\":0}", {"(kept: weight / (1 - 0))\n"}},
    {"\"variant\":\"linear\"",
     {"weight        = 0.707   (no softmax)\n", "contribution  = 0.707 * value \xe2\x89\x88 "}},
    {"\"variant\":\"mask_after_softmax\",\"mask\":{\"allow\":[[false,true]]}",
     {"masked        = 0.707   (hidden by allow, after the softmax)\n", ", then hidden: 0.000\n"}},
    {"\"include\":[\"steps\",\"weights\"],\"encoding\":\"base64\"", {"weight        = "}},
};

START_TEST(options_are_told)
{
    char body[400];
    snprintf(body, sizeof body,
             "{\"q\":[[1,0]],\"k\":[[1,0],[0,1]],\"v\":[[1,2,3,4,5,6,7,8,9],[1,2,3,4,5,6,7,8,9]],\"cell\":{\"query\":0,"
             "\"key\":0},%s}",
             told[_i].members);
    struct exchange x = explain(body, JOB_TEXT);
    buffer_append(&x.text, "", 1);
    for (size_t l = 0; told[_i].lines[l]; l++)
        ck_assert_msg(strstr(x.text.data, told[_i].lines[l]), "no \"%s\" in\n%s", told[_i].lines[l], x.text.data);
    ck_assert_ptr_nonnull(strstr(x.text.data, " ... 1 more]\n"));
    exchange_end(&x);
}
END_TEST

static const struct {
    const char *members, *name, *part;
} wrong[] = {
    {"\"scale\":1", "", "lacks its member \"cell\""},
    {"\"cell\":{}", "cell", "lacks its member \"query\""},
    {"\"cell\":{\"query\":1,\"key\":0}", "cell.query", "is 1; there is 1 query"},
    {"\"cell\":{\"query\":0,\"key\":2}", "cell.key", "is 2; there are 2 keys"},
    {"\"cell\":{\"query\":0,\"key\":0,\"head\":1}", "cell.head", "is 1; there is 1 head"},
    {"\"cell\":{\"query\":0,\"key\":0,\"batch\":9007199254740991}", "cell.batch", "there is 1 batch"},
    {"\"cell\":{\"query\":-1,\"key\":0}", "cell.query", "is -1"},
    {"\"cell\":{\"query\":0.5,\"key\":0}", "cell.query", "is 0.5"},
    {"\"cell\":{\"query\":0,\"key\":0,\"row\":1}", "/cell/row", "no member"},
    {"\"cell\":[0,0]", "cell", "must be an object"},
};

START_TEST(cells_that_are_not_there)
{
    char body[300];
    snprintf(body, sizeof body, "{\"q\":[[1]],\"k\":[[1],[2]],\"v\":[[1],[2]],%s}", wrong[_i].members);
    struct exchange x = exchange_run(body, (struct exchange_how){.kind = JOB_EXPLAIN});
    ck_assert(!x.good);
    ck_assert_int_eq(x.err.code, ERROR_INVALID);
    ck_assert_str_eq(x.err.faults[0].name, wrong[_i].name);
    ck_assert_msg(strstr(x.err.faults[0].text, wrong[_i].part), "%s", x.err.faults[0].text);
    exchange_end(&x);
}
END_TEST

START_TEST(only_explain_knows_cells)
{
    exchange_refused("{\"q\":[[1]],\"k\":[[1]],\"v\":[[1]],\"cell\":{\"query\":0,\"key\":0}}", ERROR_INVALID, "/cell",
                     "no member \"cell\"");
}
END_TEST

Suite *explain_suite(void);

Suite *explain_suite(void)
{
    Suite *suite = suite_create("explain");
    TCase *tests = tcase_create("all");
    tcase_add_loop_test(tests, a_cell_agrees_with_the_steps, 0, 120);
    tcase_add_loop_test(tests, what_hides_a_key_is_named, 0, (int)(sizeof hidden / sizeof *hidden));
    tcase_add_test(tests, the_cat_in_lines);
    tcase_add_loop_test(tests, options_are_told, 0, (int)(sizeof told / sizeof *told));
    tcase_add_loop_test(tests, cells_that_are_not_there, 0, (int)(sizeof wrong / sizeof *wrong));
    tcase_add_test(tests, only_explain_knows_cells);
    suite_add_tcase(suite, tests);
    return suite;
}
