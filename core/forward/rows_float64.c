/* The pipeline in double. */
#define REAL double
#define TYPE DTYPE_FLOAT64
#define NAME(x) x##_float64
#define LARGEST DBL_MAX
#define EXP exp
#define LANES_MAX max_float64
#define LANES_SIZE size_float64
#define LANES_EXP exp_float64
#define TANH tanh
#include "core/forward/tile.inc"

#include "core/forward/rows.inc"

#include "core/forward/fused.inc"

#include "core/backward/backward.inc"
