/* The number formats of real kernels, emulated: a double rounded to what the format holds. */
#ifndef CORE_TENSOR_FORMAT_H
#define CORE_TENSOR_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

/* id, name, bits of the significand (the hidden one included), exponent of the smallest normal number, largest number,
 * whether what is larger becomes that number; otherwise it becomes infinity. float8_e4m3 is e4m3fn: bias 7, no
 * infinity; float8_e5m2 has bias 15. */
#define FORMATS(X) \
    X(FLOAT64, "float64", 53, -1022, 0x1.fffffffffffffp1023, false) \
    X(FLOAT32, "float32", 24, -126, 0x1.fffffep127, false) \
    X(TFLOAT32, "tfloat32", 11, -126, 0x1.ffcp127, false) \
    X(FLOAT16, "float16", 11, -14, 65504, false) \
    X(BFLOAT16, "bfloat16", 8, -126, 0x1.fep127, false) \
    X(FLOAT8_E4M3, "float8_e4m3", 4, -6, 448, true) \
    X(FLOAT8_E5M2, "float8_e5m2", 3, -14, 57344, true)

enum format {
#define FORMAT_ID(id, name, bits, least, largest, saturates) FORMAT_##id,
    FORMATS(FORMAT_ID)
#undef FORMAT_ID
        FORMAT_COUNT
};

const char *format_name(enum format format);
double format_largest(enum format format);
bool format_saturates(enum format format);

/* The distance from 1 to the next number: 2^-(bits - 1). */
double format_ulp(enum format format);

/* x in the format, ties to even. One elementary operation on numbers of a format, done in double and rounded so, is
 * that of the format wherever it has at most 25 bits (Figueroa 1995). NaN stays NaN, and the sign stays. */
double format_round(enum format format, double x);

/* The byte of a number that a float8 format holds, its sign in the top bit: a negative zero is 128. */
unsigned char format_code(enum format format, double x);

/* The number of such a byte; those that stand for none are not asked for. */
double format_value(enum format format, unsigned char code);

#endif
