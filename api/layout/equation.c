/* Trying one decimal more until the shown numbers agree. */
#include "api/layout/equation.h"

#include "api/numbers/decimal_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A left side exactly between two texts may read as either. */
#define HALF 0.5000001

static double shown(double value, int decimals)
{
    char text[DECIMAL_TEXT_SIZE];
    return isfinite(value) ? strtod(decimal_text_print(text, value, decimals), NULL) : value;
}

bool equation_is_true(double left, double right, int decimals)
{
    double rounded = shown(right, decimals);
    return left == rounded || fabs(left - rounded) <= HALF * pow(10, -decimals);
}

/* The digits as one integer, so that the sum is exact. False for what is written with an exponent. */
static bool read_digits(double value, int decimals, long long *digits)
{
    char text[DECIMAL_TEXT_SIZE];
    decimal_text_print(text, value, decimals);
    if (strspn(text, "-.0123456789") != strlen(text))
        return false;
    char *point = strchr(text, '.');
    if (point)
        memmove(point, point + 1, strlen(point));
    *digits = strtoll(text, NULL, 10);
    return true;
}

static bool adds_up(const double *terms, size_t count, double sum, int decimals)
{
    long long total = 0;
    long long digits = 0;
    for (size_t x = 0; x < count; x++) {
        if (!read_digits(terms[x], decimals, &digits))
            return false;
        total += digits;
    }
    return read_digits(sum, decimals, &digits) && total == digits;
}

struct equation_places equation_sum(const double *terms, size_t count, double sum, int least)
{
    for (int decimals = least; decimals <= EQUATION_PLACES_MAX; decimals++)
        if (adds_up(terms, count, sum, decimals))
            return (struct equation_places){decimals, false};
    return (struct equation_places){least, !adds_up(terms, count, sum, least)};
}

static double as_shown(struct equation_operand operand, int decimals)
{
    return operand.exact ? operand.value : shown(operand.value, decimals);
}

struct equation_places equation_of(double (*combine)(double a, double b), struct equation_operand a,
                                   struct equation_operand b, double result, int least)
{
    int decimals = least;
    while (!equation_is_true(combine(as_shown(a, decimals), as_shown(b, decimals)), result, decimals))
        if (++decimals > EQUATION_PLACES_MAX)
            return (struct equation_places){least, true};
    return (struct equation_places){decimals, false};
}

const char *equation_sign(struct equation_places places)
{
    return places.about ? " " EQUATION_ABOUT " " : " = ";
}
