/* The tables of passes, one per instruction set; lanes.c chooses. */
#ifndef CORE_SIMD_SETS_H
#define CORE_SIMD_SETS_H

#include "core/simd.h"

const struct simd *lanes_plain(void);
#ifdef __x86_64__
const struct simd *lanes_avx2(void);
const struct simd *lanes_avx512(void);
#endif

#endif
