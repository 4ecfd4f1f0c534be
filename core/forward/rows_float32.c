/* The pipeline in float. */
#define REAL float
#define TYPE DTYPE_FLOAT32
#define NAME(x) x##_float32
#define LARGEST FLT_MAX
#define EXP expf
#define LANES_MAX max_float32
#define LANES_SIZE size_float32
#define LANES_EXP exp_float32
#define TANH tanhf
#include "core/forward/tile.inc"

#include "core/forward/rows.inc"

#include "core/forward/fused.inc"

#include "core/backward/backward.inc"
