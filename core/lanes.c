/* Which passes this processor runs. */
#include "core/lanes.h"

#include "core/lanes_sets.h"

#ifdef __x86_64__
static int has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static int has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
}

const struct lanes *lanes_at(size_t index)
{
    const struct lanes *all[] = {has_avx512() ? lanes_avx512() : NULL, has_avx2() ? lanes_avx2() : NULL, lanes_plain()};
    for (size_t x = 0; x < sizeof all / sizeof *all; x++)
        if (all[x] && index-- == 0)
            return all[x];
    return NULL;
}
#else
const struct lanes *lanes_at(size_t index)
{
    return index == 0 ? lanes_plain() : NULL;
}
#endif

const struct lanes *lanes_best(void)
{
    return lanes_at(0);
}
