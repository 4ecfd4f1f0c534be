/* The control word of the floating-point unit. */
#include "core/forward/flush.h"

#if defined __x86_64__
#include <xmmintrin.h>

#define FLUSH UINT64_C(0x8040) /* flush to zero, denormals are zero */

uint64_t flush_control(void)
{
    return _mm_getcsr() & ~0x3fU; /* without the flags of what has happened */
}

static void set_control(uint64_t control)
{
    _mm_setcsr((unsigned)control);
}
#elif defined __aarch64__
#define FLUSH (UINT64_C(1) << 24)

uint64_t flush_control(void)
{
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return control;
}

static void set_control(uint64_t control)
{
    __asm__ volatile("msr fpcr, %0" : : "r"(control));
}
#else
#define FLUSH UINT64_C(0)

uint64_t flush_control(void)
{
    return 0;
}

static void set_control(uint64_t control)
{
    (void)control;
}
#endif

uint64_t flush_begin(void)
{
    uint64_t control = flush_control();
    set_control(control | FLUSH);
    return control;
}

uint64_t flush_pause(void)
{
    uint64_t control = flush_control();
    set_control(control & ~FLUSH);
    return control;
}

void flush_end(uint64_t control)
{
    set_control(control);
}
