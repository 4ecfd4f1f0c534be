/* Lines of the form "NAME = left = right", with as many decimals as make them true. */
#ifndef API_EXPLAIN_EQUATION_LINE_H
#define API_EXPLAIN_EQUATION_LINE_H

#include "api/layout/equation.h"
#include "api/numbers/buffer.h"

#define EQUATION_LINE_NAME 14 /* columns of the name: "contribution" and two spaces */

/* What writes a line. */
struct line_pen {
    struct buffer *out;
    enum dtype dtype; /* of numbers that are written as they were given */
    int decimals;     /* of the others */
};

/* "  NAME   = " */
void equation_line_begin(const struct line_pen *pen, const char *name);

/* `before`, then the number: rounded, or as it was given. */
void equation_line_number(const struct line_pen *pen, const char *before, double value);
void equation_line_exact(const struct line_pen *pen, const char *before, double value);

/* The same pen with other decimals. */
struct line_pen equation_line_pen(const struct line_pen *pen, struct equation_places places);

/* NAME = {before}{a}{between}{b}{after} = result, where result = combine(a, b). */
struct equation_line {
    const char *name;
    const char *before, *between, *after;
    double (*combine)(double a, double b);
    struct equation_operand a, b;
    double result;
};

/* Writes it, without the end of the line. */
void equation_line_write(const struct line_pen *pen, const struct equation_line *line);

#endif
