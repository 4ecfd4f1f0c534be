/* The pipeline in double. */
#define REAL double
#define TYPE DTYPE_FLOAT64
#define NAME(x) x##_float64
#define EXP exp
#define TANH tanh
#include "core/rows.inc"
