/* Bytes shared by all requests. */
#include "server/watch/budget.h"

bool budget_take(struct budget *budget, size_t bytes)
{
    size_t before = atomic_fetch_add_explicit(&budget->held, bytes, memory_order_relaxed);
    if (before <= budget->limit && bytes <= budget->limit - before)
        return true;
    budget_give(budget, bytes);
    return false;
}

void budget_give(struct budget *budget, size_t bytes)
{
    atomic_fetch_sub_explicit(&budget->held, bytes, memory_order_relaxed);
}

bool budget_has(struct budget *budget, size_t bytes)
{
    size_t held = atomic_load_explicit(&budget->held, memory_order_relaxed);
    return held <= budget->limit && bytes <= budget->limit - held;
}
