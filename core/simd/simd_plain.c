/* The passes for any processor: vectors of 16 bytes, which every 64-bit one has. */
#define BYTES 16
#define SET simd_plain
#define SET_NAME "128-bit"
#include "core/simd/simd_set.inc"
