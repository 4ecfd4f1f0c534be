/* Replies as pictures: SVG that is XML and nothing but drawing, whatever the tokens; bounded in cells. */
#include "tests/api/exchange.h"

#include "api/layout/ramp.h"
#include "api/openapi/examples.h"
#include "api/picture/picture.h"
#include "api/picture/svg.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 16
#define THE_CAT "\"q\":[[1,0],[0,2]],\"k\":[[1,0],[0,1]],\"v\":[[1,2],[3,4]],\"mask\":\"causal\""
#define MINUS "\xe2\x88\x92"
#define REPLACEMENT "\xef\xbf\xbd"

/* --- XML, as much of it as a picture may use --- */

struct xml {
    const char *at;
    const char *open[DEPTH_MAX]; /* names of the elements around */
    size_t depth;
};

static size_t name_length(const char *at)
{
    return strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-0123456789");
}

static void check_reference(const char *at)
{
    static const char *const known[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"};
    for (size_t x = 0; x < sizeof known / sizeof *known; x++)
        if (strncmp(at, known[x], strlen(known[x])) == 0)
            return;
    ck_abort_msg("no reference: %.20s", at);
}

/* Character data up to `end`. */
static void pass_text(struct xml *x, char end)
{
    for (; *x->at && *x->at != end; x->at++) {
        ck_assert_msg(*x->at != '<' && ((unsigned char)*x->at >= ' ' || *x->at == '\n'), "in text: %.20s", x->at);
        if (*x->at == '&')
            check_reference(x->at);
    }
}

static void pass_attributes(struct xml *x)
{
    while (*x->at == ' ') {
        x->at++;
        size_t length = name_length(x->at);
        ck_assert_msg(length > 0 && strncmp(x->at, "on", 2) != 0, "attribute: %.20s", x->at);
        ck_assert_msg(strncmp(x->at + length, "=\"", 2) == 0, "attribute: %.20s", x->at);
        x->at += length + 2;
        pass_text(x, '"');
        x->at++;
    }
}

static void pass_end(struct xml *x)
{
    ck_assert_uint_gt(x->depth, 0);
    const char *open = x->open[--x->depth];
    size_t length = name_length(open);
    ck_assert_msg(strncmp(x->at, open, length) == 0 && x->at[length] == '>', "%.20s ends %.20s", x->at, open);
    x->at += length + 1;
}

static void pass_tag(struct xml *x)
{
    const char *name = x->at;
    size_t length = name_length(name);
    ck_assert_msg(length > 0 && strncmp(name, "script", 6) != 0 && strncmp(name, "foreign", 7) != 0, "%.20s", name);
    x->at += length;
    pass_attributes(x);
    if (strncmp(x->at, "/>", 2) == 0) {
        x->at += 2;
        return;
    }
    ck_assert_msg(*x->at == '>' && x->depth < DEPTH_MAX, "tag: %.20s", name);
    x->open[x->depth++] = name;
    x->at++;
}

static void check_xml(const char *text)
{
    struct xml x = {.at = text};
    ck_assert_msg(strncmp(text, "<svg xmlns=\"http://www.w3.org/2000/svg\" ", 40) == 0, "%.60s", text);
    do {
        ck_assert_msg(*x.at == '<', "%.20s", x.at);
        bool end = x.at[1] == '/';
        x.at += end ? 2 : 1;
        (end ? pass_end : pass_tag)(&x);
        pass_text(&x, '<');
    } while (x.depth > 0);
    ck_assert_str_eq(x.at, "");
}

/* --- pictures --- */

/* The picture with an end; the caller frees it. */
static char *draw(const char *body)
{
    struct exchange x = exchange_run(body, (struct exchange_how){.format = JOB_PICTURE});
    ck_assert_msg(x.good, "%s", x.err.faults[0].text);
    ck_assert_str_eq(x.media_type, "image/svg+xml; charset=utf-8");
    ck_assert_uint_eq(x.blocks, 1);
    char *text = strndup(x.text.data, x.text.length);
    exchange_end(&x);
    check_xml(text);
    return text;
}

static void refuse(const char *body, const char *part)
{
    struct exchange x = exchange_run(body, (struct exchange_how){.format = JOB_PICTURE});
    ck_assert(!x.good);
    ck_assert_int_eq(x.err.code, ERROR_INVALID);
    ck_assert_msg(strstr(x.err.faults[0].text, part), "%s", x.err.faults[0].text);
    exchange_end(&x);
}

static size_t count(const char *text, const char *part)
{
    size_t found = 0;
    for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
        found++;
    return found;
}

START_TEST(the_chain_stands_in_its_order)
{
    static const char *const names[] = {">scores<", ">scaled<",  ">masked<",  ">row_max<", ">shifted<",
                                        ">exp<",    ">row_sum<", ">weights<", ">output<"};
    char *text = draw("{" THE_CAT ",\"tokens\":[\"the\",\"cat\"]}");
    const char *at = text;
    for (size_t x = 0; x < sizeof names / sizeof *names; x++) {
        ck_assert_uint_eq(count(text, names[x]), 1);
        at = strstr(at, names[x]);
        ck_assert_msg(at, "%s comes too early", names[x]);
    }
    ck_assert_ptr_nonnull(strstr(text, ">cat<"));
    free(text);
}
END_TEST

START_TEST(include_says_what_is_drawn)
{
    char *text = draw("{" THE_CAT ",\"include\":[\"weights\"],\"decimals\":4}");
    ck_assert_uint_eq(count(text, "font-weight=\"650\""), 1);
    ck_assert_ptr_nonnull(strstr(text, ">weights<"));
    ck_assert_ptr_nonnull(strstr(text, ">q1<"));
    ck_assert_ptr_nonnull(strstr(text, ">0.1956<")); /* 1 / (1 + e^sqrt(2)) */
    ck_assert_ptr_nonnull(strstr(text, ">0.8044<"));
    free(text);
}
END_TEST

/* Out of sight: masked and shifted are -inf there, exp and weights 0; a score is a score. */
START_TEST(hidden_cells_are_hatched)
{
    static const char *const steps[] = {"masked", "shifted", "exp", "weights"};
    char body[200];
    for (size_t x = 0; x < sizeof steps / sizeof *steps; x++) {
        snprintf(body, sizeof body, "{" THE_CAT ",\"include\":[\"steps.%s\"]}", steps[x]);
        char *text = draw(body);
        ck_assert_uint_eq(count(text, "url(#hidden)"), 1);
        ck_assert_uint_eq(count(text, x < 2 ? ">" MINUS "\xe2\x88\x9e</text>" : ">0</text>\n<rect"), 1);
        free(text);
    }
    char *scores = draw("{" THE_CAT ",\"include\":[\"steps.scores\"]}");
    ck_assert_uint_eq(count(scores, "url(#hidden)"), 0);
    free(scores);
}
END_TEST

/* The ends of the explorer's ramps: one token sees itself alone, and scores of both signs. */
START_TEST(colours_are_those_of_the_explorer)
{
    char *weights = draw("{\"q\":[[1]],\"k\":[[1],[-90]],\"v\":[[1],[1]],\"scale\":10,\"include\":[\"weights\"]}");
    ck_assert_ptr_nonnull(strstr(weights, "rx=\"5\" fill=\"#fee838\""));
    ck_assert_ptr_nonnull(strstr(weights, "rx=\"5\" fill=\"#00224e\""));
    free(weights);
    char *scores = draw("{\"q\":[[1]],\"k\":[[2],[-2],[0]],\"v\":[[1],[1],[1]],\"include\":[\"steps.scores\"]}");
    ck_assert_ptr_nonnull(strstr(scores, "rx=\"5\" fill=\"#542788\""));
    ck_assert_ptr_nonnull(strstr(scores, "rx=\"5\" fill=\"#b35806\""));
    ck_assert_ptr_nonnull(strstr(scores, "rx=\"5\" fill=\"#f7f7f7\""));
    ck_assert_ptr_nonnull(strstr(scores, ">" MINUS "2.000<"));
    free(scores);
}
END_TEST

START_TEST(text_on_a_colour_has_contrast)
{
    ck_assert(ramp_wants_white(ramp_colour(RAMP_SHARE, -1)));
    ck_assert(!ramp_wants_white(ramp_colour(RAMP_SHARE, 2)));
    ck_assert(!ramp_wants_white(ramp_colour(RAMP_AROUND, 0.5)));
    ck_assert_double_eq(ramp_place(RAMP_AROUND, -3, 3), 0);
    ck_assert_double_eq(ramp_place(RAMP_AROUND, 0, 0), 0.5);
}
END_TEST

START_TEST(tokens_are_text)
{
    char *text = draw("{" THE_CAT ",\"id\":\"</title><script>\","
                      "\"tokens\":[\"<a b='\\\"'>&\",\"]]>\\u0007\\ufffe\\u202e\"]}");
    ck_assert_ptr_nonnull(strstr(text, "&lt;a b=&apos;&quot;&apos;&gt;&amp;<"));
    ck_assert_ptr_nonnull(strstr(text, "]]&gt;"));
    ck_assert_ptr_nonnull(strstr(text, "id &lt;/title&gt;&lt;script&gt;"));
    free(text);
}
END_TEST

START_TEST(what_xml_may_not_hold_is_replaced)
{
    struct buffer out = buffer_new(SIZE_MAX);
    svg_text(&out, "a\x01<\xef\xbf\xbe\xef\xbf\xbf\xc3\xa9");
    buffer_append(&out, "", 1);
    ck_assert_str_eq(out.data, "a" REPLACEMENT "&lt;" REPLACEMENT REPLACEMENT "\xc3\xa9");
    buffer_free(&out);
}
END_TEST

/* `keys` scores of one query. */
static char *row_of(size_t keys)
{
    struct buffer body = buffer_new(SIZE_MAX);
    buffer_string(&body, "{\"q\":[[1]],\"include\":[\"steps.scores\"],\"k\":[[1]");
    for (size_t x = 1; x < keys; x++)
        buffer_string(&body, ",[1]");
    buffer_string(&body, "],\"v\":[[1]");
    for (size_t x = 1; x < keys; x++)
        buffer_string(&body, ",[1]");
    buffer_append(&body, "]}", 3);
    return body.data;
}

START_TEST(cells_are_bounded)
{
    char *most = row_of(PICTURE_CELLS);
    char *text = draw(most);
    ck_assert_uint_eq(count(text, "rx=\"2\" fill=\"#"), PICTURE_CELLS);
    ck_assert_uint_eq(count(text, ">1.000<"), 0); /* no room for numbers */
    free(text);
    free(most);
    char *more = row_of(PICTURE_CELLS + 1);
    refuse(more, "would have 16385 cells; the limit is 16384");
    free(more);
}
END_TEST

START_TEST(what_cannot_be_drawn_is_refused)
{
    refuse("{" THE_CAT ",\"include\":[\"cost\"]}", "no matrix");
    refuse("{" THE_CAT ",\"encoding\":\"base64\"}", "a reply as a picture has no such form");
}
END_TEST

/* Heads, a batch, gradients, caches, tiles, latent attention: all are matrices. */
START_TEST(examples_can_be_drawn)
{
    for (size_t x = 0; examples_at(x); x++)
        free(draw(examples_body(examples_at(x))));
}
END_TEST

START_TEST(titles_are_names_and_formulas)
{
    char *text = draw("{" THE_CAT ",\"include\":[\"inputs\",\"gradients.masked\"],"
                      "\"backward\":{\"cell\":{\"query\":1,\"feature\":0}}}");
    ck_assert_ptr_nonnull(strstr(text, ">inputs.q<"));
    ck_assert_ptr_nonnull(strstr(text, ">(as it enters the scores)<"));
    ck_assert_ptr_nonnull(strstr(text, ">d masked<"));
    free(text);
}
END_TEST

/* Where all is 0 the ends of a legend would be the same. */
START_TEST(zeros_have_no_legend)
{
    char *zeros = draw("{\"q\":[[0]],\"k\":[[1],[2]],\"v\":[[1],[1]],\"include\":[\"steps.scores\"]}");
    ck_assert_uint_eq(count(zeros, "url(#around)"), 0);
    free(zeros);
    char *numbers = draw("{\"q\":[[1]],\"k\":[[1],[2]],\"v\":[[1],[1]],\"include\":[\"steps.scores\"]}");
    ck_assert_uint_eq(count(numbers, "url(#around)"), 1);
    free(numbers);
}
END_TEST

START_TEST(heads_have_a_panel_each)
{
    char *text = draw("{\"heads\":2,\"q\":[[1,2]],\"k\":[[1,2]],\"v\":[[1,2]],\"include\":[\"weights\"]}");
    ck_assert_uint_eq(count(text, ">head 0<"), 1);
    ck_assert_uint_eq(count(text, ">head 1<"), 1);
    free(text);
}
END_TEST

Suite *picture_suite(void);

Suite *picture_suite(void)
{
    Suite *suite = suite_create("picture");
    TCase *tests = tcase_create("pictures");
    tcase_add_test(tests, the_chain_stands_in_its_order);
    tcase_add_test(tests, include_says_what_is_drawn);
    tcase_add_test(tests, hidden_cells_are_hatched);
    tcase_add_test(tests, colours_are_those_of_the_explorer);
    tcase_add_test(tests, text_on_a_colour_has_contrast);
    tcase_add_test(tests, tokens_are_text);
    tcase_add_test(tests, what_xml_may_not_hold_is_replaced);
    tcase_add_test(tests, cells_are_bounded);
    tcase_add_test(tests, what_cannot_be_drawn_is_refused);
    tcase_add_test(tests, examples_can_be_drawn);
    tcase_add_test(tests, titles_are_names_and_formulas);
    tcase_add_test(tests, zeros_have_no_legend);
    tcase_add_test(tests, heads_have_a_panel_each);
    suite_add_tcase(suite, tests);
    return suite;
}
