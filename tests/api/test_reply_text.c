/* Replies in plain text: the numbers of the worked examples, alignment, truthful elision, labels as data. */
#include "tests/api/exchange.h"

#include "api/layout/ramp.h"
#include "api/layout/token_label.h"
#include "api/openapi/examples.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ABOUT "\xe2\x89\x88"
#define THE_CAT \
    "\"tokens\":[\"the\",\"cat\"],\"q\":[[0.3,-0.2,0.5,0.1],[1.1,-0.8,0.2,0.3]]," \
    "\"k\":[[-0.4,-0.3,0.2,1.2],[1.6,-0.7,-0.4,-0.5]],\"v\":[[-0.5,-0.4,0.1,1.1],[1.2,-0.3,-0.2,-0.6]]," \
    "\"mask\":\"causal\""

/* The text with an end; the caller frees it. */
static char *print(const char *body)
{
    struct exchange x = exchange_run(body, (struct exchange_how){.format = JOB_TEXT});
    ck_assert_msg(x.good, "%s", x.err.faults[0].text);
    ck_assert_str_eq(x.media_type, "text/plain; charset=utf-8");
    ck_assert_uint_eq(x.blocks, 1);
    char *text = strndup(x.text.data, x.text.length);
    exchange_end(&x);
    return text;
}

/* Each stands in the text, one after the other. */
static void check_order(const char *text, const char *const *parts)
{
    const char *at = text;
    for (; *parts; parts++) {
        const char *found = strstr(at, *parts);
        ck_assert_msg(found, "no \"%s\" in\n%s", *parts, at);
        at = found + strlen(*parts);
    }
}

#define CHECK_ORDER(text, ...) check_order(text, (const char *const[]){__VA_ARGS__, NULL})

/* Every number that the example was published with, at its digits. */
START_TEST(the_cat_with_all_its_numbers)
{
    char *text = print("{" THE_CAT ",\"decimals\":4,\"include\":[\"output\",\"weights\",\"steps\"]}");
    CHECK_ORDER(text, "cat . the = 1.1*-0.4 + -0.8*-0.3 + 0.2*0.2 + 0.3*1.2\n",
                "= -0.4400 + 0.2400 + 0.0400 + 0.3600 = 0.2000\n");
    CHECK_ORDER(text, "cat . cat = ", "= 1.7600 + 0.5600 - 0.0800 - 0.1500 = 2.0900\n");
    CHECK_ORDER(text, "scores = q . k\n", "  the  0.1600  0.3700\n", "  cat  0.2000  2.0900\n",
                "scaled = scores * 0.5   (1 / sqrt(4))\n", "  the  0.0800  0.1850\n", "  cat  0.1000  1.0450\n",
                "masked = scaled, hidden keys -inf   (causal)\n", "  the  0.0800    -inf\n", "  cat  0.1000  1.0450\n");
    CHECK_ORDER(text, "Softmax of each query\n", "  cat:\n", "    the    0.1000    1.1052  0.2799\n",
                "    cat    1.0450    2.8434  0.7201\n", "    total            3.9486  1.0000\n", "Mix", "  cat:\n",
                "    0.2799 * the  -0.1399  -0.1120   0.0280   0.3079\n",
                "    0.7201 * cat   0.8641  -0.2160  -0.1440  -0.4321\n",
                "    sum            0.7242  -0.3280  -0.1160  -0.1242\n", "output = weights . v\n",
                "  cat   0.7242  -0.3280  -0.1160  -0.1242\n");
    free(text);
}
END_TEST

START_TEST(one_query_with_all_its_numbers)
{
    char *text = print("{\"q\":[[1,0]],\"k\":[[1,0],[0,1],[1,0]],\"v\":[[2,0],[0,2],[1,1]],\"decimals\":4,"
                       "\"include\":[\"output\",\"weights\",\"steps\"]}");
    CHECK_ORDER(text, "exp = e^shifted\n", "  q0  1.0000  0.4931  1.0000\n", "weights = exp / row_sum\n",
                "  q0  0.4011  0.1978  0.4011\n");
    free(text);
    text = print("{\"q\":[[1,0]],\"k\":[[1,0],[0,1],[1,0]],\"v\":[[2,0],[0,2],[1,1]],\"decimals\":4,"
                 "\"mask\":{\"allow\":[[true,true,false]]}}");
    CHECK_ORDER(text, "(allow)", "weights = exp / row_sum\n", "  q0  0.6698  0.3302  0.0000\n",
                "output = ", "  q0  1.3395  0.6605\n");
    free(text);
}
END_TEST

START_TEST(three_decimals_and_all_steps_by_default)
{
    char *text = print("{" THE_CAT "}");
    CHECK_ORDER(text, "Attention: 2 queries, 2 keys, d_k 4, d_v 4, float64\n", "scores = ", "scaled = ", "masked = ",
                "row_max = ", "shifted = ", "exp = ", "row_sum = ", "weights = ", "  cat  0.280  0.720\n",
                "output = ", "  cat   0.724  -0.328  -0.116  -0.124\n");
    ck_assert_ptr_null(strstr(text, "capped"));
    free(text);
    text = print("{" THE_CAT ",\"include\":[\"output\"],\"id\":\"a\\u001b[1mb\"}");
    CHECK_ORDER(text, "id a\xef\xbf\xbd[1mb\n", "Softmax of each query", "Mix", "output = weights . v\n");
    ck_assert_ptr_null(strstr(text, "scores = "));
    free(text);
}
END_TEST

/* --- layout --- */

static struct buffer write_request(size_t n, size_t m, size_t heads, const char *members)
{
    static const char names[] = "qkv";
    struct buffer body = buffer_new(SIZE_MAX);
    buffer_format(&body, "{\"heads\":%zu", heads);
    for (size_t x = 0; x < 3; x++) {
        buffer_format(&body, ",\"%c\":[", names[x]);
        for (size_t i = 0; i < (x == 0 ? n : m); i++) {
            buffer_string(&body, i == 0 ? "[" : ",[");
            for (size_t f = 0; f < 4 * heads; f++)
                buffer_format(&body, "%s%g", f == 0 ? "" : ",", (double)((i * 7 + f * 3 + x * 5) % 19) / 8 - 1);
            buffer_string(&body, "]");
        }
        buffer_string(&body, "]");
    }
    buffer_format(&body, "%s}", members);
    buffer_append(&body, "", 1);
    return body;
}

static void check_lines(const char *text)
{
    while (*text) {
        size_t length = strcspn(text, "\n");
        char *line = strndup(text, length);
        ck_assert_msg(token_label_width(line) <= 80, "%zu columns: %s", token_label_width(line), line);
        ck_assert_msg(length == 0 || line[length - 1] != ' ', "spaces at the end: %s", line);
        free(line);
        text += length + (text[length] == '\n');
    }
}

#define ALL_STEPS ",\"include\":[\"output\",\"mask\",\"inputs\",\"stats\",\"steps\",\"cost\"]"

START_TEST(eight_tokens_fit_eighty_columns)
{
    struct buffer body = write_request(8, 8, 1,
                                       ALL_STEPS ",\"tokens\":[\"a\",\"quick\",\"brown\",\"fox\",\"jumped\",\"over\","
                                                 "\"the\",\"dog\"],\"mask\":{\"causal\":true,\"alibi\":true}");
    char *text = print(body.data);
    check_lines(text);
    ck_assert_ptr_null(strstr(text, "more keys"));
    ck_assert_ptr_null(strstr(text, "more queries"));
    CHECK_ORDER(text, "  jumped", "  dog");
    free(text);
    buffer_free(&body);
}
END_TEST

START_TEST(what_is_left_out_is_counted)
{
    struct buffer body = write_request(30, 40, 6, ALL_STEPS);
    char *text = print(body.data);
    check_lines(text);
    CHECK_ORDER(text, "=== head 0 ===", "... 30 more keys (10 of 40 shown)", "... 20 more queries (10 of 30 shown)",
                "=== head 3 ===", "\n... 2 more heads (4 of 6 shown)\n", "output = weights . v, heads side by side\n",
                "more features");
    ck_assert_ptr_null(strstr(text, "=== head 4 ==="));
    free(text);
    buffer_free(&body);
}
END_TEST

/* The first keys one by one, the others in one row: so the column still adds up. */
START_TEST(columns_add_up_although_keys_are_left_out)
{
    char *text = print("{\"q\":[[0]],\"k\":[[1],[1],[1],[1],[1],[1],[1],[1],[1],[1],[1],[1]],"
                       "\"v\":[[12],[12],[12],[12],[12],[12],[12],[12],[12],[24],[24],[24]]}");
    const char *total = "    total             12.000  " ABOUT "1.000\n";
    CHECK_ORDER(text, "    k8       0.000     1.000   0.083\n", "    3 more             3.000   0.250\n", total,
                "    0.083 * v8   1.000\n", "    3 more       6.000\n", "    sum         15.000\n");
    free(text);
}
END_TEST

START_TEST(a_streamed_size_is_told_from_its_first_rows)
{
    struct buffer body = write_request(300, 200, 1, "");
    char *text = print(body.data);
    check_lines(text);
    ck_assert_uint_lt(strlen(text), 60000);
    CHECK_ORDER(text, "... 290 more queries (10 of 300 shown)", "191 more");
    free(text);
    buffer_free(&body);
}
END_TEST

/* --- options --- */

#define SMALL "\"q\":[[1,0],[0,2]],\"k\":[[1,0],[0,1],[1,1]],\"v\":[[1,2],[3,4],[5,6]]"

static const struct {
    const char *members;
    const char *parts[16];
} told[] = {
    {"\"mask\":{\"allow\":[[false],[true]],\"empty_rows\":\"zero\"}",
     {"  q0:\n    no key is visible: weights 0, output 0\n", "  q1:\n", "output = ", "  q0  0.000  0.000\n"}},
    {"\"softcap\":2", {"capped = 2 * tanh(scaled / 2)\n", "masked = capped"}},
    {"\"mask\":{\"bias\":[[1,2,3]],\"alibi\":true}",
     {"biased = scaled + bias - slope * distance\n", "masked = biased, hidden keys -inf   (no mask)\n"}},
    {"\"mask\":{\"bias\":[[0,0,null]],\"window\":{\"left\":9},\"key_lengths\":[3]}", {"(window, key_lengths, bias)\n"}},
    {"\"sinks\":[1]", {"the sink included", "    sink", "1.000", "2.718"}},
    {"\"dropout\":{\"p\":0.5}",
     {"dropped = weights, some 0, the others / (1 - 0.5)   (seed 0)\n", "share  dropped\n", "output = dropped . v"}},
    {"\"variant\":\"linear\"", {"weights = scaled   (no softmax)\n", "Mix", "output = weights . v\n"}},
    {"\"variant\":\"mask_after_softmax\",\"mask\":\"causal\"",
     {"(not yet: masked after the softmax)\n", "weights = exp / row_sum, then hidden ones 0\n", "share  weights\n"}},
    {"\"scale\":2", {"scaled = scores * 2\n"}},
    {"\"scale\":40", {"e^shifted  share\n"}},
    {"\"dtype\":\"float32\",\"scale\":0.1", {"float32\n", "scaled = scores * 0.1\n"}},
    {"\"readout\":{\"w\":[[1,2],[3,4]],\"tokens\":[\"yes\",\"no\"]}", {"readout: ", "probability\n", "  no ", "  yes"}},
    {"\"include\":[\"steps.products\",\"steps.contributions\",\"log_sum_exp\",\"present\",\"cost\"]",
     {"products = q_t * k_t", "contributions = weight * v", "log_sum_exp = row_max + ln row_sum", "present.k",
      "present.v", "cost", "multi-query"}},
    {"\"past\":{\"k\":[[1,1]],\"v\":[[7,8]]},\"include\":[\"weights\",\"inputs\"]", {"inputs.q", "inputs.k", "  k3 "}},
    {"\"tiles\":{\"keys\":2},\"sinks\":[0],\"include\":[\"steps\"]",
     {"Tiles of 2 keys: ", "  at first: running_max = sink,", "  tile 0: k0 .. k1\n",
      "tile_max  running_max  rescale  tile_sum  running_sum\n", "    q0 ", "    tile_exp\n", "k0 ", "k1\n",
      "    accumulator\n", "    q1 ", "  tile 1: k2\n", "    accumulator\n",
      "  numbers kept: n (d_v + 2) = 2 * (2 + 2) = 8,", "n m = 2 * 3 = 6\n"}},
    {"\"scale\":1000,\"include\":[\"steps.exp_unshifted\"]",
     {"exp_unshifted = e^masked\n", "  inf: e^masked is past the largest float64;\n",
      "that is why the maximum is subtracted first\n"}},
    {"\"past\":{\"k\":[[1,1]],\"v\":[[7,8]]},\"backward\":{\"cell\":{\"query\":0,\"feature\":0}},"
     "\"include\":[\"present_new\",\"gradients.k\"]",
     {"present_new.k ", "  k1 ", "  k3 ", "d k\n  k1 ", "  k2 ", "  k3 "}},
    {"\"mask\":{\"bias\":[[1],[2]]},\"backward\":{\"cell\":{\"query\":0,\"feature\":0}},"
     "\"include\":[\"gradients.bias\"]",
     {"d bias = ", " all\n  q0 ", "  q1 "}},
};

/* A step without an axis of heads has the rows of its batch. */
START_TEST(embedded_rows_are_those_of_the_batch)
{
    char *text = print("{\"ids\":[[0],[1]],\"embedding\":[[5,6],[7,8]],\"heads\":2,\"w_q\":[[1,0],[0,1]],"
                       "\"w_k\":[[1,0],[0,1]],\"w_v\":[[1,0],[0,1]],\"include\":[\"steps.embedded\"]}");
    CHECK_ORDER(text, "=== batch 0, head 0 ===", "  q0  5.000  6.000\n",
                "=== batch 1, head 0 ===", "  q0  7.000  8.000\n");
    free(text);
}
END_TEST

START_TEST(options_are_told)
{
    char body[500];
    snprintf(body, sizeof body, "{" SMALL ",%s}", told[_i].members);
    char *text = print(body);
    check_lines(text);
    check_order(text, told[_i].parts);
    free(text);
}
END_TEST

START_TEST(projected_output_comes_after_the_heads)
{
    char *text =
        print("{\"x\":[[[1,2]],[[3,4]]],\"heads\":2,\"w_q\":[[1,0],[0,1]],\"w_k\":[[1,0],[0,1]],\"w_v\":[[1,0],[0,1]],"
              "\"w_o\":[[1],[1]],\"b_o\":[0.5]}");
    CHECK_ORDER(text, "=== batch 0, head 0 ===", "=== batch 1, head 1 ===", "=== batch 0 ===\n\noutput = ",
                "times w_o + b_o\n  q0  3.500\n", "=== batch 1 ===", "  q0  7.500\n");
    free(text);
}
END_TEST

/* Each number of a projection and of the projected output stands there as a sum. */
START_TEST(products_with_weights_are_written_out)
{
    char *text =
        print("{\"tokens\":[\"a\"],\"x\":[[1,2]],\"heads\":2,\"w_q\":[[1,0],[0,1]],\"b_q\":[3,4],\"w_k\":[[1,0],[0,1]],"
              "\"w_v\":[[0.5,0],[0,1]],\"w_o\":[[2],[10]],\"b_o\":[0.5],\"include\":[\"output\",\"steps\"]}");
    CHECK_ORDER(text, "=== head 0 ===", "q = x . w_q + b_q\n  q of a, feature 0 = 1*1 + 2*0 + 3 = 4.000\n",
                "v = x . w_v\n  v of a, feature 0 = 1*0.5 + 2*0 = 0.500\n",
                "=== head 1 ===", "  q of a, feature 0 = 1*0 + 2*1 + 4 = 6.000\n",
                "output, from the sums of the heads side by side\n",
                "  a, feature 0 = 0.500*2 + 2.000*10 + 0.5 = 21.500\n");
    free(text);
    text = print("{\"x\":[[1,2]],\"w_q\":[[1],[0]],\"w_k\":[[0],[1]],\"w_v\":[[1],[1]],\"include\":[\"output\"]}");
    ck_assert_ptr_null(strstr(text, "x . w_q"));
    free(text);
}
END_TEST

START_TEST(base64_has_no_text)
{
    struct exchange x =
        exchange_run("{" THE_CAT ",\"encoding\":\"base64\"}", (struct exchange_how){.format = JOB_TEXT});
    ck_assert(!x.good);
    ck_assert_int_eq(x.err.code, ERROR_INVALID);
    ck_assert_str_eq(x.err.faults[0].name, "encoding");
    exchange_end(&x);
}
END_TEST

/* --- labels --- */

static const struct {
    const char *token, *label;
    size_t width;
} labels[] = {
    {"cat", "cat", 3},
    {"", "\"\"", 2},
    {"exactly12ch.", "exactly12ch.", 12},
    {"thirteen char", "thirteen ch\xe2\x80\xa6", 12},
    {"\x1b[31m", "\xef\xbf\xbd[31m", 5},
    {"a\nb\tc\x7f",
     "a\xef\xbf\xbd"
     "b\xef\xbf\xbd"
     "c\xef\xbf\xbd",
     6},
    {"\xc2\x9b"
     "31m",
     "\xef\xbf\xbd"
     "31m",
     4},
    /* NOLINTNEXTLINE(misc-misleading-bidirectional): such a token is what this row is about */
    {"\xe2\x80\xae"
     "evil",
     "\xef\xbf\xbd"
     "evil",
     5},
    {"<b>&amp;</b>", "<b>&amp;</b>", 12},
    {"\xe6\x97\xa5\xe6\x9c\xac", "\xe6\x97\xa5\xe6\x9c\xac", 4},
    {"\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5",
     "\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe2\x80\xa6", 11},
    {"a\xcc\x88", "a\xcc\x88", 1},
    {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80", 2},
};

START_TEST(labels_are_safe_and_measured)
{
    char out[TOKEN_LABEL_TEXT];
    const struct options options = {.query_tokens = {&labels[_i].token, 1}};
    ck_assert_str_eq(token_label_query(&options, 0, out), labels[_i].label);
    ck_assert_uint_eq(token_label_width(out), labels[_i].width);
    ck_assert_str_eq(token_label_key(&options, 17, out), "k17");
}
END_TEST

START_TEST(a_label_of_marks_alone_has_an_end)
{
    char token[400] = "a";
    char out[TOKEN_LABEL_TEXT];
    for (size_t x = 0; x < 190; x++)
        strcat(token, "\xcc\x81");
    const char *values[] = {token};
    const struct options options = {.query_tokens = {values, 1}};
    ck_assert_uint_lt(strlen(token_label_query(&options, 0, out)), TOKEN_LABEL_TEXT);
}
END_TEST

/* Takes the colours out; only what the tables write is one. */
static size_t bleach(char *text)
{
    size_t colours = 0;
    char *to = text;
    for (const char *at = text; *at;) {
        if (*at != '\x1b') {
            *to++ = *at++;
            continue;
        }
        bool reset = strncmp(at, "\x1b[0m", 4) == 0;
        ck_assert_msg(reset || strncmp(at, "\x1b[48;5;", 7) == 0, "%.20s", at + 1);
        size_t length = 2 + strspn(at + 2, "0123456789;");
        ck_assert_int_eq(at[length], 'm');
        at += length + 1;
        colours += reset ? 0 : 1;
    }
    *to = '\0';
    return colours;
}

/* Without its colours it is the same text: widths, labels and all. */
static size_t check_shaded(const char *body, enum job_kind kind)
{
    struct exchange plain = exchange_run(body, (struct exchange_how){.kind = kind, .format = JOB_TEXT});
    struct exchange shaded = exchange_run(body, (struct exchange_how){.kind = kind, .format = JOB_SHADED});
    ck_assert(plain.good && shaded.good);
    ck_assert_str_eq(plain.media_type, shaded.media_type);
    char *expected = strndup(plain.text.data, plain.text.length);
    char *text = strndup(shaded.text.data, shaded.text.length);
    size_t colours = bleach(text);
    ck_assert_str_eq(text, expected);
    free(text);
    free(expected);
    exchange_end(&plain);
    exchange_end(&shaded);
    return colours;
}

START_TEST(colours_are_added_and_nothing_else)
{
    for (size_t x = 0; examples_at(x); x++)
        ck_assert_uint_gt(check_shaded(examples_body(examples_at(x)), JOB_ATTENTION), 0);
    ck_assert_uint_eq(check_shaded("{" THE_CAT ",\"include\":[\"steps.masked\"]}", JOB_ATTENTION),
                      3); /* -inf has none */
    ck_assert_uint_eq(check_shaded("{" THE_CAT ",\"cell\":{\"query\":1,\"key\":0}}", JOB_EXPLAIN), 0);
}
END_TEST

/* A token that would be a colour is none. */
START_TEST(labels_bring_no_colours)
{
    const char *body = "{\"q\":[[1]],\"k\":[[1],[2]],\"v\":[[1],[1]],\"include\":[\"weights\"],"
                       "\"tokens\":{\"query\":[\"\\u001b[48;5;1m\"],\"key\":[\"\\u009b0m\",\"\\u001b[0m\"]}}";
    ck_assert_uint_eq(check_shaded(body, JOB_ATTENTION), 2);
}
END_TEST

START_TEST(terminals_have_close_colours)
{
    ck_assert_uint_eq(ramp_terminal((struct ramp_colour){0, 0, 0}), 16);
    ck_assert_uint_eq(ramp_terminal((struct ramp_colour){255, 255, 255}), 231);
    ck_assert_uint_eq(ramp_terminal((struct ramp_colour){95, 135, 175}), 67);
    ck_assert_uint_eq(ramp_terminal((struct ramp_colour){118, 118, 118}), 243);
    ck_assert_uint_eq(ramp_terminal(ramp_colour(RAMP_SHARE, 1)), 221);
}
END_TEST

Suite *reply_text_suite(void);

Suite *reply_text_suite(void)
{
    Suite *suite = suite_create("tables");
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, the_cat_with_all_its_numbers);
    tcase_add_test(tests, one_query_with_all_its_numbers);
    tcase_add_test(tests, three_decimals_and_all_steps_by_default);
    tcase_add_test(tests, eight_tokens_fit_eighty_columns);
    tcase_add_test(tests, what_is_left_out_is_counted);
    tcase_add_test(tests, columns_add_up_although_keys_are_left_out);
    tcase_add_test(tests, a_streamed_size_is_told_from_its_first_rows);
    tcase_add_test(tests, embedded_rows_are_those_of_the_batch);
    tcase_add_loop_test(tests, options_are_told, 0, (int)(sizeof told / sizeof *told));
    tcase_add_test(tests, projected_output_comes_after_the_heads);
    tcase_add_test(tests, products_with_weights_are_written_out);
    tcase_add_test(tests, base64_has_no_text);
    tcase_add_loop_test(tests, labels_are_safe_and_measured, 0, (int)(sizeof labels / sizeof *labels));
    tcase_add_test(tests, a_label_of_marks_alone_has_an_end);
    tcase_add_test(tests, colours_are_added_and_nothing_else);
    tcase_add_test(tests, labels_bring_no_colours);
    tcase_add_test(tests, terminals_have_close_colours);
    suite_add_tcase(suite, tests);
    return suite;
}
