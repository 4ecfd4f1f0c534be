/* Which passes this processor runs. */
#include "core/simd/simd.h"

#include "core/simd/simd_sets.h"

#ifdef __x86_64__
static int has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static int has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
}

const struct simd *simd_at(size_t index)
{
    const struct simd *all[] = {has_avx512() ? simd_avx512() : NULL, has_avx2() ? simd_avx2() : NULL, simd_plain()};
    for (size_t x = 0; x < sizeof all / sizeof *all; x++)
        if (all[x] && index-- == 0)
            return all[x];
    return NULL;
}
#else
const struct simd *simd_at(size_t index)
{
    return index == 0 ? simd_plain() : NULL;
}
#endif

const struct simd *simd_best(void)
{
    return simd_at(0);
}
