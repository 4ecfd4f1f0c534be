/* How many decimals make an equation true as it is shown. */
#ifndef API_LAYOUT_EQUATION_H
#define API_LAYOUT_EQUATION_H

#include "core/tensor/tensor.h"

#include <stdbool.h>
#include <stddef.h>

#define EQUATION_PLACES_MAX 6         /* tried to make one true */
#define EQUATION_ABOUT "\xe2\x89\x88" /* the sign for what rounding leaves untrue */

/* Decimals of an equation, and whether it says "about" instead of "=". */
struct equation_places {
    int decimals;
    bool about;
};

/* An operand: rounded like the result, or written as the request had it. */
struct equation_operand {
    double value;
    bool exact;
};

/* Whether `left`, made of numbers as shown, rounds to `right` at so many decimals. */
bool equation_is_true(double left, double right, int decimals);

/* The fewest decimals, `least` or more, at which the terms as shown add up to the sum as shown. */
struct equation_places equation_sum(const double *terms, size_t count, double sum, int least);

/* The same for result = combine(a, b). */
struct equation_places equation_of(double (*combine)(double a, double b), struct equation_operand a,
                                   struct equation_operand b, double result, int least);

/* " = " or the sign for about. */
const char *equation_sign(struct equation_places places);

#endif
