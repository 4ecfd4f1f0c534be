/* The tables of passes, one per instruction set; simd.c chooses. */
#ifndef CORE_SIMD_SIMD_SETS_H
#define CORE_SIMD_SIMD_SETS_H

#include "core/simd/simd.h"

const struct simd *simd_plain(void);
#ifdef __x86_64__
const struct simd *simd_avx2(void);
const struct simd *simd_avx512(void);
#endif

#endif
