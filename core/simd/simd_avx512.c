/* The passes for AVX-512; compiled with it switched on, run only where the processor has it. */
#ifdef __x86_64__
#include <immintrin.h>

#define BYTES 64
#define LARGER_FLOAT32 _mm512_max_ps
#define LARGER_FLOAT64 _mm512_max_pd
#define PRODUCT_ROWS 12
#define SET simd_avx512
#define SET_NAME "AVX-512"
#include "core/simd/simd_set.inc"
#else
typedef int simd_avx512_is_for_x86_64;
#endif
