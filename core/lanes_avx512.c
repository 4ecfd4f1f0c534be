/* The passes for AVX-512; compiled with it switched on, run only where the processor has it. */
#ifdef __x86_64__
#define BYTES 64
#define SET lanes_avx512
#define SET_NAME "AVX-512"
#include "core/lanes_set.inc"
#else
typedef int lanes_avx512_is_for_x86_64;
#endif
