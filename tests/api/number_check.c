/* Judging number_* by the C library. */
#include "tests/api/number_check.h"

#include "api/numbers/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

bool number_check_read(const char *text, size_t length)
{
    /* Behind the text stands what a careless reader would take for more of it. */
    char copy[NUMBER_CHECK_TEXT + 80];
    memcpy(copy, text, length);
    memset(copy + length, '7', 70);
    double value = 0.5;
    double again = 0.5;
    if (number_read(copy, copy + length, &value) != copy + length)
        return false;
    memcpy(copy + length, ",7777777777777777777777777777777777777777777777777777777777777777777777", 70);
    if (number_read(copy, copy + length + 70, &again) != copy + length)
        return false;
    copy[length] = '\0';
    double right = strtod(copy, NULL);
    return same(value, right) && same(again, right);
}

static bool is_float64(const char *text, double value)
{
    return strtod(text, NULL) == value;
}

/* To those who read it as a float, and to those who read JSON through doubles, as this service does. */
static bool is_float32(const char *text, double value)
{
    return strtof(text, NULL) == (float)value && (float)strtod(text, NULL) == (float)value;
}

/* "d.ddde+x" one unit in the last digit away from zero; false when that needs another digit in front. */
static bool raise_last_digit(char *text)
{
    char *at = strchr(text, 'e');
    while (at-- > text) {
        if (*at == '.' || *at == '-')
            continue;
        if (*at < '9') {
            ++*at;
            return true;
        }
        *at = '0';
    }
    return false;
}

/* The nearest decimal of the fewest digits, at least `digits`, that reads back. Where the interval is narrower towards
 * zero the nearest one may lie outside on that side while the next one away from zero lies inside. */
static void find_shortest(char *text, size_t size, double value, int digits, bool reads_back(const char *, double))
{
    for (; digits <= 17; digits++) {
        snprintf(text, size, "%.*e", digits - 1, value);
        if (reads_back(text, value))
            return;
        if (fabs(strtod(text, NULL)) <= fabs(value) && raise_last_digit(text) && reads_back(text, value))
            return;
    }
}

/* From "d.ddde+xx" to the form that number.h describes. */
static void put_in_form(char *out, const char *text, bool large)
{
    char digits[32] = "";
    int count = 0;
    if (*text == '-')
        *out++ = *text++;
    for (; *text != 'e'; text++)
        if (*text != '.')
            digits[count++] = *text;
    int exponent = atoi(text + 1);
    while (count > 1 && digits[count - 1] == '0')
        count--;
    digits[count] = '\0';
    if (exponent < -5 || exponent > 20 || (large && count + (count > 1) + 4 < exponent + 3))
        sprintf(out, "%c%s%se%+d", digits[0], count > 1 ? "." : "", digits + 1, exponent);
    else if (large)
        sprintf(out, "%s%.*s.0", digits, exponent + 1 - count, "00000000000000000000");
    else if (exponent < 0)
        sprintf(out, "0.%.*s%s", -exponent - 1, "0000", digits);
    else if (count <= exponent + 1)
        sprintf(out, "%s%.*s", digits, exponent + 1 - count, "00000000000000000000");
    else
        sprintf(out, "%.*s.%s", exponent + 1, digits, digits + exponent + 1);
}

/* The digits of a print as a whole number, and the exponent of the last. */
static uint64_t take_apart(const char *print, int *exponent)
{
    uint64_t digits = 0;
    bool behind = false;
    *exponent = 0;
    for (; *print && *print != 'e'; print++) {
        behind |= *print == '.';
        if (*print < '0' || *print > '9')
            continue;
        if (digits >= 100000000000000000) { /* only zeros are left */
            *exponent += !behind;
            continue;
        }
        digits = digits * 10 + (uint64_t)(*print - '0');
        *exponent -= behind;
    }
    *exponent += *print == 'e' ? atoi(print + 1) : 0;
    for (; digits > 0 && digits % 10 == 0; digits /= 10)
        ++*exponent;
    return digits;
}

static int count_digits(uint64_t n)
{
    int count = 1;
    for (; n >= 10; n /= 10)
        count++;
    return count;
}

/* A decimal of fewer digits is one of one digit less, with zeros: if none of those reads back, no shorter one does. */
static bool is_shortest(const char *print, double value, bool reads_back(const char *, double))
{
    char text[64] = "0e0";
    char right[64];
    int exponent;
    int digits = count_digits(take_apart(print, &exponent));
    find_shortest(text, sizeof text, value, digits > 1 ? digits - 1 : 1, reads_back);
    put_in_form(right, text, fabs(value) >= 0x1p53);
    return strcmp(print, right) == 0;
}

bool number_check_float64(double value)
{
    char text[NUMBER_TEXT_MAX];
    double back;
    char *end = number_print_float64(text, value);
    *end = '\0';
    if (number_read(text, end, &back) != end || !same(back, value))
        return false;
    return is_shortest(text, value, is_float64);
}

bool number_check_float32(float value)
{
    char text[NUMBER_TEXT_MAX];
    *number_print_float32(text, value) = '\0';
    return is_shortest(text, (double)value, is_float32);
}

/* digits * 10^exponent: one exact operation where both are whole doubles, number_read elsewhere. */
static double join(uint64_t digits, int exponent)
{
    static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                  1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (exponent >= -22 && exponent <= 22 && digits < UINT64_C(1) << 53)
        return exponent < 0 ? (double)digits / tens[-exponent] : (double)digits * tens[exponent];
    char text[32];
    char *start = text + sizeof text;
    double value = 0;
    for (unsigned left = (unsigned)abs(exponent); left > 0 || start == text + sizeof text; left /= 10)
        *--start = (char)('0' + left % 10);
    *--start = exponent < 0 ? '-' : '+';
    *--start = 'e';
    for (; digits > 0; digits /= 10)
        *--start = (char)('0' + digits % 10);
    number_read(start, text + sizeof text, &value);
    return value;
}

/* Where the double is no middle between two floats, reading it as a float gives the same. */
static bool reads_back_quickly(uint64_t digits, int exponent, float value)
{
    double x = join(digits, exponent);
    double next = (double)nextafterf(value, x < (double)value ? 0 : INFINITY);
    if (x != ((double)value + next) / 2)
        return (float)x == value;
    char text[64];
    snprintf(text, sizeof text, "%llue%d", (unsigned long long)digits, exponent);
    return is_float32(text, (double)value);
}

bool number_check_float32_quickly(float value)
{
    char text[NUMBER_TEXT_MAX];
    char *end = number_print_float32(text, value);
    double back;
    *end = '\0';
    if (number_read(text, end, &back) != end || !same((float)back, value))
        return false;
    float size = fabsf(value);
    int power;
    if (size == 0 || frexpf(size, &power) == 0.5F || size == 0x1.fffffep127F)
        return number_check_float32(value);
    int exponent;
    uint64_t digits = take_apart(text, &exponent);
    if (!reads_back_quickly(digits, exponent, size))
        return false;
    if (digits >= 10 && (reads_back_quickly(digits / 10, exponent + 1, size) ||
                         reads_back_quickly(digits / 10 + 1, exponent + 1, size)))
        return false;
    return join(digits * 10 - 5, exponent - 1) <= (double)size && (double)size <= join(digits * 10 + 5, exponent - 1);
}

bool number_check_rounded(double value, int decimals)
{
    char text[NUMBER_TEXT_MAX + 1];
    char right[NUMBER_TEXT_MAX + 1];
    *number_print_rounded(text, value, decimals) = '\0';
    if (fabs(value) >= 0x1p53) {
        *number_print_float64(right, value) = '\0';
        return strcmp(text, right) == 0;
    }
    int length = snprintf(right, sizeof right, "%.*f", decimals, value);
    while (decimals > 0 && right[length - 1] == '0')
        length--;
    if (right[length - 1] == '.')
        length--;
    right[length] = '\0';
    return strcmp(text, right) == 0;
}

uint64_t number_check_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

static double draw_bits(uint64_t *state)
{
    for (;;) {
        uint64_t bits = number_check_random(state);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value))
            return value;
    }
}

double number_check_draw_float64(uint64_t *state)
{
    uint64_t bits = number_check_random(state);
    double part = (double)(int64_t)bits * 0x1p-63;
    switch (bits & 7) {
    case 0:
        return part;
    case 1:
        return ldexp(part, (int)(bits >> 3 & 63) - 32);
    case 2:
        return rint(part * 1e4) / 100;
    case 3:
        return rint(ldexp(part, (int)(bits >> 3 & 63)));
    case 4:
        return (double)(float)part;
    case 5:
        return ldexp(1 + (double)(bits >> 3 & 3) * 0x1p-52, (int)(bits >> 8 & 2047) - 1074) * (bits >> 63 ? 1 : -1);
    default:
        return draw_bits(state);
    }
}

static size_t draw_digits(uint64_t *state, char *out, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = (char)('0' + number_check_random(state) % 10);
    return count;
}

/* digits "." digits "e" exponent, each part there or not, seldom long. */
static size_t draw_any(uint64_t *state, char *text)
{
    uint64_t bits = number_check_random(state);
    size_t at = 0;
    if (bits & 1)
        text[at++] = '-';
    size_t whole = bits >> 1 & 3 ? bits >> 3 & 3 : bits >> 3 & 31;
    if (whole > 0)
        text[at++] = (char)('1' + (bits >> 8) % 9);
    else
        text[at++] = '0';
    at += draw_digits(state, text + at, whole > 0 ? whole - 1 : 0);
    if (bits >> 16 & 3) {
        text[at++] = '.';
        at += draw_digits(state, text + at, 1 + (bits >> 18 & 63 ? (bits >> 24) % 20 : (bits >> 24) % 1200));
    }
    if ((bits >> 40 & 3) == 0)
        at += (size_t)sprintf(text + at, "%c%s%d", bits >> 42 & 1 ? 'e' : 'E', bits >> 43 & 1 ? "+" : "",
                              (int)(bits >> 44 & 1023) % 400);
    else if ((bits >> 40 & 3) == 1)
        at += (size_t)sprintf(text + at, "e-%d", (int)(bits >> 44 & 1023) % 400);
    return at;
}

/* The exact middle between two doubles, or a little off it at some digit: what rounding is about. */
static size_t draw_middle(uint64_t *state, char *text)
{
    uint64_t bits = number_check_random(state);
    double value = ldexp(1 + (double)(bits >> 12) * 0x1p-52, (int)(number_check_random(state) % 110) - 60);
    /* value + half of a unit in the last place, exactly: 64 bits of a long double hold it where it is wide enough */
    if (sizeof(long double) <= sizeof(double))
        return (size_t)sprintf(text, "%.17e", value);
    long double middle = (long double)value + ldexpl(1, ilogb(value) - 53);
    size_t at = (size_t)sprintf(text, "%.*Lf", 130, middle);
    if ((bits & 3) == 1)
        at += draw_digits(state, text + at, 1 + bits % 700);
    if ((bits & 3) == 2) { /* just below */
        char *last = text + at;
        while (*--last == '0')
            *last = '9';
        *last = (char)(*last - (*last != '.'));
    }
    if ((bits & 12) == 0 && (bits & 3) == 0)
        while (text[at - 1] == '0' && text[at - 2] != '.')
            at--;
    return at;
}

/* Few digits and a large exponent: where 128 bits of the power come closest to not being enough. */
static size_t draw_scientific(uint64_t *state, char *text)
{
    uint64_t bits = number_check_random(state);
    uint64_t digits = number_check_random(state) >> (bits & 63);
    return (size_t)sprintf(text, "%s%llue%d", bits >> 6 & 1 ? "-" : "", (unsigned long long)digits,
                           (int)(bits >> 8 & 0xffff) % 380 - (bits >> 7 & 1 ? 365 : 0));
}

size_t number_check_draw_text(uint64_t *state, char *text)
{
    uint64_t bits = number_check_random(state);
    switch (bits % 8) {
    case 0:
    case 1:
        return draw_any(state, text);
    case 2:
        return draw_middle(state, text);
    case 3:
        return draw_scientific(state, text);
    case 4:
        return (size_t)sprintf(text, "%.*e", (int)(bits >> 8 & 255) % 25, number_check_draw_float64(state));
    case 5:
        return (size_t)sprintf(text, "%.9f", number_check_draw_float64(state));
    default:
        return (size_t)sprintf(text, "%.*g", 6 + (int)(bits >> 8 & 15) % 12, number_check_draw_float64(state));
    }
}
