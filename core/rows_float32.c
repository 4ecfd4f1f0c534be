/* The pipeline in float. */
#define REAL float
#define TYPE DTYPE_FLOAT32
#define NAME(x) x##_float32
#define EXP expf
#define TANH tanhf
#include "core/rows.inc"
