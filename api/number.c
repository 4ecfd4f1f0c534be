/* Numbers as text by way of the C library: exact, slow. */
#include "api/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *skip_digits(const char *at, const char *end)
{
    const char *start = at;
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return at == start ? NULL : at;
}

static const char *skip_number(const char *at, const char *end)
{
    if (at < end && *at == '-')
        at++;
    const char *digits = at;
    at = skip_digits(at, end);
    if (!at || (*digits == '0' && at > digits + 1))
        return NULL;
    if (at < end && *at == '.' && !(at = skip_digits(at + 1, end)))
        return NULL;
    if (at == end || (*at != 'e' && *at != 'E'))
        return at;
    at++;
    if (at < end && (*at == '+' || *at == '-'))
        at++;
    return skip_digits(at, end);
}

const char *number_read(const char *at, const char *end, double *value)
{
    const char *after = skip_number(at, end);
    char *copy = after ? strndup(at, (size_t)(after - at)) : NULL;
    if (!copy)
        return NULL;
    *value = strtod(copy, NULL);
    free(copy);
    return after;
}

/* From "d.ddde+xx" to the form of the header. */
static char *print_scientific(char *out, const char *text)
{
    char digits[32];
    int count = 0;
    if (*text == '-')
        *out++ = *text++;
    for (; *text != 'e'; text++)
        if (*text != '.')
            digits[count++] = *text;
    int exponent = atoi(text + 1);
    while (count > 1 && digits[count - 1] == '0')
        count--;
    if (exponent < -5 || exponent > 20) {
        *out++ = digits[0];
        if (count > 1)
            *out++ = '.';
        memcpy(out, digits + 1, (size_t)count - 1);
        return out + count - 1 + sprintf(out + count - 1, "e%+d", exponent);
    }
    for (int i = exponent < 0 ? exponent : 0; i < count || i <= exponent; i++) {
        *out++ = i >= 0 && i < count ? digits[i] : '0';
        if (i == exponent && i < count - 1)
            *out++ = '.';
    }
    return out;
}

char *number_print_float64(char *out, double value)
{
    char text[40];
    for (int precision = 0; precision < 17; precision++) {
        snprintf(text, sizeof text, "%.*e", precision, value);
        if (strtod(text, NULL) == value)
            break;
    }
    return print_scientific(out, text);
}

char *number_print_float32(char *out, float value)
{
    char text[40];
    for (int precision = 0; precision < 9; precision++) {
        snprintf(text, sizeof text, "%.*e", precision, (double)value);
        if (strtof(text, NULL) == value)
            break;
    }
    return print_scientific(out, text);
}

char *number_print_rounded(char *out, double value, int decimals)
{
    char *end = out + snprintf(out, NUMBER_TEXT_MAX, "%.*f", decimals, value);
    if (decimals == 0)
        return end;
    while (end[-1] == '0')
        end--;
    return end[-1] == '.' ? end - 1 : end;
}
