/* A name, two operands, a result. */
#include "api/explain/equation_line.h"

#include "api/numbers/decimal_text.h"

void equation_line_begin(const struct line_pen *pen, const char *name)
{
    buffer_format(pen->out, "  %-*s= ", EQUATION_LINE_NAME, name);
}

void equation_line_number(const struct line_pen *pen, const char *before, double value)
{
    char text[DECIMAL_TEXT_SIZE];
    buffer_format(pen->out, "%s%s", before, decimal_text_print(text, value, pen->decimals));
}

void equation_line_exact(const struct line_pen *pen, const char *before, double value)
{
    char text[DECIMAL_TEXT_SIZE];
    buffer_format(pen->out, "%s%s", before, decimal_text_exact(text, value, pen->dtype));
}

struct line_pen equation_line_pen(const struct line_pen *pen, struct equation_places places)
{
    return (struct line_pen){pen->out, pen->dtype, places.decimals};
}

static void write_operand(const struct line_pen *pen, const char *before, struct equation_operand operand)
{
    if (operand.exact)
        equation_line_exact(pen, before, operand.value);
    else
        equation_line_number(pen, before, operand.value);
}

void equation_line_write(const struct line_pen *pen, const struct equation_line *line)
{
    struct equation_places places = equation_of(line->combine, line->a, line->b, line->result, pen->decimals);
    struct line_pen own = equation_line_pen(pen, places);
    equation_line_begin(&own, line->name);
    write_operand(&own, line->before, line->a);
    write_operand(&own, line->between, line->b);
    buffer_string(pen->out, line->after);
    equation_line_number(&own, equation_sign(places), line->result);
}
