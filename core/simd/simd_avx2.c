/* The passes for AVX2 and FMA; compiled with these switched on, run only where the processor has them. */
#ifdef __x86_64__
#include <immintrin.h>

#define BYTES 32
#define LARGER_FLOAT32 _mm256_max_ps
#define LARGER_FLOAT64 _mm256_max_pd
#define PRODUCT_ROWS 6
#define SET simd_avx2
#define SET_NAME "AVX2"
#include "core/simd/simd_set.inc"
#else
typedef int simd_avx2_is_for_x86_64;
#endif
