/* Every equation that a person is shown is true as shown.
 *
 * For each line "= a = b": the left side, computed from the numbers on the page, rounds to the right side at the
 * decimals that the right side has, unless the sign is "about". For each table that ends in a total or a sum: each
 * column adds up in its decimal digits. */
#include "tests/api/exchange.h"

#include "api/openapi/examples.h"

#include <check.h>
#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ABOUT "\xe2\x89\x88"

/* --- reading arithmetic --- */

struct reader {
    const char *at;
    bool good;
};

static double read_sum(struct reader *r);

static void skip_blanks(struct reader *r)
{
    while (*r->at == ' ')
        r->at++;
}

static bool takes(struct reader *r, const char *word)
{
    skip_blanks(r);
    size_t length = strlen(word);
    if (strncmp(r->at, word, length) != 0)
        return false;
    r->at += length;
    return true;
}

static double read_maximum(struct reader *r)
{
    double most = read_sum(r);
    while (takes(r, ","))
        most = fmax(most, read_sum(r));
    return most;
}

static double read_factor(struct reader *r)
{
    double value;
    char *end;
    if (takes(r, "max("))
        value = read_maximum(r);
    else if (takes(r, "tanh("))
        value = tanh(read_sum(r));
    else if (takes(r, "e^("))
        value = exp(read_sum(r));
    else {
        skip_blanks(r);
        value = strtod(r->at, &end);
        r->good &= end != r->at;
        r->at = end;
        return value;
    }
    r->good &= takes(r, ")");
    return value;
}

static double read_product(struct reader *r)
{
    double value = read_factor(r);
    for (;;) {
        if (takes(r, "*"))
            value *= read_factor(r);
        else if (takes(r, "/"))
            value /= read_factor(r);
        else
            return value;
    }
}

static double read_sum(struct reader *r)
{
    double value = read_product(r);
    for (;;) {
        if (takes(r, "+"))
            value += read_product(r);
        else if (takes(r, "-"))
            value -= read_product(r);
        else
            return value;
    }
}

/* False when the text is no arithmetic. */
static bool evaluate(const char *text, double *value)
{
    struct reader r = {text, true};
    *value = read_sum(&r);
    skip_blanks(&r);
    return r.good && *r.at == '\0';
}

static int decimals_of(const char *text)
{
    const char *point = strrchr(text, '.');
    int count = 0;
    while (point && isdigit((unsigned char)*++point))
        count++;
    return count;
}

static bool agrees(double left, double right, int decimals)
{
    return left == right || fabs(left - right) <= 0.500001 * pow(10, -decimals);
}

/* --- equations --- */

static size_t equations, abouts;

/* The vector of the line "value = [..]", for the line "contribution = w * value = [..]" below it. */
struct vector {
    double at[16];
    int decimals;
    size_t count;
};

static struct vector read_vector(const char *text)
{
    struct vector v = {.count = 0};
    const char *at = strchr(text, '[') + 1;
    char number[64];
    int used;
    while (sscanf(at, "%63[-0-9.e+inf]%n", number, &used) == 1 && strcmp(number, "...") != 0) {
        v.at[v.count++] = strtod(number, NULL);
        v.decimals = decimals_of(number);
        at += used;
        at += *at == ' ';
    }
    return v;
}

static void check_contribution(const char *line, const struct vector *value)
{
    double weight = strtod(strstr(line, "= ") + 2, NULL);
    struct vector term = read_vector(line);
    ck_assert_uint_eq(term.count, value->count);
    equations++;
    if (strstr(line, ABOUT)) {
        abouts++;
        return;
    }
    for (size_t f = 0; f < term.count; f++)
        ck_assert_msg(agrees(weight * value->at[f], term.at[f], term.decimals), "untrue: %s", line);
}

/* Whether the side stands before "about". */
static char *cut_side(char **rest, bool *about)
{
    char *side = *rest;
    char *equals = strstr(side, " = ");
    char *near = strstr(side, " " ABOUT " ");
    *about = near && (!equals || near < equals);
    char *end = *about ? near : equals;
    *rest = end ? end + strlen(*about ? " " ABOUT " " : " = ") : NULL;
    if (end)
        *end = '\0';
    return side;
}

/* A line without its note: name = side = side ... */
static void check_line(const char *whole)
{
    char line[4096];
    snprintf(line, sizeof line, "%s", whole);
    char *note = strstr(line, "   (");
    char *then = strstr(line, ", then hidden");
    if (note)
        *note = '\0';
    if (then)
        *then = '\0';
    bool about;
    char *rest = line;
    double left = 0;
    bool have = false;
    while (rest) {
        bool was_about = have && about;
        char *side = cut_side(&rest, &about);
        double right;
        bool good = evaluate(side, &right);
        if (have && good) {
            equations++;
            abouts += was_about;
            ck_assert_msg(was_about || agrees(left, right, decimals_of(side)), "untrue: %s", whole);
        }
        have = good;
        left = right;
    }
}

/* --- tables --- */

static bool read_digits(const char *cell, long long *digits)
{
    char text[64];
    size_t used = 0;
    for (; *cell && used < sizeof text - 1; cell++)
        if (*cell != '.')
            text[used++] = *cell;
    text[used] = '\0';
    char *end;
    *digits = strtoll(text, &end, 10);
    return *end == '\0' && used > 0;
}

/* The cells of a row that are numbers, from the right: rows have their blanks on the left. */
static size_t split_cells(char *row, char *cells[32])
{
    size_t count = 0;
    for (char *word = strtok(row, " "); word && count < 32; word = strtok(NULL, " "))
        cells[count++] = word;
    return count;
}

/* Rows of a table from its first to the one that begins with "total" or "sum". */
static void check_table(char *rows[], size_t count)
{
    char *cells[16][32];
    size_t widths[16] = {0};
    ck_assert_uint_le(count, 16);
    ck_assert_uint_gt(count, 0);
    for (size_t r = 0; r < count; r++)
        widths[r] = split_cells(rows[r], cells[r]);
    size_t columns = widths[count - 1] - 1;
    for (size_t c = 0; c < columns; c++) {
        const char *total = cells[count - 1][widths[count - 1] - 1 - c];
        bool about = strncmp(total, ABOUT, strlen(ABOUT)) == 0;
        long long sum = 0;
        long long digits = 0;
        bool good = true;
        equations++;
        abouts += about;
        for (size_t r = 0; r + 1 < count; r++) {
            good &= read_digits(cells[r][widths[r] - 1 - c], &digits);
            sum += digits;
        }
        good &= read_digits(total + (about ? strlen(ABOUT) : 0), &digits);
        ck_assert_msg(about || (good && sum == digits), "column %zu of \"%s\": %lld, not %lld", c, cells[count - 1][0],
                      sum, digits);
    }
}

/* --- pages --- */

static bool begins(const char *line, const char *word)
{
    line += strspn(line, " ");
    return strncmp(line, word, strlen(word)) == 0;
}

/* A line that goes on belongs to the one before: it is indented past every name. */
static void check_page(char *text)
{
    char *lines[4096];
    size_t count = 0;
    for (char *line = strtok(text, "\n"); line && count < 4096; line = strtok(NULL, "\n"))
        lines[count++] = line;
    struct vector value = {.count = 0};
    size_t table = count;
    for (size_t l = 0; l < count; l++) {
        if (begins(lines[l], "masked") || (strchr(lines[l], '*') && !strchr(lines[l], '=') && table == count))
            table = begins(lines[l], "masked") ? l + 1 : l;
        if (begins(lines[l], "value "))
            value = read_vector(lines[l]);
        if (begins(lines[l], "contribution "))
            check_contribution(lines[l], &value);
        else if (strstr(lines[l], "= "))
            check_line(lines[l]);
        if ((begins(lines[l], "total ") || begins(lines[l], "sum ")) && table < l) {
            check_table(lines + table, l + 1 - table);
            table = count;
        }
    }
}

/* Lines that a sum was broken into become one again. */
static void join_lines(char *text)
{
    for (char *at = text; (at = strchr(at, '\n')); at++) {
        size_t blanks = strspn(at + 1, " ");
        char next = at[1 + blanks];
        if (blanks > 8 && (next == '+' || next == '-') && at[2 + blanks] == ' ')
            memset(at, ' ', 1);
    }
}

static bool check_reply(const char *body, enum job_kind kind)
{
    struct exchange x = exchange_run(body, (struct exchange_how){.kind = kind, .format = JOB_TEXT});
    bool good = x.good;
    if (good) {
        buffer_append(&x.text, "", 1);
        join_lines(x.text.data);
        check_page(x.text.data);
    }
    exchange_end(&x);
    return good;
}

START_TEST(examples)
{
    equations = abouts = 0;
    for (size_t x = 0; examples_at(x); x++)
        ck_assert_msg(check_reply(examples_body(examples_at(x)), JOB_ATTENTION), "%s", examples_at(x)->name);
    ck_assert_uint_gt(equations, 100);
    ck_assert_uint_lt(abouts, equations / 20);
}
END_TEST

static uint64_t state;

/* 0 .. below - 1 (Knuth's linear congruential generator, MMIX). */
static size_t pick(size_t below)
{
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (size_t)(state >> 33) % below;
}

static double draw(void)
{
    return ((double)pick(401) - 200) / 100;
}

static void put_matrix(struct buffer *out, const char *name, size_t rows, size_t columns)
{
    buffer_format(out, "\"%s\":[", name);
    for (size_t i = 0; i < rows; i++) {
        buffer_string(out, i == 0 ? "[" : ",[");
        for (size_t f = 0; f < columns; f++)
            buffer_format(out, "%s%.2f", f == 0 ? "" : ",", draw());
        buffer_string(out, "]");
    }
    buffer_string(out, "],");
}

static const char *const options[] = {
    "\"mask\":\"none\"",
    "\"mask\":\"causal\"",
    "\"softcap\":1.5",
    "\"sinks\":[0.25]",
    "\"mask\":{\"alibi\":true}",
    "\"dropout\":{\"p\":0.3,\"seed\":3}",
    "\"variant\":\"linear\"",
    "\"variant\":\"mask_after_softmax\",\"mask\":\"causal\"",
    "\"scale\":30",
    "\"decimals\":2",
    "\"backward\":{\"cell\":{\"query\":0,\"feature\":0}},\"step\":{\"rate\":0.1}",
    "\"tiles\":{\"keys\":2}",
    "\"tiles\":{\"keys\":3},\"mask\":\"causal\"",
    "\"quantize\":{\"k\":{\"method\":\"affine\",\"bits\":2}}",
    "\"precision\":\"bf16-kernel\"",
    "\"dtype\":\"float32\"",
};

/* 20 requests with two decimals for each option, whole and one cell of each. */
START_TEST(random_requests)
{
    state = (uint64_t)_i;
    equations = abouts = 0;
    for (size_t round = 0; round < 20; round++) {
        struct buffer body = buffer_new(SIZE_MAX);
        size_t n = 1 + pick(4);
        size_t m = n + pick(12);
        size_t d = 1 + pick(6);
        buffer_string(&body, "{");
        put_matrix(&body, "q", n, d);
        put_matrix(&body, "k", m, d);
        put_matrix(&body, "v", m, 1 + pick(6));
        size_t common = body.length;
        buffer_format(&body, "%s}", options[_i]);
        buffer_append(&body, "", 1);
        ck_assert_msg(check_reply(body.data, JOB_ATTENTION), "%s", body.data);
        body.length = common;
        buffer_format(&body, "%s,\"cell\":{\"query\":%zu,\"key\":%zu}}", options[_i], n - 1, pick(m));
        buffer_append(&body, "", 1);
        ck_assert_msg(check_reply(body.data, JOB_EXPLAIN), "%s", body.data);
        buffer_free(&body);
    }
    ck_assert_uint_gt(equations, 100);
    ck_assert_uint_lt(abouts, equations / 5);
}
END_TEST

Suite *displayed_arithmetic_suite(void);

Suite *displayed_arithmetic_suite(void)
{
    Suite *suite = suite_create("displayed arithmetic");
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, examples);
    tcase_add_loop_test(tests, random_requests, 0, (int)(sizeof options / sizeof *options));
    suite_add_tcase(suite, tests);
    return suite;
}
