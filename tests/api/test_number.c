/* Numbers: grammar, exact reading, shortest and rounded printing. The long version is tests/numbers (`make numbers`).
 */
#include "api/numbers/number.h"
#include "tests/api/number_check.h"

#include <check.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 1000000

START_TEST(reading_takes_exactly_the_grammar)
{
    static const struct {
        const char *text;
        int taken; /* -1: no number */
    } cases[] = {
        {"0", 1},         {"-0", 2},
        {"12", 2},        {"-12.5e+3", 8},
        {"1E5", 3},       {"1e-5,", 4},
        {"0.5]", 3},      {"0e0", 3},
        {"1 ", 1},        {"1x", 1},
        {"10e07", 5},     {"0.000", 5},
        {"1e5e", 3},      {"1.5.5", 3},
        {"", -1},         {"-", -1},
        {"+1", -1},       {"01", -1},
        {"-01", -1},      {"00", -1},
        {"1.", -1},       {".5", -1},
        {"1.e5", -1},     {"1e", -1},
        {"1e+", -1},      {"1e-", -1},
        {"--1", -1},      {"NaN", -1},
        {"Infinity", -1}, {"-Infinity", -1},
        {"0x10", 1},      {"1.-5", -1},
        {"1.x", -1},      {"a", -1},
        {"-a", -1},       {"1e+-5", -1},
        {"0123", -1},     {"\xef\xbc\x91", -1},
        {" 1", -1},       {"1_000", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t length = strlen(cases[i].text);
        char padded[200];
        memset(padded, ' ', sizeof padded);
        memcpy(padded, cases[i].text, length);
        char *exact = malloc(length + 1); /* sanitizers see a read past the end */
        memcpy(exact, cases[i].text, length);
        double value;
        const char *after = number_read(exact, exact + length, &value);
        ck_assert_msg((after ? after - exact : -1) == cases[i].taken, "'%s' alone", cases[i].text);
        after = number_read(padded, padded + sizeof padded, &value);
        ck_assert_msg((after ? after - padded : -1) == cases[i].taken, "'%s' among others", cases[i].text);
        free(exact);
    }
}
END_TEST

START_TEST(reading_known_hard_numbers_is_exact)
{
    static const char *cases[] = {
        "0",
        "-0",
        "-0.0e-5",
        "9007199254740993",
        "9007199254740993.0",
        "9007199254740993.00000000000000000000000000000000000001",
        "9007199254740992.99999999999999999999999999999999999999",
        "1e22",
        "1e23",
        "8.5e22",
        "7.2057594037927933e16",
        "1e308",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "17976931348623158079372897140530341507993413271003782693617377898044496829276475094664901797758720709633028641"
        "6692887910946"
        "55554785194040263065748867150582068190890200070838367627385484581771153176447573027006985557136695962284291481"
        "98608349364"
        "75292719074168444365510704342711559699508093042880",
        "1e309",
        "-1e400",
        "1e99999999999999999999999",
        "1e-99999999999999999999999",
        "0e99999999999999999999999",
        "4.9e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "2.47e-324",
        "1e-400",
        "2.2250738585072011e-308",
        "2.2250738585072012e-308",
        "2.2250738585072014e-308",
        "18446744073709551615",
        "18446744073709551616",
        "9999999999999999999",
        "10000000000000000000",
        "123456789012345678901234567890",
        "0.00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000001",
        "16777217.0000000001",
        "3.4028235677973366e38",
        "6.631236846766476e-316",
        "1.0000000000000002220446049250313080847263336181640625",
        "1.00000000000000011102230246251565404236316680908203125",
        "1.00000000000000011102230246251565404236316680908203124",
        "1.00000000000000011102230246251565404236316680908203126",
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        ck_assert_msg(number_check_read(cases[i], strlen(cases[i])), "%s", cases[i]);
}
END_TEST

/* "0." + a million zeros + "1e1000001" is 1: digits and exponent each pass what a double has. */
START_TEST(reading_long_numbers_keeps_their_place)
{
    size_t zeros = 1000000;
    char *text = malloc(zeros + 40);
    memset(text, '0', zeros + 40);
    text[1] = '.';
    size_t length = zeros + 2 + (size_t)sprintf(text + zeros + 2, "1e1000001");
    double value;
    ck_assert_ptr_eq(number_read(text, text + length, &value), text + length);
    ck_assert_double_eq(value, 1);
    text[0] = '1';
    memset(text + 1, '0', zeros);
    length = zeros + 1 + (size_t)sprintf(text + zeros + 1, "e-1000000");
    ck_assert_ptr_eq(number_read(text, text + length, &value), text + length);
    ck_assert_double_eq(value, 1);
    free(text);
}
END_TEST

START_TEST(reading_agrees_with_strtod)
{
    uint64_t state = 1;
    char text[NUMBER_CHECK_TEXT];
    for (size_t i = 0; i < COUNT; i++) {
        size_t length = number_check_draw_text(&state, text);
        if (!number_check_read(text, length))
            ck_abort_msg("%.*s", (int)length, text);
    }
}
END_TEST

/* A decimal at, a little above or a little below the middle of two neighbours among the floats; the last middle is that
 * of the largest float and 2^128. */
static size_t draw_float_middle(uint64_t *state, char *text)
{
    uint32_t bits = (uint32_t)(number_check_random(state) % 0x7f800000);
    float lower;
    memcpy(&lower, &bits, sizeof lower);
    double upper = bits == 0x7f7fffff ? 0x1p128 : (double)nextafterf(lower, INFINITY);
    const char *sign = number_check_random(state) % 2 ? "-" : "";
    double middle = ((double)lower + upper) / 2;
    size_t length = (size_t)sprintf(text, "%s%.*e", sign, 160, middle);
    char *exponent = strchr(text, 'e');
    char kept[8];
    strcpy(kept, exponent);
    switch (number_check_random(state) % 4) {
    case 0: /* exact */
        return length;
    case 1: /* above, further behind than any digit of a middle */
        sprintf(exponent, "%0*d%s", (int)(number_check_random(state) % 700) + 1, 1, kept);
        return strlen(text);
    case 2: /* above or below, in the digits that a double does not hold */
        text[strlen(sign) + 25] = (char)('0' + number_check_random(state) % 10);
        return length;
    default: /* rounded to the digits of a double */
        return (size_t)sprintf(text, "%s%.*e", sign, 15 + (int)(number_check_random(state) % 8), middle);
    }
}

static float read_float(const char *text, size_t length)
{
    double value = 0;
    ck_assert_ptr_eq(number_read(text, text + length, &value), text + length);
    return number_is_halfway(value) ? number_read_float32(text, text + length) : (float)value;
}

START_TEST(floats_are_rounded_once)
{
    uint64_t state = 7;
    char text[NUMBER_CHECK_TEXT];
    ck_assert(read_float("16777217.0000000001", 19) == 16777218);
    ck_assert(read_float("16777217", 8) == 16777216);
    ck_assert(read_float("-3.4028235677973366e38", 22) == -FLT_MAX);
    for (size_t i = 0; i < COUNT / 4; i++) {
        size_t length = i % 2 ? draw_float_middle(&state, text) : number_check_draw_text(&state, text);
        text[length] = '\0';
        float expected = strtof(text, NULL);
        double wide = strtod(text, NULL);
        if (!(fabs(wide) <= 0x1.ffffffp127)) /* beyond float, whatever its last digits */
            continue;
        float found = read_float(text, length);
        ck_assert_msg(memcmp(&found, &expected, sizeof found) == 0, "%s is read as %a, not %a", text, (double)found,
                      (double)expected);
    }
}
END_TEST

START_TEST(printing_has_the_promised_form)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0, "0"},
        {-0.0, "-0"},
        {1, "1"},
        {-2, "-2"},
        {0.1, "0.1"},
        {120, "120"},
        {0.00001, "0.00001"},
        {0.000001, "1e-6"},
        {1e-7, "1e-7"},
        {1.5e-7, "1.5e-7"},
        {123456789, "123456789"},
        {1234567890123, "1234567890123"},
        {1e20, "1e+20"},
        {-1e20, "-1e+20"},
        {123456789012345678.0, "123456789012345680.0"},
        {12345678901234567890.0, "12345678901234567000.0"},
        {1234567890123456e4, "1.234567890123456e+19"},
        {123456789012345e5, "1.23456789012345e+19"},
        {9007199254740991, "9007199254740991"},
        {9007199254740994, "9007199254740994.0"},
        {9e15, "9000000000000000"},
        {1e16, "1e+16"},
        {1e21, "1e+21"},
        {1.5e21, "1.5e+21"},
        {1e23, "1e+23"},
        {5e-324, "5e-324"},
        {DBL_MAX, "1.7976931348623157e+308"},
        {DBL_MIN, "2.2250738585072014e-308"},
        {9007199254740992, "9007199254740992.0"},
        {1.0 / 3, "0.3333333333333333"},
        {100.0 / 3, "33.333333333333336"},
        {9.5e-5, "0.000095"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[NUMBER_TEXT_MAX];
        *number_print_float64(text, cases[i].value) = '\0';
        ck_assert_str_eq(text, cases[i].text);
    }
}
END_TEST

START_TEST(printing_float32_has_its_own_shortest)
{
    static const struct {
        float value;
        const char *text;
    } cases[] = {
        {0.1F, "0.1"},
        {-0.0F, "-0"},
        {16777216, "16777216"},
        {FLT_MAX, "3.4028235e+38"},
        {FLT_MIN, "1.1754944e-38"},
        {1e-45F, "1e-45"},
        {0.3F, "0.3"},
        {1.0F / 3, "0.33333334"},
        {123456.7F, "123456.7"},
        {1e9F, "1000000000"},
        {1234567936, "1234568000"},
        {1e20F, "1e+20"},
        {-8.5e-5F, "-0.000085"},
        {0x1.5c87fap-84F, "7.0385307e-26"}, /* strtof reads 7.038531e-26 back, but as a double it is the next float */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[NUMBER_TEXT_MAX];
        *number_print_float32(text, cases[i].value) = '\0';
        ck_assert_str_eq(text, cases[i].text);
    }
}
END_TEST

START_TEST(printing_float64_is_shortest_and_reads_back)
{
    uint64_t state = 2;
    for (size_t i = 0; i < COUNT / 4; i++) {
        double value = number_check_draw_float64(&state);
        if (!number_check_float64(value))
            ck_abort_msg("%a", value);
    }
    for (int power = -1074; power <= 1023; power++)
        ck_assert_msg(number_check_float64(ldexp(1, power)), "2^%d", power);
}
END_TEST

START_TEST(printing_float64_reads_back)
{
    uint64_t state = 3;
    for (size_t i = 0; i < COUNT; i++) {
        double value = number_check_draw_float64(&state);
        char text[NUMBER_TEXT_MAX];
        char *end = number_print_float64(text, value);
        *end = '\0';
        double back = strtod(text, NULL);
        if (end - text > 32 || memcmp(&back, &value, sizeof back) != 0)
            ck_abort_msg("%a prints as %s", value, text);
    }
}
END_TEST

START_TEST(printing_float32_is_shortest_and_reads_back)
{
    uint64_t state = 4;
    for (size_t i = 0; i < COUNT; i++) {
        uint32_t bits = (uint32_t)number_check_random(&state);
        float value;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        if (!number_check_float32_quickly(value) || (i % 8 == 0 && !number_check_float32(value)))
            ck_abort_msg("%a", (double)value);
    }
    for (int power = -149; power <= 127; power++)
        ck_assert_msg(number_check_float32(ldexpf(1, power)), "2^%d", power);
}
END_TEST

START_TEST(rounding_is_half_even_on_the_true_value)
{
    static const struct {
        double value;
        int decimals;
        const char *text;
    } cases[] = {
        {0.5, 0, "0"},
        {1.5, 0, "2"},
        {2.5, 0, "2"},
        {-0.5, 0, "-0"},
        {0.125, 2, "0.12"},
        {0.375, 2, "0.38"},
        {2.675, 2, "2.67"},
        {0.1, 17, "0.10000000000000001"},
        {1e22, 3, "1e+22"},
        {9007199254740991, 2, "9007199254740991"},
        {-9007199254740992, 2, "-9007199254740992.0"},
        {0.9999, 3, "1"},
        {-0.0001, 3, "-0"},
        {123, 5, "123"},
        {0.0005, 3, "0.001"},
        {9.5, 0, "10"},
        {0, 4, "0"},
        {-0.0, 4, "-0"},
        {99.995, 2, "100"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[NUMBER_TEXT_MAX];
        *number_print_rounded(text, cases[i].value, cases[i].decimals) = '\0';
        ck_assert_str_eq(text, cases[i].text);
    }
    ck_assert(number_check_rounded(DBL_MAX, 17));
    ck_assert(number_check_rounded(-DBL_MAX, 0));
    ck_assert(number_check_rounded(5e-324, 17));
}
END_TEST

START_TEST(rounding_agrees_with_printf)
{
    uint64_t state = 5;
    for (size_t i = 0; i < COUNT; i++) {
        double value = number_check_draw_float64(&state);
        int decimals = (int)(number_check_random(&state) % 18);
        if (i % 2) /* exact ties: a whole number of halves of the last place, when the place is a power of two */
            value = ldexp(rint(fmod(value, 1e9) * 1024), -(decimals % 4) - 1);
        if (!number_check_rounded(value, decimals))
            ck_abort_msg("%a to %d decimals", value, decimals);
    }
}
END_TEST

Suite *number_suite(void);

Suite *number_suite(void)
{
    Suite *suite = suite_create("number");
    TCase *tests = tcase_create("number");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, reading_takes_exactly_the_grammar);
    tcase_add_test(tests, reading_known_hard_numbers_is_exact);
    tcase_add_test(tests, reading_long_numbers_keeps_their_place);
    tcase_add_test(tests, reading_agrees_with_strtod);
    tcase_add_test(tests, floats_are_rounded_once);
    tcase_add_test(tests, printing_has_the_promised_form);
    tcase_add_test(tests, printing_float32_has_its_own_shortest);
    tcase_add_test(tests, printing_float64_is_shortest_and_reads_back);
    tcase_add_test(tests, printing_float64_reads_back);
    tcase_add_test(tests, printing_float32_is_shortest_and_reads_back);
    tcase_add_test(tests, rounding_is_half_even_on_the_true_value);
    tcase_add_test(tests, rounding_agrees_with_printf);
    suite_add_tcase(suite, tests);
    return suite;
}
