/* Rounding to a format. */
#include "core/tensor/format.h"

#include <math.h>

static const struct {
    const char *name;
    int bits, least;
    double largest;
    bool saturates;
} formats[FORMAT_COUNT] = {
#define FORMAT_ROW(id, name, bits, least, largest, saturates) {name, bits, least, largest, saturates},
    FORMATS(FORMAT_ROW)
#undef FORMAT_ROW
};

const char *format_name(enum format format)
{
    return formats[format].name;
}

double format_largest(enum format format)
{
    return formats[format].largest;
}

double format_ulp(enum format format)
{
    return ldexp(1, 1 - formats[format].bits);
}

bool format_saturates(enum format format)
{
    return formats[format].saturates;
}

/* The exponent of the last place of x. */
static int last_place(enum format format, double x)
{
    int exponent = ilogb(x);
    return (exponent < formats[format].least ? formats[format].least : exponent) - (formats[format].bits - 1);
}

double format_round(enum format format, double x)
{
    const double largest = formats[format].largest;
    if (format == FORMAT_FLOAT64 || x == 0 || isnan(x))
        return x;
    if (isinf(x))
        return formats[format].saturates ? copysign(largest, x) : x;
    int place = last_place(format, x);
    double y = ldexp(nearbyint(ldexp(x, -place)), place);
    if (fabs(y) > largest)
        return copysign(formats[format].saturates ? largest : HUGE_VAL, x);
    return y;
}

unsigned char format_code(enum format format, double x)
{
    const unsigned sign = signbit(x) ? 128 : 0;
    const int kept = formats[format].bits - 1; /* bits of the significand that are written down */
    if (x == 0)
        return (unsigned char)sign;
    int place = last_place(format, x);
    unsigned significand = (unsigned)ldexp(fabs(x), -place);
    unsigned exponent = (unsigned)(place + kept - formats[format].least); /* 0 for the lowest normal ones too */
    return (unsigned char)(sign + (exponent << kept) + significand);
}

double format_value(enum format format, unsigned char code)
{
    const int kept = formats[format].bits - 1;
    unsigned exponent = (code & 127U) >> kept;
    unsigned significand = code & ((1U << kept) - 1);
    if (exponent > 0) {
        significand += 1U << kept;
        exponent--;
    }
    double size = ldexp(significand, (int)exponent - kept + formats[format].least);
    return code & 128 ? -size : size;
}
